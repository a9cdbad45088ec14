//! `Limiter` trait: decides when the next attempt may start.

use std::time::Duration;

use crate::{AttemptEnd, Candidate, Gauges, Instant, Outcome};

/// Part of a strategy that decides when the next attempt may start, such as a congestion window, a rate limit or a
/// pacer.
///
/// The client calls [`poll`](Self::poll) for the op at the head of its queue. The client polls again after every event,
/// and at every instant that `poll` returned. A call of `poll` does not change the limiter. Only
/// [`on_sent`](Self::on_sent) charges a token or a slot of the window. The client calls `on_sent` only after every part
/// of the strategy has admitted the attempt.
///
/// An instant returned by `poll` is at least one nanosecond after `now`. If it were equal to `now`, a run in virtual
/// time would poll forever at the same instant.
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
    /// Returns whether the candidate, which is the next attempt of the client, may start now. The default
    /// implementation admits it unless the window is [full](Self::is_full).
    fn poll(&self, _now: Instant, view: &LimiterView) -> Admit {
        if self.is_full(view.in_flight) { Admit::Wait(Until::Event) } else { Admit::Go }
    }

    /// Returns true if the window is full with `in_flight` attempts in flight. [`poll`](Self::poll) would then make
    /// every candidate wait for an [event](Until::Event), whatever the other values of the candidate's view. So the
    /// client skips the poll.
    fn is_full(&self, _in_flight: u32) -> bool {
        false
    }

    /// Returns the instant before which nothing may be sent, as [`Budget::held_until`](crate::Budget::held_until).
    fn held_until(&self) -> Option<Instant> {
        None
    }

    /// Holds all attempts until `at` at least, as [`Budget::hold_until`](crate::Budget::hold_until).
    fn hold_until(&mut self, _at: Instant) {}

    /// Records that an op became ready, because it arrived or its back-off ended.
    fn on_ready(&mut self, _now: Instant, _candidate: &Candidate) {}

    /// Records that the candidate in `view` was sent. The number `view.in_flight` does not include the candidate yet.
    fn on_sent(&mut self, _now: Instant, _view: &LimiterView) {}

    /// Records the end of an attempt. The number `ended.in_flight` still includes this attempt.
    fn on_ended(&mut self, _now: Instant, _ended: &AttemptEnd, _outcome: &Outcome) {}

    /// Records that no op is ready to be sent. If the limiter would admit more attempts, the client is
    /// application-limited: its own load, not the server, limits the number of attempts in flight. So the number in
    /// flight does not show how much the server can handle.
    fn on_app_limited(&mut self, _now: Instant, _in_flight: u32) {}

    /// Returns the instant at which the client must call [`on_timer`](Self::on_timer), or `None` if no timer is set.
    /// The client reads this instant again after every event.
    fn timer(&self) -> Option<Instant> {
        None
    }

    /// Handles the timer. The client calls this method at the instant that [`timer`](Self::timer) returned.
    fn on_timer(&mut self, _now: Instant) {}

    /// Writes the limiter's gauges, which are values that dashboards plot over time.
    fn report(&self, _gauges: &mut Gauges) {}
}

/// State of the client that a limiter needs to decide about the next attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimiterView {
    /// Number of attempts in flight, without the attempt that would start next.
    pub in_flight: u32,
    /// Number of ops that could be sent now, including the candidate.
    pub ready: u64,
    /// Number of ops that wait for the end of their back-off.
    pub sleeping: u64,
    /// Attempt that starts next if it is admitted.
    pub candidate: Candidate,
}

/// Requirement of an attempt with carrier sense. The attempt starts only if the server has enough free capacity. The
/// server checks its free capacity and starts or refuses the attempt in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarrierSense {
    /// Minimum free capacity that the server must have for the attempt to start. The unit depends on the server: slots,
    /// places in a queue, or file descriptors.
    pub min_free: u32,
    /// Time that a refused start takes. If the server has too little free capacity, the op fails after this time, and
    /// no attempt is made.
    pub cost: Duration,
}

impl CarrierSense {
    /// Combines two requirements into one that is met only if both are met.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { min_free: self.min_free.max(other.min_free), cost: self.cost.max(other.cost) }
    }
}

/// Decision of a limiter about the next attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Admit {
    /// Start the next attempt now.
    Go,
    /// Do not start the next attempt until a condition is met.
    Wait(Until),
    #[doc(hidden)]
    /// Start the attempt only if the server has enough free capacity at that moment. If it has not, no attempt is
    /// counted: [`on_ended`](Limiter::on_ended) follows with [`Status::Deferred`](crate::Status::Deferred). The limiter
    /// then refunds the charge of [`on_sent`](Limiter::on_sent).
    GoIfFree(CarrierSense),
}

/// Condition that ends the wait of an attempt that may not be sent yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The launch waits until this instant, or until any earlier event.
    At(Instant),
    /// The launch waits for an event of this client: an arrival, an answer, a timer.
    Event,
}

impl Until {
    /// Combines two conditions into one that is met only when both are met.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::At(one), Self::At(two)) => Self::At(one.max(two)),
            _ => Self::Event,
        }
    }
}
