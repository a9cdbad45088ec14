//! Effect of parsed advice on the delay of a retry.
//!
//! A wait advised by the server is processed in four steps. First, `advice-limit` bounds it. Then `advice-stretch`,
//! `advice-shrink` and `advice-plus` vary it at random. `advice-clamp` limits by how much it may exceed the delay of
//! the backoff. Finally, `retry-after` defines how the advised wait and the delay of the backoff combine.

#[cfg(test)]
mod tests;

use std::time::Duration;

use vocabulary::{Rng, choices, unit};

use super::reaction::{Beyond, Reaction};
use super::{Advice, LONGEST};
use crate::Classification;
use crate::advice::reaction::Limit;

/// Rules that define how a client applies a server's advice.
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

choices! {
    /// Rule that combines an advised wait with the delay of the backoff.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum RetryAfter {
        /// A retry waits at least the time that the server advises.
        #[default]
        Floor = "floor",
        /// A retry waits exactly the time that the server advises, if the server gives advice.
        Exact = "exact",
        /// The delay of the backoff is added to the wait that the server advises.
        Add = "add",
        /// Waits that the server advises are ignored.
        Ignore = "ignore",
    }
}

choices! {
    /// Effect of followed advice on the later delays of the backoff.
    pub(crate) enum Then {
        GoOn = "go-on",
        /// The backoff starts again with its first delay, as in gRPC.
        Restart = "restart",
        /// The advised wait replaces no delay of the backoff, as in curl 8.17.
        Pause = "pause",
    }
}

/// Decision about a failed op, based on the server's advice and on the delay of the backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advised {
    /// The op is retried after the delay of the backoff.
    BackOff,
    /// The op is retried after the time `delay`.
    After {
        /// Wait before the retry of the op.
        delay: Duration,
    },
    /// The op is not retried and ends without success.
    GiveUp,
}

impl Default for AdviceRule {
    /// Returns the default rules: a retry waits at least the advised time, and advised times are cut to a day.
    /// Unparsable and negative values of advice are ignored.
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
    fn from(heeded: RetryAfter) -> Self {
        Self { heeded, ..Self::default() }
    }
}

impl AdviceRule {
    /// Decides whether and when an op is retried, from the advice in its answer, the classification of its outcome, and
    /// the delay of the backoff.
    ///
    /// `draws` creates the random generator of the backoff in its initial state. So the random part of the advised wait
    /// uses the same draw as the random part of the backoff's delay. The reason is that some clients (axios-retry)
    /// first take the longer of the two waits and then add jitter to it.
    pub fn apply<R: Rng>(
        &self,
        advice: Advice,
        classification: Classification,
        delay: Duration,
        draws: impl FnOnce() -> R,
    ) -> Advised {
        if advice == Advice::Never {
            return Advised::GiveUp;
        }
        if self.heeded == RetryAfter::Ignore {
            return Advised::BackOff;
        }
        let reaction = match advice {
            Advice::After(wait) if wait.is_zero() => self.zero,
            Advice::After(wait) => Reaction::As(wait),
            Advice::Past => self.past,
            Advice::Negative => self.negative,
            Advice::Unreadable => self.unreadable,
            Advice::None if classification == Classification::Throttled => self.missing,
            Advice::None | Advice::Never => return Advised::BackOff,
        };
        match self.limited(reaction) {
            Reaction::As(wait) => {
                let longest = self.clamp.0.map_or(LONGEST, |beyond| delay.saturating_add(beyond));
                let wait = self.spread(wait, draws).min(longest);
                let delay = match self.heeded {
                    RetryAfter::Floor => delay.max(wait),
                    RetryAfter::Add => delay.saturating_add(wait),
                    RetryAfter::Exact | RetryAfter::Ignore => wait,
                };
                Advised::After { delay }
            }
            Reaction::AtOnce => Advised::After { delay: Duration::ZERO },
            Reaction::GiveUp => Advised::GiveUp,
            Reaction::BackOff => Advised::BackOff,
        }
    }

    pub(crate) fn misses_advice(&self) -> bool {
        self.missing != Reaction::BackOff
    }

    /// Returns the longest advised wait that is followed; `None` if advice is ignored.
    pub(crate) fn follows_up_to(&self) -> Option<Duration> {
        (self.heeded != RetryAfter::Ignore).then(|| self.limit.0.unwrap_or(LONGEST))
    }

    fn limited(&self, reaction: Reaction) -> Reaction {
        match (reaction, self.limit.0, self.beyond) {
            (Reaction::As(wait), Some(limit), Beyond::Cut) => Reaction::As(wait.min(limit)),
            (Reaction::As(wait), Some(limit), Beyond::Instead(instead)) if wait > limit => instead,
            _ => reaction,
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
