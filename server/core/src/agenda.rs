//! Scheduled events of the server's requests.

use vocabulary::Instant;

use crate::RequestId;
use crate::timeline::{Event, Timeline};

/// All scheduled events of requests. At one instant, the ends of services and rejections come first, then arrivals at the server, then
/// arrivals of answers at clients. Events of one kind come in the order of scheduling.
///
/// Each request has at most one event. Events of cancelled requests stay until they are due, unless they outnumber the others.
#[derive(Debug)]
pub(crate) struct Agenda {
    /// Events by [`Lane`]. If service times, reject times and delays are constant, new events are always added at the end of a lane.
    lanes: [Timeline; 4],
    scheduled: u32,
    first: Event,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    Services,
    Rejections,
    /// Requests on the network from client to admission.
    Coming,
    /// Answers on the network from server to client.
    Going,
}

/// What happens at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A service or a rejection ends.
    End,
    Arrival,
    Answer,
}

/// Number of bits of an event's order that count events. The bits above them contain the class. The counter wraps around, which can only
/// affect the order of simultaneous events.
const COUNTER: u32 = 30;

/// Order of no event, for requests that have no event.
pub(crate) const NONE: u32 = u32::MAX;

impl Default for Agenda {
    fn default() -> Self {
        Self { lanes: Default::default(), scheduled: 0, first: Event::NEVER }
    }
}

impl Agenda {
    /// Schedules the event of a request, and returns its order, which identifies it. The request id is not enough, because ids are reused.
    #[inline]
    pub(crate) fn push(&mut self, lane: Lane, at: Instant, id: RequestId) -> u32 {
        let class = match lane {
            Lane::Services | Lane::Rejections => Class::End,
            Lane::Coming => Class::Arrival,
            Lane::Going => Class::Answer,
        };
        let order = (class as u32) << COUNTER | self.scheduled;
        self.scheduled = (self.scheduled + 1) % (1 << COUNTER);
        let event = Event::new(at, order, id.0);
        self.lanes[lane as usize].push(event);
        self.first = self.first.min(event);
        order
    }

    #[inline]
    pub(crate) fn first(&self) -> Event {
        self.first
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Event {
        let first = self.first;
        let [services, rejections, coming, going] = &mut self.lanes;
        let lane = match first.class() {
            Class::End if services.first() == first => services,
            Class::End => rejections,
            Class::Arrival => coming,
            Class::Answer => going,
        };
        lane.pop();
        self.look();
        first
    }

    #[inline]
    fn look(&mut self) {
        let [services, rejections, coming, going] = &self.lanes;
        self.first = services.first().min(rejections.first()).min(coming.first()).min(going.first());
    }

    /// Drops the events that are not `wanted`, but only if a lane has more than `most` events.
    pub(crate) fn retain(&mut self, most: usize, wanted: impl Fn(Event) -> bool) {
        for lane in self.lanes.iter_mut().filter(|lane| lane.len() > most) {
            lane.retain(&wanted);
        }
        self.look();
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.lanes.iter().map(Timeline::len).sum()
    }
}

impl Event {
    #[inline]
    pub(crate) fn class(self) -> Class {
        match self.order() >> COUNTER {
            0 => Class::End,
            1 => Class::Arrival,
            _ => Class::Answer,
        }
    }
}
