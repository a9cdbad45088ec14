//! A token bucket: it fills at a rate, and every request removes its cost in tokens.
//!
//! Source: the buckets that AWS, Azure and Anthropic describe, which fill continuously; envoyproxy/envoy
//! `source/extensions/filters/common/local_ratelimit`, which adds tokens once per interval.

use vocabulary::{Instant, choices, parameters};

use crate::policies::{
    Charge, Common, Decision, Keyed, LeastMissing, Limit, PolicyConfig, Rate, RateAlgorithm, StagePolicy,
    after, nanos, rescaled,
};
use crate::{LimitStatus, Pace, RateLaw};

parameters! {
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct TokenBucket = "token-bucket" {
        rate: text Rate = Rate::per_second(100), "rate at which tokens are added to the bucket";
        burst: u32 = 100, "maximum number of tokens in the bucket", 1..=1_000_000_000;
        refill: choice Refill = Refill::Continuous,
            "whether tokens are added continuously, or all at once at the end of each period";
    }
    summary = "a bucket fills with tokens at a fixed rate; a request that finds too few is rejected";
    rule = "the bucket starts with `burst` tokens and fills at `rate`, up to `burst`. A request is accepted \
        if the bucket holds at least its cost, which is then taken out. The advised wait is (cost − tokens) \
        / rate. With refill=stepwise, tokens are added all at once at the end of each period of the rate";
    source = "documentation of AWS, Azure and Anthropic on their limits; envoyproxy/envoy local_ratelimit";
}

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Refill {
        Continuous = "continuous",
        /// Adds tokens once per period of the rate. The number of tokens added is the count of the rate. Both period and count are used as
        /// given by the user. The periods are counted from the server's start.
        Stepwise = "stepwise",
    }
}

impl PolicyConfig for TokenBucket {
    fn limit(&self) -> Option<Limit> {
        Some(Limit::new("rate"))
    }

    fn gate(&self, common: &Common) -> Option<Box<dyn StagePolicy>> {
        Some(Keyed::stage(self.clone(), common))
    }

    fn pace(&self) -> Option<Pace> {
        let burst = match self.refill {
            Refill::Continuous => self.burst,
            // A stepwise refill may happen just after the run begins. Therefore the bound also contains the tokens of one refill.
            Refill::Stepwise => {
                let step = self.step().div_ceil(self.scaled(1));
                self.burst.saturating_add(u32::try_from(step).unwrap_or(u32::MAX))
            }
        };
        Some(Pace::new(Self { burst, ..self.clone() }))
    }

    fn rate_law(&self) -> Option<RateLaw> {
        let pace = self.pace()?;
        Some(match self.refill {
            Refill::Continuous => RateLaw::steady(pace, self.rate.count, self.rate.per_nanos),
            Refill::Stepwise => RateLaw::of_windows(pace),
        })
    }
}

/// State of a token bucket: its fill. The unit is tokens × the period of the rate in nanoseconds, because in this unit each nanosecond adds
/// a whole number.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    filled: u128,
    at: Instant,
    least: LeastMissing,
}

impl TokenBucket {
    fn missing(&self, level: &Level) -> u128 {
        self.scaled(self.burst).saturating_sub(level.filled)
    }

    fn scaled(&self, tokens: u32) -> u128 {
        u128::from(tokens) * u128::from(self.rate.per_nanos)
    }

    /// Returns the number of nanoseconds from `at` until the amount `lacking` has arrived in the bucket.
    fn until(&self, lacking: u128, at: Instant) -> u128 {
        match self.refill {
            Refill::Continuous => lacking.div_ceil(u128::from(self.rate.count)),
            Refill::Stepwise if lacking == 0 => 0,
            Refill::Stepwise => {
                let (now, every) = (u128::from(at.as_nanos()), u128::from(self.rate.step_nanos));
                (now / every + lacking.div_ceil(self.step())) * every - now
            }
        }
    }

    fn comes(&self, from: Instant, to: Instant) -> u128 {
        let [from, to] = [from, to].map(|at| u128::from(at.as_nanos()));
        let every = u128::from(self.rate.step_nanos);
        match self.refill {
            Refill::Continuous => (to - from) * u128::from(self.rate.count),
            Refill::Stepwise => (to / every - from / every) * self.step(),
        }
    }

    /// Returns the amount that each stepwise refill adds to the bucket. The amount need not be a whole number of tokens.
    fn step(&self) -> u128 {
        u128::from(self.rate.count) * u128::from(self.rate.step_nanos)
    }
}

impl RateAlgorithm for TokenBucket {
    type State = Level;

    fn fresh(&self) -> Level {
        Level { filled: self.scaled(self.burst), at: Instant::ORIGIN, least: LeastMissing::default() }
    }

    fn advance(&self, level: &mut Level, at: Instant) {
        // Fast path: the decision, the charge and the status of the limit have the same instant.
        if level.at == at {
            return;
        }
        level.filled = (level.filled + self.comes(level.at, at)).min(self.scaled(self.burst));
        level.at = at;
    }

    fn ask(&self, level: &Level, at: Instant, cost: u32) -> Decision {
        let needed = self.scaled(cost);
        if needed > self.scaled(self.burst) {
            return Decision::Reject(None);
        }
        let Some(lacking) = needed.checked_sub(level.filled).filter(|lacking| *lacking > 0) else {
            return Decision::Pass;
        };
        after(self.until(lacking, at))
    }

    fn reconfigure(&self, level: &mut Level, at: Instant, before: &Self) {
        before.advance(level, at);
        // The deficit is the amount that is missing until the bucket is full. It is recorded before the configuration changes, because a
        // larger burst makes the deficit larger.
        level.least.note(at, before.missing(level));
        let rescaled = |amount| rescaled(amount, before.rate.per_nanos, self.rate.per_nanos);
        level.least.rescale(rescaled);
        let filled = rescaled(level.filled);
        level.filled = filled.min(self.scaled(self.burst));
    }

    fn charge(&self, level: &mut Level, at: Instant, cost: u32) {
        level.least.note(at, self.missing(level));
        level.filled = level.filled.saturating_sub(self.scaled(cost));
    }

    fn refund(&self, level: &mut Level, at: Instant, taken: Charge) {
        self.advance(level, at);
        let missing = self.missing(level);
        level.filled += level.least.refund(taken.at, self.scaled(taken.cost), missing);
    }

    fn limit_status(&self, level: &Level, at: Instant) -> LimitStatus {
        let full = self.scaled(self.burst);
        LimitStatus {
            limit: self.burst.into(),
            remaining: u64::try_from(level.filled / self.scaled(1)).unwrap_or(u64::MAX),
            reset: nanos(self.until(full - level.filled, at)),
            window: Some(nanos(full.div_ceil(u128::from(self.rate.count)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use vocabulary::Configurable as _;

    use super::*;
    use crate::policies::tests::timelines::{A, BUCKET_OF_TWO, R, assert_timeline};

    #[test]
    fn two_of_a_second_each() {
        let algorithm = TokenBucket { rate: Rate::per_second(1), burst: 2, refill: Refill::Continuous };
        assert_timeline(&algorithm, BUCKET_OF_TWO);
    }

    #[test]
    fn steps_come_when_their_time_is_over() {
        let rate = Rate::whole(3, 50_000_000);
        let algorithm = TokenBucket { rate, burst: 4, refill: Refill::Stepwise };
        assert_timeline(
            &algorithm,
            &[
                (10, A),
                (10, A),
                (10, A),
                (10, A),
                (10, R(40)),
                (49, R(1)),
                (50, A),
                (60, A),
                (70, A),
                (70, R(30)),
                (100, A),
            ],
        );
    }

    #[test]
    fn refill_steps_last_as_long_as_given_whatever_they_add() {
        let options = ["rate=1.5/s", "burst=3", "refill=stepwise"].map(|option| {
            let (key, value) = option.split_once('=').unwrap();
            (key.to_owned(), value.to_owned())
        });
        let algorithm = TokenBucket::with_options(&options).unwrap();
        let timeline = [
            (500, A),
            (500, A),
            (500, A),
            (500, R(500)),
            (1000, A),
            (1000, R(1000)),
            (2000, A),
            (2000, A),
            (2000, R(1000)),
        ];
        assert_timeline(&algorithm, &timeline);
    }

    #[test]
    fn what_never_fits_is_never_advised() {
        let algorithm = TokenBucket { burst: 5, ..TokenBucket::default() };
        let level = algorithm.fresh();
        assert_eq!(algorithm.ask(&level, Instant::ORIGIN, 6), Decision::Reject(None));
        assert_eq!(algorithm.ask(&level, Instant::ORIGIN, 5), Decision::Pass);
    }
}
