//! What a strategy says of copies: attempts of an op while another is under way.

use std::time::Duration;

use vocabulary::{Purpose, draws};

use super::Strategy;
use crate::hedger::{AfterFailure, Copies};
use crate::{Advice, Advised, FailedOp, Instant, Launch, RetryState};

/// What becomes of a round one of whose attempts has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterCopy {
    /// It has failed, whatever else is under way.
    Over,
    /// No more copies are sent; what is under way goes on.
    NoMore,
    /// Nothing: the next copy keeps its instant.
    GoOn,
    /// The next copy is due after this much time.
    NextAfter(Duration),
}

impl Strategy {
    /// Whether it ever sends copies. If not, nothing else of this need be asked.
    pub fn hedges(&self) -> bool {
        self.inner.hedger.is_some()
    }

    /// An attempt that is no copy was sent: which copies may follow it.
    pub fn copies(&mut self, now: Instant, launch: &Launch) -> Option<Copies> {
        self.inner.hedger.as_mut()?.on_sent(now, launch)
    }

    /// Whether the op may have one more attempt by its limits of attempts and time; the driver asks before it asks
    /// [`admit`](Self::admit) about a copy.
    pub fn permits_copy(&self, now: Instant, arrived: Instant, attempts: u32, state: RetryState) -> bool {
        let remembered = self.memory.of(state).filter(|_| self.keeps_memory);
        let (before, since) =
            remembered.map_or((0, arrived), |op| (op.layers[0].attempts_before, op.layers[0].since));
        let rules = &self.inner.rules;
        let has_time = rules.max_time.is_none_or(|max| max.allow(since, now, Duration::ZERO).is_some());
        attempts < self.max_attempts && attempts.saturating_sub(before) < rules.max_attempts && has_time
    }

    /// One of an op's attempts under way failed, and has been told to [`on_ended`](Self::on_ended): what that means for the
    /// others of its round. Only when the round is over, the failure goes to [`on_failure`](Self::on_failure).
    pub fn after_failed_copy(&self, failed: &FailedOp) -> AfterCopy {
        let (rules, opinion) = (&self.inner.rules, failed.outcome.opinion);
        let Some(after_failure) = self.inner.hedger.as_ref().map(|hedger| hedger.after_failure()) else {
            return AfterCopy::Over;
        };
        if !opinion.is_retriable() || after_failure == AfterFailure::End {
            return AfterCopy::Over;
        }
        let draws = || draws(self.seed, Purpose::Backoff, failed.op, failed.failures);
        let advised = match rules.advice_of(&failed.outcome) {
            Advice::Never => Advised::GiveUp,
            Advice::None if !rules.advice.misses_advice() => Advised::BackOff,
            advice => rules.advice.apply(advice, opinion, Duration::ZERO, draws),
        };
        match (advised, after_failure) {
            (Advised::GiveUp, _) => AfterCopy::NoMore,
            (Advised::After { delay, .. }, _) => AfterCopy::NextAfter(delay),
            (Advised::BackOff, AfterFailure::Next) => AfterCopy::NextAfter(Duration::ZERO),
            (Advised::BackOff, _) => AfterCopy::GoOn,
        }
    }
}
