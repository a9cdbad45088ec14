//! Hedging by a strategy: it may send copies of an attempt. A copy is a further attempt of an op, sent while another
//! attempt of the op is in flight.

use std::time::Duration;

use vocabulary::{Purpose, draws};

use super::Strategy;
use crate::hedger::{AfterFailure, Copies};
use crate::{Advised, Candidate, FailedOp, Instant, RetryState};

/// Consequence of a failed attempt for the other attempts of its hedging round. A hedging round is an attempt together
/// with its hedged copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterCopy {
    /// The hedging round has failed, even if other attempts of the round are in flight.
    Over,
    /// No further copies are sent. The attempts of the round that are in flight continue.
    NoMore,
    /// The failure has no effect: the next copy is sent at its planned instant.
    GoOn,
    /// The next copy is due after this time, and not at its planned instant.
    NextAfter(Duration),
}

impl Strategy {
    /// Returns whether the strategy ever sends hedged copies of attempts. If it returns false, the driver need not call
    /// the other methods for copies.
    pub fn hedges(&self) -> bool {
        self.inner.hedger.is_some()
    }

    /// Records that an original attempt (not a hedged copy) was sent. Returns the copies that may follow the attempt.
    pub fn copies(&mut self, now: Instant, launch: &Candidate) -> Option<Copies> {
        self.inner.hedger.as_mut()?.on_sent(now, launch)
    }

    /// Returns whether the limits on attempts and time allow one more attempt of the op. The driver must check these
    /// limits before it calls [`admit`](Self::admit) for a hedged copy of an attempt.
    pub fn permits_copy(&self, now: Instant, arrived: Instant, attempts: u32, state: RetryState) -> bool {
        let remembered = self.memory.of(state).filter(|_| self.keeps_memory);
        let (before, since) =
            remembered.map_or((0, arrived), |op| (op.layers[0].attempts_before, op.layers[0].since));
        let rules = &self.inner.rules;
        let has_time =
            rules.max_time.is_none_or(|max| max.allow(since, now, Duration::ZERO, false).is_some());
        attempts < self.max_attempts && attempts.saturating_sub(before) < rules.max_attempts && has_time
    }

    /// Returns the consequence of a failed attempt for the other attempts of its hedging round. The driver must first
    /// report the failure to [`on_ended`](Self::on_ended). It reports the failure to [`on_failure`](Self::on_failure)
    /// only if the round is over.
    pub fn after_failed_copy(&self, failed: &FailedOp) -> AfterCopy {
        let (rules, classification) = (&self.inner.rules, failed.outcome.classification);
        let Some(after_failure) = self.inner.hedger.as_ref().map(|hedger| hedger.after_failure()) else {
            return AfterCopy::Over;
        };
        if !classification.is_retriable() || after_failure == AfterFailure::End {
            return AfterCopy::Over;
        }
        let draws = || draws(self.seed, Purpose::Backoff, failed.op, failed.failures);
        let advice = rules.advice_of(&failed.outcome);
        let advised = rules.advice.apply(advice, classification, Duration::ZERO, draws);
        match (advised, after_failure) {
            (Advised::GiveUp, _) => AfterCopy::NoMore,
            (Advised::After { delay, .. }, _) => AfterCopy::NextAfter(delay),
            (Advised::BackOff, AfterFailure::Next) => AfterCopy::NextAfter(Duration::ZERO),
            (Advised::BackOff, _) => AfterCopy::GoOn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Advice;
    use crate::testing::{FATAL, REJECTED, advised, launch};
    use crate::{Outcome, StrategySpec};

    fn strategy(text: &str) -> Strategy {
        text.parse::<StrategySpec>()
            .expect("the test's text is a strategy")
            .build(1, None)
            .expect("it starts")
    }

    fn after(text: &str, outcome: Outcome) -> AfterCopy {
        let failed = FailedOp { op: 0, arrived: Instant::ORIGIN, failures: 1, outcome };
        strategy(text).after_failed_copy(&failed)
    }

    #[test]
    fn hedger_and_advice_decide_what_a_failure_does_to_copies() {
        let second = Duration::from_secs(1);
        let wait = advised(Advice::After(second));
        for (text, outcome, wanted) in [
            ("hedging", REJECTED, AfterCopy::NextAfter(Duration::ZERO)),
            ("hedging:after-failure=wait", REJECTED, AfterCopy::GoOn),
            ("hedging:after-failure=end", REJECTED, AfterCopy::Over),
            ("hedging", FATAL, AfterCopy::Over),
            ("hedging", wait, AfterCopy::NextAfter(second)),
            ("hedging:after-failure=wait", wait, AfterCopy::NextAfter(second)),
            ("hedging:retry-after=ignore", wait, AfterCopy::NextAfter(Duration::ZERO)),
            ("hedging:advice-zero=give-up", advised(Advice::After(Duration::ZERO)), AfterCopy::NoMore),
            ("hedging", advised(Advice::Never), AfterCopy::NoMore),
            ("full-jitter", REJECTED, AfterCopy::Over),
        ] {
            assert_eq!(after(text, outcome), wanted, "{text} {outcome:?}");
        }
    }

    #[test]
    fn only_a_hedger_sends_copies_and_limits_apply_to_them() {
        let copies =
            |text| strategy(text).copies(Instant::ORIGIN, &launch(0, None)).map(|copies| copies.count);
        assert_eq!([copies("none+hedging:copies=2"), copies("none")], [Some(2), None]);
        assert!(strategy("hedging").hedges() && !strategy("aimd").hedges());
        let permits = |text, attempts, ms| {
            let now = Instant::from_millis(ms);
            strategy(text).permits_copy(now, Instant::ORIGIN, attempts, RetryState::default())
        };
        assert!(permits("hedging:max-attempts=3", 2, 0) && !permits("hedging:max-attempts=3", 3, 0));
        assert!(permits("hedging:max-time=1s", 2, 999) && !permits("hedging:max-time=1s", 2, 1000));
    }
}
