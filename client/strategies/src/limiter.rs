//! The limiter: when may the next attempt start?

use std::time::Duration;

use crate::{Ended, Gauges, Instant, Launch, Outcome};

/// Decides when the next attempt may start: a window, a rate, a pacer.
///
/// The client asks [`poll`](Self::poll) for the op at the head of its queue, and again after every event and
/// every instant it was told to wait for. `poll` changes nothing: what is taken (a token, a place in the
/// window) is taken in [`on_sent`](Self::on_sent), which is called only when every part agreed.
///
/// An instant that it names lies after `now`, by a nanosecond at least: else a run would spin at one instant of virtual
/// time.
pub trait Limiter: Send {
    /// May the candidate start now? A window that asks for nothing but that it is not [full](Self::is_full) has that from here.
    fn poll(&self, _now: Instant, view: &View) -> Admit {
        if self.is_full(view.in_flight) { Admit::Wait(Until::Event) } else { Admit::Go }
    }

    /// Whether so many are in flight that [`poll`](Self::poll) has every candidate wait for an [event](Until::Event), whatever else there
    /// is to know of it: then that need not be asked.
    fn is_full(&self, _in_flight: u32) -> bool {
        false
    }

    /// An op became ready (it arrived, or its back-off is over).
    fn on_ready(&mut self, _now: Instant, _candidate: &Launch) {}

    /// The candidate of `view` was sent; `view.in_flight` does not count it yet.
    fn on_sent(&mut self, _now: Instant, _view: &View) {}

    /// An attempt ended; it is still counted in `ended.in_flight`.
    fn on_ended(&mut self, _now: Instant, _ended: &Ended, _outcome: &Outcome) {}

    /// Nothing waits although more could be sent: what is in flight no longer shows what the server can take.
    fn on_app_limited(&mut self, _now: Instant, _in_flight: u32) {}

    /// The one instant at which [`on_timer`](Self::on_timer) wants to be called; asked again after every event.
    fn timer(&self) -> Option<Instant> {
        None
    }

    /// The instant of [`timer`](Self::timer) has come.
    fn on_timer(&mut self, _now: Instant) {}

    /// Writes what dashboards show of this part.
    fn report(&self, _gauges: &mut Gauges) {}
}

/// What a limiter sees of its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Attempts in flight, the candidate not included.
    pub in_flight: u32,
    /// Ops that could be sent now, the candidate included.
    pub ready: u64,
    /// Ops that wait for their back-off to end.
    pub sleeping: u64,
    /// The op that would start.
    pub candidate: Launch,
}

/// What an attempt asks of the server's carrier: the server looks and starts it in one step, or does not start it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carrier {
    /// What must be free at the server: slots, places, descriptors.
    pub least_free: u32,
    /// When less is free the op fails without an attempt, after this much time.
    pub cost: Duration,
}

impl Carrier {
    /// Both must be satisfied.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { least_free: self.least_free.max(other.least_free), cost: self.cost.max(other.cost) }
    }
}

/// A limiter's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Admit {
    /// Start it.
    Go,
    /// Not now.
    Wait(Until),
    /// Start it if the server has enough free just then. When it has not, nobody counts an attempt: what
    /// [`on_sent`](Limiter::on_sent) took is given back by an [`on_ended`](Limiter::on_ended) with
    /// [`Status::Deferred`](crate::Status::Deferred).
    GoIf(Carrier),
}

/// What a waiting launch waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// This instant, or any event before it.
    At(Instant),
    /// An event of this client: an arrival, an answer, a timer.
    Event,
}

impl Until {
    /// Both must have come.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::At(one), Self::At(two)) => Self::At(one.max(two)),
            _ => Self::Event,
        }
    }
}
