//! Generic cell rate algorithm: a token bucket that fills continuously, represented by the instant at which it is full again.
//!
//! Source: ITU-T I.371; benwis/tower-governor and the governor crate.

use vocabulary::{Instant, parameters};

use crate::policies::{
    Charge, Common, Decision, Keyed, LeastMissing, Limit, PolicyConfig, Rate, RateAlgorithm, StagePolicy,
    after, nanos, rescaled,
};
use crate::{LimitStatus, Pace, RateLaw};

parameters! {
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct Gcra = "gcra" {
        rate: text Rate = Rate::per_second(100), "rate at which requests are expected";
        burst: u32 = 100, "maximum number of requests admitted at once", 1..=1_000_000_000;
    }
    summary = "each request delays the next expected arrival; a request that comes too early is rejected";
    rule = "expected = max(expected, now). A request is accepted if expected − now ≤ (burst − cost) / rate, \
        and then expected grows by cost / rate. The decisions are the same as those of `token-bucket`";
    source = "ITU-T I.371 (GCRA); benwis/tower-governor";
}

impl PolicyConfig for Gcra {
    fn limit(&self) -> Option<Limit> {
        Some(Limit::new("rate"))
    }

    fn gate(&self, common: &Common) -> Option<Box<dyn StagePolicy>> {
        Some(Keyed::stage(self.bucket(), common))
    }

    fn pace(&self) -> Option<Pace> {
        Some(Pace::new(self.bucket()))
    }

    fn rate_law(&self) -> Option<RateLaw> {
        Some(RateLaw::steady(self.pace()?, self.rate.count, self.rate.per_nanos))
    }
}

/// State of the algorithm: its theoretical arrival time. This is the instant at which the bucket will be full. It is stored in nanoseconds
/// × the count of the rate, because in this unit every request moves it by a whole number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expected {
    arrival: u128,
    least: LeastMissing,
}

impl Gcra {
    pub(crate) fn bucket(&self) -> Bucket {
        Bucket { rate: self.rate, burst: self.burst, max_wait: 0 }
    }
}

/// Token bucket. It may be overdrawn by a request that waits for at most `max_wait` nanoseconds for its missing tokens.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    pub(crate) rate: Rate,
    pub(crate) burst: u32,
    pub(crate) max_wait: u64,
}

impl Bucket {
    fn scaled(&self, at: Instant) -> u128 {
        u128::from(at.as_nanos()) * u128::from(self.rate.count)
    }

    fn increment(&self, cost: u32) -> u128 {
        u128::from(cost) * u128::from(self.rate.per_nanos)
    }

    /// Returns the time from `at` until the bucket is full, in the unit of [`Expected`]. This time represents the bucket's deficit at `at`.
    /// The state must already be advanced to `at`.
    fn ahead(&self, expected: &Expected, at: Instant) -> u128 {
        expected.arrival - self.scaled(at)
    }
}

impl RateAlgorithm for Bucket {
    type State = Expected;

    fn fresh(&self) -> Expected {
        Expected::default()
    }

    fn advance(&self, expected: &mut Expected, at: Instant) {
        expected.arrival = expected.arrival.max(self.scaled(at));
    }

    fn ask(&self, expected: &Expected, at: Instant, cost: u32) -> Decision {
        let Some(spare) = self.burst.checked_sub(cost) else { return Decision::Reject(None) };
        match self.ahead(expected, at).checked_sub(self.increment(spare)) {
            None | Some(0) => Decision::Pass,
            Some(early) => match after(early.div_ceil(u128::from(self.rate.count))) {
                Decision::Reject(Some(wait)) if wait.as_nanos() <= u128::from(self.max_wait) => {
                    Decision::PassAfter(wait)
                }
                decision => decision,
            },
        }
    }

    fn reconfigure(&self, expected: &mut Expected, at: Instant, before: &Self) {
        before.advance(expected, at);
        let (ahead, full) = (before.ahead(expected, at), before.increment(before.burst));
        let room = self.increment(self.burst);
        let rescaled = |amount| rescaled(amount, before.rate.per_nanos, self.rate.per_nanos);
        // The deficit is the amount that is missing until the bucket is full. It is recorded before the configuration changes, because a
        // larger burst makes the deficit larger.
        expected.least.note(at, ahead);
        expected.least.rescale(rescaled);
        // Converts the fill of the bucket to the unit of the new rate. The first case is a bucket that contains tokens or is empty. The
        // second case is an overdrawn bucket.
        let ahead = match full.checked_sub(ahead) {
            Some(filled) => room - rescaled(filled).min(room),
            None => room + rescaled(ahead - full),
        };
        expected.arrival = self.scaled(at) + ahead;
    }

    fn charge(&self, expected: &mut Expected, at: Instant, cost: u32) {
        expected.least.note(at, self.ahead(expected, at));
        let late = u128::from(self.max_wait) * u128::from(self.rate.count);
        let latest = self.scaled(at) + self.increment(self.burst) + late;
        expected.arrival = (expected.arrival + self.increment(cost)).min(latest);
    }

    fn refund(&self, expected: &mut Expected, at: Instant, taken: Charge) {
        self.advance(expected, at);
        let ahead = self.ahead(expected, at);
        expected.arrival -= expected.least.refund(taken.at, self.increment(taken.cost), ahead);
    }

    fn limit_status(&self, expected: &Expected, at: Instant) -> LimitStatus {
        let full = self.increment(self.burst);
        let ahead = self.ahead(expected, at);
        let count = u128::from(self.rate.count);
        LimitStatus {
            limit: self.burst.into(),
            remaining: u64::try_from(full.saturating_sub(ahead) / self.increment(1)).unwrap_or(u64::MAX),
            reset: nanos(ahead.div_ceil(count)),
            window: Some(nanos(full.div_ceil(count))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::tests::timelines::{BUCKET_OF_TWO, assert_timeline};

    #[test]
    fn two_of_a_second_each() {
        let config = Gcra { rate: Rate::per_second(1), burst: 2 };
        assert_timeline(&config.bucket(), BUCKET_OF_TWO);
    }
}
