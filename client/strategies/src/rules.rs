//! Rules of a client: which outcomes it retries, how it classifies them, and for how long it retries.

use std::time::Duration;

use vocabulary::choices;

use crate::advice::Then;
use crate::hint_rule::HintRule;
use crate::retry_on::Compiled;
use crate::{Advice, AdviceRule, Classification, Failure, Instant, Missing, Outcome, Status};

/// Rules that apply to a whole strategy or layer, in addition to its parts.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Maximum number of attempts of an op.
    pub max_attempts: u32,
    /// Rules by which the client applies the server's advice.
    pub advice: AdviceRule,
    pub(crate) max_retries: MaxRetries,
    pub(crate) max_time: Option<MaxTime>,
    /// Rule that selects the answers in which advice is read. `None` if advice is read in all answers.
    pub(crate) advice_on: Option<Compiled>,
    pub(crate) reads_outer: bool,
    /// Rules that classify outcomes, such as throttled or transient. If `None`, an outcome is classified by its
    /// [`Status`].
    pub(crate) classifications: Option<Classifications>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            max_attempts: u32::MAX,
            advice: AdviceRule::default(),
            max_retries: UNLIMITED_RETRIES,
            max_time: None,
            advice_on: None,
            reads_outer: false,
            classifications: None,
        }
    }
}

impl Rules {
    /// Creates rules whose only limit is the number of attempts per op.
    pub fn up_to(max_attempts: u32) -> Self {
        Self { max_attempts, ..Self::default() }
    }

    pub(crate) fn need_memory(&self) -> bool {
        self.max_retries != UNLIMITED_RETRIES || self.advice.then != Then::GoOn
    }

    #[inline]
    pub(crate) fn advice_of(&self, outcome: &Outcome) -> Advice {
        let advice = if self.reads_outer { outcome.outer_advice } else { outcome.advice };
        match &self.advice_on {
            Some(advice_on) if advice != Advice::None && !advice_on.fits(outcome, advice, false) => {
                Advice::None
            }
            _ => advice,
        }
    }

    /// Returns whether [`advice_of`](Self::advice_of) may differ from the advice of the outcome itself.
    pub(crate) fn filter_advice(&self) -> bool {
        self.reads_outer || self.advice_on.is_some()
    }

    #[inline]
    pub(crate) fn classify(&self, outcome: &Outcome) -> Classification {
        match (&self.classifications, outcome.status) {
            (Some(classifications), Status::Rejected | Status::Failed(_)) => {
                classifications.of(outcome, self.advice_of(outcome))
            }
            (_, status) => Classification::from_status(status),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Classifications {
    pub(crate) hints: HintRule,
    pub(crate) retry_on: Compiled,
    pub(crate) throttle_on: Compiled,
}

impl Classifications {
    fn of(&self, outcome: &Outcome, advice: Advice) -> Classification {
        let hinted = self.hints.decide(outcome.facts.hints);
        let throttled = self.throttle_on.fits(outcome, advice, false);
        match hinted.unwrap_or_else(|| self.retry_on.fits(outcome, advice, throttled)) {
            false => Classification::Final,
            true if throttled => Classification::Throttled,
            true => Classification::Transient,
        }
    }
}

/// Kinds of failures that urllib3 and Azure's Python library count separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    Connect,
    Read,
    Answer,
}

impl FailureKind {
    pub(crate) const fn from_outcome(outcome: &Outcome) -> Option<Self> {
        match (outcome.facts.missing, outcome.status) {
            (_, Status::Shed | Status::Deferred | Status::Cancelled | Status::Succeeded) => None,
            (Some(Missing::Refused), _) => Some(Self::Connect),
            (Some(_), _) | (None, Status::Failed(Failure::Transport | Failure::Timeout)) => Some(Self::Read),
            (None, _) => Some(Self::Answer),
        }
    }
}

/// Maximum number of retries of an op after each [`FailureKind`].
pub(crate) type MaxRetries = [u32; 3];

pub(crate) const UNLIMITED_RETRIES: MaxRetries = [u32::MAX; 3];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MaxTime {
    pub(crate) limit: Duration,
    pub(crate) when: WhenOver,
}

choices! {
    /// Reaction to a retry whose wait would end after the time limit of its op.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) enum WhenOver {
        /// The op is given up at once, because its retry would come after the op's time limit.
        #[default]
        GiveUp = "give-up",
        Shorten = "shorten",
        /// The wait is not changed, and the retry is sent. It is the last one of its op, because the time limit is checked
        /// after each failed attempt.
        Last = "last",
        /// If the server advised the wait, the op is given up at once, without waiting. Otherwise, the wait is not changed,
        /// and the retry is the last one of its op. An advised wait must end before the limit, because curl 8.16 counts
        /// the milliseconds of attempts, which virtual time may not have.
        LastUnlessAdvised = "last-unless-advised",
        /// Variant of `LastUnlessAdvised` that counts the time before an advised wait in whole seconds, as curl before
        /// 8.16 does. The advised wait may end at the limit.
        LastUnlessAdvisedSeconds = "last-unless-advised-seconds",
    }
}

impl MaxTime {
    /// Returns the wait before the next retry of an op, or `None` if the op is given up. `since` is the start of the
    /// op's time limit. `is_advised` states whether the server advised the wait `delay`.
    pub(crate) fn allow(
        self,
        since: Instant,
        now: Instant,
        delay: Duration,
        is_advised: bool,
    ) -> Option<Duration> {
        let left = self.limit.checked_sub(now.since(since)).filter(|left| !left.is_zero())?;
        match self.when {
            WhenOver::LastUnlessAdvised | WhenOver::LastUnlessAdvisedSeconds if !is_advised => Some(delay),
            WhenOver::GiveUp => (delay <= left).then_some(delay),
            WhenOver::LastUnlessAdvised => (delay < left).then_some(delay),
            WhenOver::LastUnlessAdvisedSeconds => {
                let whole = Duration::from_secs(now.since(since).as_secs());
                (whole + delay <= self.limit).then_some(delay)
            }
            WhenOver::Shorten => Some(delay.min(left)),
            WhenOver::Last => Some(delay),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Methods;
    use crate::retry_on::RetryOn;
    use crate::testing::{FATAL, OK, REJECTED, TIMEOUT};
    use crate::{Facts, Hints, Method};
    use vocabulary::Choice as _;

    fn classifications(hints: &str, retry_on: &str, throttle_on: &str) -> Rules {
        let mut rule = HintRule::default();
        vocabulary::TextField::read(&mut rule, hints).unwrap();
        let [retry_on, throttle_on] = [retry_on, throttle_on]
            .map(|rule| RetryOn::constant(rule).compile(Methods::only(Method::Get), &[]));
        let classifications = Classifications { hints: rule, retry_on, throttle_on };
        Rules { classifications: Some(classifications), ..Rules::default() }
    }

    fn answer(code: u16, hints: Hints) -> Outcome {
        Outcome { facts: Facts { hints, ..Facts::code(code) }, ..REJECTED }
    }

    #[test]
    fn a_hint_decides_before_any_rule() {
        let rules = classifications("x-should-retry", "429", "429");
        for (code, hints, expected) in [
            (429, Hints::NONE, Classification::Throttled),
            (503, Hints::NONE, Classification::Final),
            (503, Hints::SHOULD_RETRY, Classification::Transient),
            (429, Hints::SHOULD_NOT_RETRY, Classification::Final),
            (429, Hints::STRIPE_SHOULD_NOT_RETRY, Classification::Throttled),
        ] {
            assert_eq!(rules.classify(&answer(code, hints)), expected, "{code} {hints:?}");
        }
    }

    #[test]
    fn without_rules_things_are_as_they_are_counted() {
        let rules = Rules::default();
        for (outcome, expected) in [
            (OK, Classification::Done),
            (REJECTED, Classification::Throttled),
            (TIMEOUT, Classification::Transient),
            (FATAL, Classification::Final),
        ] {
            assert_eq!(rules.classify(&outcome), expected);
        }
        assert_eq!(classifications("none", "none", "none").classify(&OK), Classification::Done);
    }

    #[test]
    fn time_runs_out_in_one_of_five_ways() {
        let second = Duration::from_secs(1);
        let allow = |when, now: u64, delay: u32| {
            let max_time = MaxTime { limit: 10 * second, when };
            max_time.allow(Instant::ORIGIN, Instant::from_millis(1000 * now), delay * second, false)
        };
        assert_eq!(allow(WhenOver::GiveUp, 7, 3), Some(3 * second));
        assert_eq!(allow(WhenOver::GiveUp, 7, 4), None);
        assert_eq!(allow(WhenOver::Shorten, 7, 4), Some(3 * second));
        assert_eq!(allow(WhenOver::Last, 7, 4), Some(4 * second));
        assert_eq!(allow(WhenOver::LastUnlessAdvised, 7, 4), Some(4 * second));
        let allow_advised = |when, now, delay: u32| {
            let max_time = MaxTime { limit: 10 * second, when };
            max_time.allow(Instant::ORIGIN, Instant::from_millis(now), delay * second, true).is_some()
        };
        for (now, delay, is_allowed, in_seconds) in
            [(7000, 2, true, true), (7000, 3, false, true), (7999, 3, false, true), (7000, 4, false, false)]
        {
            assert_eq!(allow_advised(WhenOver::LastUnlessAdvised, now, delay), is_allowed, "{now} {delay}");
            let when = WhenOver::LastUnlessAdvisedSeconds;
            assert_eq!(allow_advised(when, now, delay), in_seconds, "{now} {delay}");
        }
        for (_, when) in WhenOver::CHOICES {
            assert_eq!(allow(*when, 10, 0), None, "{when:?}");
        }
    }
}
