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

/// Number of bits of an event's order that count events. The bits above them contain the class. The counter wraps around, which can only
/// affect the order of simultaneous events.
const COUNTER: u32 = 30;

/// Order of no event, for requests that have no event.
pub(crate) const NONE: u32 = 0;

impl Default for Agenda {
    fn default() -> Self {
        Self { lanes: Default::default(), scheduled: 0, first: Event::NEVER }
    }
}

impl Agenda {
    /// Schedules the event of a request, and returns its order, which identifies it. The request id is not enough, because ids are reused.
    #[inline]
    pub(crate) fn push(&mut self, lane: Lane, at: Instant, id: RequestId) -> u32 {
        // Services and rejections are of one class.
        let order = (lane as u32).max(1) << COUNTER | self.scheduled;
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
        let lane = match first.lane() {
            Lane::Rejections if self.lanes[0].first() == first => Lane::Services,
            lane => lane,
        };
        self.lanes[lane as usize].pop();
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
    /// Returns the lane of the event. For the end of a service, too, it is [`Lane::Rejections`].
    #[inline]
    pub(crate) fn lane(self) -> Lane {
        match self.order() >> COUNTER {
            1 => Lane::Rejections,
            2 => Lane::Coming,
            _ => Lane::Going,
        }
    }
}
