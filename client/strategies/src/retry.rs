//! Retry policy: whether a failed op may be retried, and after which delay.

use std::time::Duration;

use vocabulary::Rng;

use crate::{Instant, Outcome};

/// Decides about retries of failed ops.
pub trait RetryPolicy: Send {
    /// Returns the decision about an op whose try ended in a rejection, a retriable failure or a shed. `state` belongs
    /// to the op and starts as [`RetryState::default`]; `rng` is keyed by the op and its failures.
    fn on_failure(&self, now: Instant, failed: &FailedOp, state: &mut RetryState, rng: &mut dyn Rng)
    -> Retry;

    /// Observes a failed attempt after the decision about its op, by this policy or by an earlier rule. For policies
    /// with memory across the ops of a client.
    fn after_failure(&mut self, _failed: &FailedOp) {}

    /// Returns whether the delay already includes the server's advice. Otherwise the composition applies it.
    ///
    /// For policies with their own rule for `Retry-After`, such as clamping it to a range.
    fn heeds_advice(&self) -> bool {
        false
    }

    /// Returns whether delays are exact to the nanosecond, zero included. Then transport errors do not lengthen them.
    fn states_delay(&self) -> bool {
        false
    }

    /// Returns whether the policy ever delays an op. A limiter without such a policy throttles its ops by itself when connections fail.
    fn backs_off(&self) -> bool {
        true
    }
}

/// Op whose try has just failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedOp {
    /// Number of the op within the run.
    pub op: u64,
    /// Arrival time of the op.
    pub arrived: Instant,
    /// Number of failed tries so far, this one and sheds included: `n` of the formulas, from 1.
    pub failures: u32,
    /// Outcome of the last try.
    pub outcome: Outcome,
}

/// State of a policy for one op between its tries: eight bytes whose meaning the policy defines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetryState(pub u64);

impl RetryState {
    /// Returns the state as a duration, zero at first.
    pub const fn as_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// Stores a duration (at most 584 years).
    pub fn set_duration(&mut self, duration: Duration) {
        self.0 = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    }
}

/// Decision of a retry policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Ready again after this time. Zero means at once, behind the ops that are already ready.
    After(Duration),
    /// The op ends without success after this time.
    GiveUpAfter(Duration),
    /// The op ends without success now.
    GiveUp,
}
