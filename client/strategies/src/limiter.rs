//! Limiter trait: decides when the next attempt may start.

use std::time::Duration;

use crate::{Ended, Gauges, Instant, Launch, Outcome};

/// Decides when the next attempt may start: a window, a rate, a pacer.
///
/// The client calls [`poll`](Self::poll) for the op at the head of its queue. It polls again after every event and at
/// every instant that `poll` named. `poll` changes nothing. [`on_sent`](Self::on_sent) charges a token or a place in
/// the window, and is called only when every part agreed.
///
/// An instant named by `poll` lies at least a nanosecond after `now`. Otherwise a run would spin at one instant of
/// virtual time.
pub trait Limiter: Send {
    /// Returns whether the candidate of `view` may start now. By default it may unless the window is
    /// [full](Self::is_full).
    fn poll(&self, _now: Instant, view: &View) -> Admit {
        if self.is_full(view.in_flight) { Admit::Wait(Until::Event) } else { Admit::Go }
    }

    /// True if [`poll`](Self::poll) makes every candidate wait for an [event](Until::Event) at this number of
    /// attempts in flight, whatever the rest of the view. The client then skips the poll.
    fn is_full(&self, _in_flight: u32) -> bool {
        false
    }

    /// Records that an op became ready: it arrived, or its back-off ended.
    fn on_ready(&mut self, _now: Instant, _candidate: &Launch) {}

    /// Records that the candidate of `view` was sent. `view.in_flight` does not include it yet.
    fn on_sent(&mut self, _now: Instant, _view: &View) {}

    /// Records the end of an attempt. `ended.in_flight` still includes it.
    fn on_ended(&mut self, _now: Instant, _ended: &Ended, _outcome: &Outcome) {}

    /// Records that the client is application-limited: no op waits although more could be sent. The number of
    /// attempts in flight then no longer shows how much the server can take.
    fn on_app_limited(&mut self, _now: Instant, _in_flight: u32) {}

    /// Returns the instant of the next [`on_timer`](Self::on_timer) call, if one is wanted. Read again after every
    /// event.
    fn timer(&self) -> Option<Instant> {
        None
    }

    /// Called at the instant of [`timer`](Self::timer).
    fn on_timer(&mut self, _now: Instant) {}

    /// Writes the gauges of this part, for dashboards.
    fn report(&self, _gauges: &mut Gauges) {}
}

/// State of the client, as seen by a limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Attempts in flight, without the candidate.
    pub in_flight: u32,
    /// Ops that could be sent now, including the candidate.
    pub ready: u64,
    /// Ops in back-off.
    pub sleeping: u64,
    /// Attempt that would start.
    pub candidate: Launch,
}

/// Carrier sense of an attempt: the server checks its free capacity and starts the attempt in one step, or does not
/// start it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carrier {
    /// Minimum that must be free at the server: slots, places, descriptors.
    pub least_free: u32,
    /// Time after which the op fails without an attempt if less is free.
    pub cost: Duration,
}

impl Carrier {
    /// Returns the requirement that satisfies both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { least_free: self.least_free.max(other.least_free), cost: self.cost.max(other.cost) }
    }
}

/// Decision of a limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Admit {
    /// Start the attempt.
    Go,
    /// Do not start it yet.
    Wait(Until),
    /// Start it if the server has enough free at that moment. Otherwise no attempt is counted:
    /// [`on_ended`](Limiter::on_ended) follows with [`Status::Deferred`](crate::Status::Deferred) and refunds the
    /// charge of [`on_sent`](Limiter::on_sent).
    GoIf(Carrier),
}

/// End of the wait of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// This instant, or any earlier event.
    At(Instant),
    /// An event of this client: an arrival, an answer, a timer.
    Event,
}

impl Until {
    /// Returns the wait that ends when both have ended.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::At(one), Self::At(two)) => Self::At(one.max(two)),
            _ => Self::Event,
        }
    }
}
