//! `Limiter` trait: decides when the next attempt may start.

use std::time::Duration;

use crate::{AttemptEnd, Candidate, Gauges, Instant, Outcome};

/// Part of a strategy that decides when the next attempt may start, such as a congestion window, a rate limit or a
/// pacer.
///
/// The client calls [`poll`](Self::poll) for the op at the head of its queue. It polls again after every event, and at
/// every instant that `poll` returned. `poll` does not change the limiter. [`on_sent`](Self::on_sent) charges a token
/// or a slot of the window. It is called only after every part has agreed.
///
/// An instant returned by `poll` is at least one nanosecond after `now`. Otherwise a run in virtual time would poll
/// forever at the same instant.
///
/// # Example
///
/// A limiter that keeps at most ten attempts in flight:
///
/// ```
/// use tailback::{Limiter, Part, Rules, Strategy};
///
/// struct AtMostTen;
///
/// impl Limiter for AtMostTen {
///     fn is_full(&self, in_flight: u32) -> bool {
///         in_flight >= 10
///     }
/// }
///
/// let strategy = Strategy::new(42, [Part::Limiter(Box::new(AtMostTen))], Rules::default());
/// assert!(strategy.is_full(10) && !strategy.is_full(9));
/// ```
pub trait Limiter: Send {
    /// Returns whether the candidate of `view` may start now. The default implementation admits it unless the window is
    /// [full](Self::is_full).
    fn poll(&self, _now: Instant, view: &LimiterView) -> Admit {
        if self.is_full(view.in_flight) { Admit::Wait(Until::Event) } else { Admit::Go }
    }

    /// Returns true if the window is full: with `in_flight` attempts in flight, [`poll`](Self::poll) makes every
    /// candidate wait for an [event](Until::Event), whatever the rest of the view. The client then skips the poll.
    fn is_full(&self, _in_flight: u32) -> bool {
        false
    }

    /// Records that an op became ready, because it arrived or its back-off ended.
    fn on_ready(&mut self, _now: Instant, _candidate: &Candidate) {}

    /// Records that the candidate of `view` was sent. `view.in_flight` does not include this candidate yet.
    fn on_sent(&mut self, _now: Instant, _view: &LimiterView) {}

    /// Records the end of an attempt. `ended.in_flight` still includes this attempt.
    fn on_ended(&mut self, _now: Instant, _ended: &AttemptEnd, _outcome: &Outcome) {}

    /// Records that no op is ready. If the limiter would admit more attempts, the client is application-limited. In
    /// this case, the number of attempts in flight does not show how much the server can handle.
    fn on_app_limited(&mut self, _now: Instant, _in_flight: u32) {}

    /// Returns the instant at which the client must call [`on_timer`](Self::on_timer), or `None` if no timer is set.
    /// The client reads this instant again after every event.
    fn timer(&self) -> Option<Instant> {
        None
    }

    /// Handles the timer. The client calls this method at the instant that [`timer`](Self::timer) returned.
    fn on_timer(&mut self, _now: Instant) {}

    /// Writes the gauges of this part, for dashboards.
    fn report(&self, _gauges: &mut Gauges) {}
}

/// State of the client, as passed to a limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimiterView {
    /// Number of attempts in flight, without the candidate.
    pub in_flight: u32,
    /// Number of ops that could be sent now, including the candidate.
    pub ready: u64,
    /// Number of ops that wait for the end of their back-off.
    pub sleeping: u64,
    /// Attempt that would start next.
    pub candidate: Candidate,
}

/// Requirement of an attempt with carrier sense. In one step, the server checks its free capacity and either starts or
/// refuses the attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarrierSense {
    /// Minimum free capacity that the server must have: slots, places in a queue, file descriptors.
    pub min_free: u32,
    /// Time that a refused start takes: if the server has less free capacity, the op fails after this time, without an
    /// attempt.
    pub cost: Duration,
}

impl CarrierSense {
    /// Returns a requirement that is met only if both requirements are met.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { min_free: self.min_free.max(other.min_free), cost: self.cost.max(other.cost) }
    }
}

/// Decision of a limiter about the next attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Admit {
    /// Start the attempt.
    Go,
    /// Do not start the attempt yet.
    Wait(Until),
    /// Start the attempt if the server has enough free capacity at that moment. Otherwise no attempt is counted:
    /// [`on_ended`](Limiter::on_ended) follows with [`Status::Deferred`](crate::Status::Deferred) and refunds the
    /// charge of [`on_sent`](Limiter::on_sent).
    GoIfFree(CarrierSense),
}

/// Condition that ends the wait of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The launch waits until this instant, or until any earlier event.
    At(Instant),
    /// The launch waits for an event of this client: an arrival, an answer, a timer.
    Event,
}

impl Until {
    /// Returns a condition that is met when both conditions are met.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::At(one), Self::At(two)) => Self::At(one.max(two)),
            _ => Self::Event,
        }
    }
}
