//! The retry policy: may a failed op try again, and not before when?

use std::time::Duration;

use vocabulary::Rng;

use crate::{Instant, Outcome};

/// Decides what becomes of an op whose try failed.
pub trait RetryPolicy: Send {
    /// The op's try ended in a rejection, a retriable failure or a shed. `state` belongs to the op and starts
    /// as [`RetryState::default`]; `rng` is keyed by the op and its failures.
    fn on_failure(&self, now: Instant, failed: &FailedOp, state: &mut RetryState, rng: &mut dyn Rng)
    -> Retry;

    /// An attempt failed, and what becomes of its op is decided, by this policy or before it was asked: for what is remembered
    /// across the ops of a client.
    fn after_failure(&mut self, _failed: &FailedOp) {}

    /// Whether the delay already takes the server's advice into account; else the composition sees to it.
    ///
    /// For policies with a rule of their own for `Retry-After`, such as clamping it to a range.
    fn heeds_advice(&self) -> bool {
        false
    }

    /// Whether its delays are meant to the last nanosecond, zero included: then nothing makes them longer after transport
    /// errors.
    fn states_delay(&self) -> bool {
        false
    }

    /// Whether it ever makes an op wait. A limiter beside a policy that does not, or without any, holds its ops back by itself
    /// when connections fail.
    fn backs_off(&self) -> bool {
        true
    }
}

/// An op whose try has just failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedOp {
    /// The op's number within the run.
    pub op: u64,
    /// When it arrived.
    pub arrived: Instant,
    /// Tries that failed so far, this one and sheds included: `n` of the formulas, from 1.
    pub failures: u32,
    /// How the last one ended.
    pub outcome: Outcome,
}

/// What a policy remembers of one op between its tries: eight bytes, whose meaning is the policy's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetryState(pub u64);

impl RetryState {
    /// The state as a duration, zero at first.
    pub const fn as_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// Remembers a duration (at most 584 years).
    pub fn set_duration(&mut self, duration: Duration) {
        self.0 = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    }
}

/// A policy's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Ready again after this much time; zero means at once, behind what is ready already.
    After(Duration),
    /// The op ends without success after this much time.
    GiveUpAfter(Duration),
    /// The op ends without success.
    GiveUp,
}
