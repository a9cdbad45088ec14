//! Retry policy: decides whether a failed op may be retried, and after which delay.

use std::time::Duration;

use vocabulary::Rng;

use crate::{Instant, Outcome};

/// Part of a strategy that decides about retries of failed ops.
///
/// # Example
///
/// A policy that retries an op twice, each time after one second:
///
/// ```
/// use std::time::Duration;
/// use tailback::{FailedOp, Instant, Outcome, Part, Retry, RetryPolicy, RetryState, Rng, Rules, Status, Strategy};
///
/// struct TwiceAfterASecond;
///
/// impl RetryPolicy for TwiceAfterASecond {
///     fn on_failure(&self, _: Instant, failed: &FailedOp, _: &mut RetryState, _: &mut dyn Rng) -> Retry {
///         if failed.failures <= 2 { Retry::After(Duration::from_secs(1)) } else { Retry::GiveUp }
///     }
/// }
///
/// let policy = Part::RetryPolicy(Box::new(TwiceAfterASecond));
/// let mut strategy = Strategy::new(42, [policy], Rules::default());
/// let (now, outcome) = (Instant::ORIGIN, Outcome::plain(Status::Rejected));
/// let mut retry = |failures| {
///     let failed = FailedOp { op: 0, arrived: now, failures, outcome };
///     strategy.on_failure(now, &failed, failures, &mut RetryState::default())
/// };
/// assert_eq!(retry(1), Retry::After(Duration::from_secs(1)));
/// assert_eq!(retry(3), Retry::GiveUp);
/// ```
pub trait RetryPolicy: Send {
    /// Decides whether and when an op is retried, after a try of the op ended in a rejection, a retriable failure or a
    /// shed. `state` belongs to the op, and is [`RetryState::default`] at the first failure. The random generator `rng`
    /// is keyed by the op and the number of its failures.
    fn on_failure(&self, now: Instant, failed: &FailedOp, state: &mut RetryState, rng: &mut dyn Rng)
    -> Retry;

    /// Observes a failed attempt of an op, after the decision whether the op is retried. The method is meant for
    /// policies that keep state across the ops of a client.
    fn after_failure(&mut self, _failed: &FailedOp) {}

    /// Returns whether the policy's delay already takes the server's advice into account. If it returns false, the
    /// strategy applies the advice to the delay.
    ///
    /// Policies return true if they have their own rule for `Retry-After`, such as clamping it to a range.
    fn uses_advice(&self) -> bool {
        false
    }

    /// Returns whether the policy's delays are exact to the nanosecond, even if they are zero. If it returns true, the
    /// strategy does not raise the delays to a minimum after transport errors.
    fn states_delay(&self) -> bool {
        false
    }

    /// Returns whether the policy ever delays an op. If it returns false and the strategy has a limiter, the strategy
    /// itself throttles launches when connections fail.
    fn backs_off(&self) -> bool {
        true
    }
}

/// Op whose try has just failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedOp {
    /// Number of the failed op within the run.
    pub op: u64,
    /// Arrival time of the failed op.
    pub arrived: Instant,
    /// Number of failed tries of the op so far, including the last try. Sheds count as failed tries. In the formulas of
    /// retry policies, the number of failed tries is `n`, from 1.
    pub failures: u32,
    /// Outcome of the op's last try.
    pub outcome: Outcome,
}

/// State that a retry policy keeps for one op between its tries: eight bytes whose meaning the policy defines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetryState(pub u64);

impl RetryState {
    /// Returns the state as a duration in nanoseconds. The default state is the duration zero.
    pub const fn as_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// Stores a duration as the state (at most 584 years).
    pub fn set_duration(&mut self, duration: Duration) {
        self.0 = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    }
}

/// Decision of a retry policy about a failed op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The op is ready again after this time. Zero means at once: the op is then queued after the ops that are already
    /// ready.
    After(Duration),
    /// The op is not retried and ends without success after a wait of this length.
    GiveUpAfter(Duration),
    /// The op is not retried and ends without success at once.
    GiveUp,
}
