//! The budget: is this launch let through at all, and may this failed op try again?

use vocabulary::Rng;

use crate::{Advice, Ended, FailedOp, Gauges, Instant, Launch, Outcome, Until};

/// Budgets that one layer of a strategy can stack.
pub(crate) const MAX_BUDGETS: usize = 4;

/// Lets launches through, holds them, or sheds them: retry budgets, quotas, breakers, probabilistic throttles.
///
/// Asked once per launch, after every limiter agreed. [`ask`](Self::ask) changes nothing; what is taken is
/// taken in [`on_sent`](Self::on_sent), whose [`Permit`] stays with the attempt and comes back at its end.
pub trait Budget: Send {
    /// May this launch go? `rng` is keyed by the op, the attempt, the budget's place in the stack and the number
    /// of launches shed so far: asking again gives the same answer, and an op that was shed draws anew.
    fn ask(&self, now: Instant, launch: &Launch, rng: &mut dyn Rng) -> Gate;

    /// May this op, whose attempt was rejected or failed just now, try again at all? Asked at the failure, after every
    /// part was told of it ([`on_ended`](Self::on_ended)) and before the retry policy sets a delay, of ops that could
    /// still be retried; not after a shed, which is no failure of an attempt. An op that one budget refuses is over at
    /// that instant with its last failure as its reason, and is not shed: nothing was about to be launched.
    ///
    /// For budgets that count what fails and decide there, as gRPC does; [`ask`](Self::ask) decides when the back-off is
    /// over, by what came to pass meanwhile.
    fn permits_retry(&self, _now: Instant, _failed: &FailedOp) -> bool {
        true
    }

    /// Whether an op that [`permits_retry`](Self::permits_retry) refuses waits as long as for a retry before it is over, as
    /// AWS's clients do with operations that poll for long.
    fn refuses_after_the_wait(&self) -> bool {
        false
    }

    /// A failed op will be tried again: every budget permits it, and its delay is drawn. For budgets that take at the failure
    /// what the retry costs; [`on_sent`](Self::on_sent) comes when the delay is over.
    fn on_retry(&mut self, _now: Instant, _failed: &FailedOp) {}

    /// An op of which [`on_retry`](Self::on_retry) was told is over before its retry was sent, or before an attempt that came
    /// to be [deferred](crate::Status::Deferred) was sent again. Each retry is sent or withdrawn, once.
    fn on_retry_withdrawn(&mut self, _now: Instant) {}

    /// The launch was sent.
    fn on_sent(&mut self, _now: Instant, _launch: &Launch) -> Permit {
        Permit::default()
    }

    /// The launch was shed by this budget.
    fn on_shed(&mut self, _now: Instant, _launch: &Launch) {}

    /// An attempt ended; `permit` is what [`on_sent`](Self::on_sent) gave it.
    fn on_ended(&mut self, _now: Instant, _ended: &Ended, _outcome: &Outcome, _permit: Permit) {}

    /// Writes what dashboards show of this part.
    fn report(&self, _gauges: &mut Gauges) {}
}

/// A budget's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Let it through.
    Permit,
    /// Hold it.
    Wait(Until),
    /// Refuse it: a local failure that goes to the retry policy with this advice.
    Shed(Advice),
}

/// What a budget wants to recognise at an attempt's end (a probe, a cost to refund); its meaning is the budget's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permit(pub u32);
