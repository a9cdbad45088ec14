//! `Budget` trait: decides whether a launch is admitted at all, and whether a failed op may retry.

use vocabulary::Rng;

use crate::{Advice, AttemptEnd, Candidate, FailedOp, Gauges, Instant, Outcome, Until};

/// Maximum number of budgets in one layer of a strategy.
pub(crate) const MAX_BUDGETS: usize = 4;

/// Part of a strategy that admits, delays or sheds launches: retry budgets, quotas, circuit breakers, probabilistic
/// throttles.
///
/// A launch is checked once, after every limiter has admitted it. [`ask`](Self::ask) does not change the budget.
/// [`on_sent`](Self::on_sent) charges the launch and returns a [`Permit`]. The client stores the permit with the
/// attempt and returns it when the attempt ends.
///
/// # Example
///
/// A budget that sheds every retry after the first hundred:
///
/// ```
/// use tailback::{Advice, Budget, BudgetDecision, Candidate, Instant, Part, Permit, Rng, Rules, Strategy};
///
/// #[derive(Default)]
/// struct HundredRetries {
///     sent: u32,
/// }
///
/// impl Budget for HundredRetries {
///     fn ask(&self, _: Instant, candidate: &Candidate, _: &mut dyn Rng) -> BudgetDecision {
///         if candidate.attempt > 1 && self.sent == 100 {
///             return BudgetDecision::Shed(Advice::None);
///         }
///         BudgetDecision::Permit
///     }
///
///     fn on_sent(&mut self, _: Instant, candidate: &Candidate) -> Permit {
///         self.sent += u32::from(candidate.attempt > 1);
///         Permit::default()
///     }
/// }
///
/// let strategy = Strategy::new(42, [Part::Budget(Box::new(HundredRetries::default()))], Rules::default());
/// assert!(strategy.reports());
/// ```
pub trait Budget: Send {
    /// Decides whether the launch of an attempt is admitted. The random generator `rng` is keyed by the op, the
    /// attempt, the budget's position in the stack and the number of launches shed so far. So a repeated call returns
    /// the same decision, but an op whose launch was shed gets a new draw.
    fn ask(&self, now: Instant, launch: &Candidate, rng: &mut dyn Rng) -> BudgetDecision;

    /// Returns the instant before which nothing may be sent, not even an attempt that this budget has admitted but that is not sent yet. The
    /// client then takes the attempt back (it ends as [deferred](crate::Status::Deferred)), and asks again for its op. The instant may be in
    /// the past. `None` if this budget never holds all attempts.
    fn held_until(&self) -> Option<Instant> {
        None
    }

    /// Holds all attempts until `at` at least, if this budget ever holds all attempts. It is meant for clients that keep state between
    /// processes.
    fn hold_until(&mut self, _at: Instant) {}

    /// Returns whether an op whose attempt was just rejected or failed may retry at all.
    ///
    /// The client calls this method when an attempt of an op has failed and the op could still be retried. The call
    /// comes after [`on_ended`](Self::on_ended) of every part, and before the retry policy sets a delay. After a shed
    /// the method is not called, because no attempt failed. If one budget refuses the retry, the op ends at once, and
    /// its last failure is the reason. The op does not count as shed, because no launch was due.
    ///
    /// The method is meant for budgets that count failures and decide at once, as gRPC does. In contrast,
    /// [`ask`](Self::ask) is called when the back-off is over, so a decision there can use events during the back-off.
    fn permits_retry(&self, _now: Instant, _failed: &FailedOp) -> bool {
        true
    }

    /// Returns true if an op whose retry this budget refused in [`permits_retry`](Self::permits_retry) still waits
    /// before it ends. The wait is the delay that the retry would have had. AWS's clients do so for long-polling
    /// operations.
    fn refuses_after_the_wait(&self) -> bool {
        false
    }

    /// Records that a failed op will be retried, because every budget has permitted the retry. The delay of the retry
    /// is already known. The method is meant for budgets that charge a retry at the time of the failure. When the delay
    /// is over, [`on_sent`](Self::on_sent) follows.
    fn on_retry(&mut self, _now: Instant, _failed: &FailedOp) {}

    /// Records that a retry reported to [`on_retry`](Self::on_retry) will not be sent, because its op has ended. The
    /// method is also called for a [deferred](crate::Status::Deferred) attempt whose op has ended. Each reported retry
    /// is either sent or withdrawn, exactly once.
    fn on_retry_withdrawn(&mut self, _now: Instant) {}

    /// Records that the launch was sent, and returns its permit.
    fn on_sent(&mut self, _now: Instant, _launch: &Candidate) -> Permit {
        Permit::default()
    }

    /// Records that this budget rejected the launch of an attempt (shed it).
    fn on_shed(&mut self, _now: Instant, _launch: &Candidate) {}

    /// Records the end of an attempt. `permit` is the value that [`on_sent`](Self::on_sent) returned for this attempt.
    fn on_ended(&mut self, _now: Instant, _ended: &AttemptEnd, _outcome: &Outcome, _permit: Permit) {}

    /// Writes the budget's gauges, which are values that dashboards plot over time.
    fn report(&self, _gauges: &mut Gauges) {}
}

/// Decision of a budget about the launch of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetDecision {
    /// Admit the launch of the attempt.
    Permit,
    /// Delay the launch of the attempt until a condition is met.
    Wait(Until),
    /// Shed the launch: it fails without being sent. The retry policy then decides whether to retry the op, and takes
    /// the advice in this variant into account.
    Shed(Advice),
}

/// Value that a budget attaches to an attempt when the attempt is sent. The budget receives the value back when the
/// attempt ends. Each budget defines the meaning of its permits: a permit can mark a probe, or contain a cost to
/// refund.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permit(pub u32);
