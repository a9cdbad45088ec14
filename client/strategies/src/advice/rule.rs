//! What a client does with the advice that it read.
//!
//! Advice counts as a time to wait, at most `advice-limit`, spread by `advice-stretch`, `advice-shrink` and `advice-plus`; `retry-after`
//! says what that is to the delay of the back-off, `advice-clamp` how far beyond it may go.

use std::time::Duration;

use vocabulary::{Choice, Rng, unit};

use super::limit::Limit;
use super::reaction::{Beyond, Reaction};
use super::{Advice, LONGEST};
use crate::Opinion;

/// What is done with a server's advice.
#[derive(Clone, Debug, PartialEq)]
pub struct AdviceRule {
    pub(crate) heeded: RetryAfter,
    pub(crate) limit: Limit,
    pub(crate) beyond: Beyond,
    pub(crate) zero: Reaction,
    pub(crate) past: Reaction,
    pub(crate) negative: Reaction,
    pub(crate) unreadable: Reaction,
    pub(crate) missing: Reaction,
    pub(crate) plus: Duration,
    pub(crate) stretch: f64,
    pub(crate) shrink: f64,
    pub(crate) clamp: Limit,
    pub(crate) then: Then,
}

/// What advice is to the delay of the back-off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetryAfter {
    /// A retry waits at least as long as the server said.
    #[default]
    Floor,
    /// A retry waits exactly as long as the server said, if it said anything.
    Exact,
    /// It is not read.
    Ignore,
}

impl Choice for RetryAfter {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("floor", Self::Floor), ("exact", Self::Exact), ("ignore", Self::Ignore)];
}

/// What becomes of the back-off's sequence after advice was heeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// The failure counts like any other.
    GoOn,
    /// The next delay is the first one again (gRPC).
    Restart,
}

impl Choice for Then {
    const CHOICES: &'static [(&'static str, Self)] = &[("go-on", Self::GoOn), ("restart", Self::Restart)];
}

/// What became of an op by the advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advised {
    /// Nothing: the delay of the back-off stands.
    BackOff,
    /// It is tried again after this much time; the back-off begins anew when `restarts`.
    After {
        /// How long it waits.
        delay: Duration,
        /// Whether the next delay of the back-off is its first one.
        restarts: bool,
    },
    /// It ends without success.
    GiveUp,
}

impl Default for AdviceRule {
    /// At least as long as the server said, at most a day; what is no time to wait is passed over.
    fn default() -> Self {
        Self {
            heeded: RetryAfter::default(),
            limit: Limit(Some(Duration::from_hours(24))),
            beyond: Beyond::Cut,
            zero: Reaction::As(Duration::ZERO),
            past: Reaction::As(Duration::ZERO),
            negative: Reaction::BackOff,
            unreadable: Reaction::BackOff,
            missing: Reaction::BackOff,
            plus: Duration::ZERO,
            stretch: 0.0,
            shrink: 0.0,
            clamp: Limit(None),
            then: Then::GoOn,
        }
    }
}

impl From<RetryAfter> for AdviceRule {
    /// The default but for this.
    fn from(heeded: RetryAfter) -> Self {
        Self { heeded, ..Self::default() }
    }
}

impl AdviceRule {
    /// What becomes of an op whose answer had this advice, was taken for this, and that the back-off would delay so much.
    ///
    /// `draws` is the generator of the back-off from its beginning: a spread of both moves them alike, as in clients that
    /// spread the longer of the two (axios-retry).
    pub fn apply<R: Rng>(
        &self,
        advice: Advice,
        opinion: Opinion,
        delay: Duration,
        draws: impl FnOnce() -> R,
    ) -> Advised {
        if advice == Advice::Never {
            return Advised::GiveUp;
        }
        if self.heeded == RetryAfter::Ignore {
            return Advised::BackOff;
        }
        let wait = match advice {
            Advice::After(wait) if wait.is_zero() => self.zero.wait(),
            Advice::After(wait) => Ok(wait),
            Advice::Past => self.past.wait(),
            Advice::Negative => self.negative.wait(),
            Advice::Unreadable => self.unreadable.wait(),
            Advice::None if opinion == Opinion::Throttled => self.missing.wait(),
            Advice::None | Advice::Never => return Advised::BackOff,
        };
        let wait = wait.and_then(|wait| self.limited(wait));
        match wait {
            Ok(wait) => {
                let longest = self.clamp.0.map_or(LONGEST, |beyond| delay.saturating_add(beyond));
                let wait = self.spread(wait, draws).min(longest);
                self.after(if self.heeded == RetryAfter::Floor { delay.max(wait) } else { wait })
            }
            Err(Reaction::AtOnce) => self.after(Duration::ZERO),
            Err(Reaction::GiveUp) => Advised::GiveUp,
            Err(Reaction::BackOff | Reaction::As(_)) => Advised::BackOff,
        }
    }

    /// Whether an answer without advice is anything to it.
    pub(crate) fn misses_advice(&self) -> bool {
        self.missing != Reaction::BackOff
    }

    /// Whether the back-off begins anew after advice that was heeded.
    pub(crate) fn restarts(&self) -> bool {
        self.then == Then::Restart
    }

    fn after(&self, delay: Duration) -> Advised {
        Advised::After { delay, restarts: self.restarts() }
    }

    /// The wait within the limit, or what comes instead.
    fn limited(&self, wait: Duration) -> Result<Duration, Reaction> {
        match (self.limit.0, self.beyond) {
            (Some(limit), Beyond::Cut) => Ok(wait.min(limit)),
            (Some(limit), Beyond::Instead(reaction)) if wait > limit => reaction.wait(),
            _ => Ok(wait),
        }
    }

    fn spread<R: Rng>(&self, wait: Duration, draws: impl FnOnce() -> R) -> Duration {
        let width = self.shrink + self.stretch;
        if width == 0.0 && self.plus.is_zero() {
            return wait;
        }
        let mut draws = draws();
        let mut seconds = wait.as_secs_f64();
        if width != 0.0 {
            seconds *= 1.0 - self.shrink + width * unit(&mut draws);
        }
        if !self.plus.is_zero() {
            seconds += self.plus.as_secs_f64() * unit(&mut draws);
        }
        Duration::try_from_secs_f64(seconds).map_or(LONGEST, |wait| wait.min(LONGEST))
    }
}

impl Reaction {
    /// The wait that it counts as, or itself.
    const fn wait(self) -> Result<Duration, Self> {
        match self {
            Self::As(wait) => Ok(wait),
            other => Err(other),
        }
    }
}

#[cfg(test)]
mod tests;
