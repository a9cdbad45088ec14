//! A rate limit that grows in steps while it rejects requests.
//!
//! Source: Amazon S3. Each of its prefixes accepts 3500 writes and 5500 reads a second. S3 accepts more requests after sustained load, and
//! answers 503 until then (S3 User Guide, "Best practices design patterns: optimizing Amazon S3 performance"). The size of the steps and
//! the time between them are not documented.

use std::time::Duration;

use vocabulary::{DAY, Instant, parameters, whole_nanos};

use crate::LimitStatus;
use crate::policies::growth::{Grown, Growth};
use crate::policies::{
    Charge, Common, Decision, Keyed, LeastMissing, Limit, PolicyConfig, RateAlgorithm, StagePolicy, after,
    nanos, rescaled,
};

parameters! {
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct GrowingRate = "growing-rate" {
        start: u32 = 100, "initial limit of requests per period", 1..=1_000_000_000;
        by: u32 = 100, "number of requests by which each step raises the limit", 1..=1_000_000_000;
        most: u32 = 1000, "highest value to which the limit grows", 1..=1_000_000_000;
        per: Duration = Duration::from_secs(1),
            "period to which the limit applies", Duration::from_millis(1)..=DAY;
        every: Duration = Duration::from_secs(10),
            "time from a rejection to the next step", Duration::from_millis(1)..=DAY;
        idle: Duration = Duration::from_mins(10),
            "time without requests after which the limit returns to `start`";
    }
    summary = "limits the request rate; the limit grows in steps while requests are rejected (S3)";
    rule = "a token bucket holds as many tokens as the limit, and fills with as many in the time `per`. The \
        limit starts at `start`. A rejection schedules a step: after `every`, the limit grows by `by`, up to \
        `most`. Only one step is scheduled at a time. After the time `idle` without requests, everything is \
        as at the start. The advised wait takes the step into account that the rejection itself schedules";
    source = "Amazon S3 User Guide, performance design patterns (503 until a prefix has scaled)";

    fn check(&self) -> Result<(), String> {
        self.growth().check(self.every + self.per)
    }
}

impl PolicyConfig for GrowingRate {
    fn limit(&self) -> Option<Limit> {
        Some(Limit::within("most", "per"))
    }

    fn grows(&self) -> bool {
        true
    }

    fn gate(&self, common: &Common) -> Option<Box<dyn StagePolicy>> {
        Some(Keyed::stage(self.clone(), common))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    grown: Grown,
    /// Fill of the bucket, in tokens × the period of the rate in nanoseconds.
    filled: u128,
    at: Instant,
    least: LeastMissing,
}

impl GrowingRate {
    #[inline]
    fn growth(&self) -> Growth {
        let Self { start, by, most, every, idle, .. } = *self;
        Growth { start, by, most, every, idle }
    }

    fn scaled(&self, tokens: u32) -> u128 {
        u128::from(tokens) * self.per.as_nanos()
    }

    /// Returns the fill of the bucket after `nanos` nanoseconds in which the rate does not grow.
    fn filled_after(&self, bucket: &Bucket, nanos: u128) -> u128 {
        let limit = bucket.grown.limit;
        (bucket.filled + u128::from(limit) * nanos).min(self.scaled(limit))
    }

    fn missing(&self, bucket: &Bucket) -> u128 {
        self.scaled(bucket.grown.limit).saturating_sub(bucket.filled)
    }

    fn fill(&self, bucket: &mut Bucket, at: Instant) {
        bucket.filled = self.filled_after(bucket, at.since(bucket.at).as_nanos());
        bucket.at = at;
    }
}

impl RateAlgorithm for GrowingRate {
    type State = Bucket;

    fn fresh(&self) -> Bucket {
        Bucket {
            grown: self.growth().fresh(),
            filled: self.scaled(self.start),
            at: Instant::ORIGIN,
            least: LeastMissing::default(),
        }
    }

    fn advance(&self, bucket: &mut Bucket, at: Instant) {
        if self.growth().is_idle(&bucket.grown, at) {
            let grown = Grown { used: at, ..self.growth().fresh() };
            *bucket = Bucket { grown, at, ..self.fresh() };
        }
        // Until the rate grows, the bucket fills at the old rate.
        let mut grown = bucket.grown;
        if let Some(grew_at) = self.growth().grow(&mut grown, at) {
            self.fill(bucket, grew_at);
            // After the rate has grown, the bucket is larger, and so is its deficit.
            bucket.least.note(grew_at, self.missing(bucket));
            bucket.grown = grown;
        }
        self.fill(bucket, at);
    }

    fn ask(&self, bucket: &Bucket, at: Instant, cost: u32) -> Decision {
        let (limit, needed) = (bucket.grown.limit, self.scaled(cost));
        let Some(lacking) = needed.checked_sub(bucket.filled).filter(|lacking| *lacking > 0) else {
            return Decision::Pass;
        };
        let unchanged = (cost <= limit).then(|| lacking.div_ceil(limit.into()));
        let Some(grows_at) = self.growth().grows_at(&bucket.grown, at) else {
            return unchanged.map_or(Decision::Reject(None), after);
        };
        let until_step = grows_at.since(at).as_nanos();
        if let Some(wait) = unchanged.filter(|wait| *wait <= until_step) {
            return after(wait);
        }
        let next = self.growth().next_limit(&bucket.grown);
        if cost > next {
            // The cost of the request exceeds even the limit after the next growth step. The wait is unknown, because further steps depend
            // on later rejections.
            return Decision::Reject(None);
        }
        let lacking = needed.saturating_sub(self.filled_after(bucket, until_step));
        after(until_step + lacking.div_ceil(next.into()))
    }

    /// Switches a bucket to new parameters. The bucket keeps the limit to which it has grown so far, but at most the new maximum.
    fn reconfigure(&self, bucket: &mut Bucket, at: Instant, before: &Self) {
        before.advance(bucket, at);
        bucket.grown.limit = bucket.grown.limit.min(self.most);
        let [from, to] = [before.per, self.per].map(whole_nanos);
        let rescaled = |amount| rescaled(amount, from, to);
        bucket.least.rescale(rescaled);
        bucket.filled = rescaled(bucket.filled).min(self.scaled(bucket.grown.limit));
    }

    fn charge(&self, bucket: &mut Bucket, at: Instant, cost: u32) {
        bucket.grown.used = at;
        bucket.least.note(at, self.missing(bucket));
        bucket.filled = bucket.filled.saturating_sub(self.scaled(cost));
    }

    fn turn_away(&self, bucket: &mut Bucket, at: Instant) {
        self.growth().press(&mut bucket.grown, at);
    }

    fn refund(&self, bucket: &mut Bucket, at: Instant, taken: Charge) {
        self.advance(bucket, at);
        let missing = self.missing(bucket);
        bucket.filled += bucket.least.refund(taken.at, self.scaled(taken.cost), missing);
    }

    fn limit_status(&self, bucket: &Bucket, _at: Instant) -> LimitStatus {
        let limit = bucket.grown.limit;
        LimitStatus {
            limit: limit.into(),
            remaining: u64::try_from(bucket.filled / self.scaled(1)).unwrap_or(u64::MAX),
            reset: nanos((self.scaled(limit) - bucket.filled).div_ceil(limit.into())),
            window: Some(self.per),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use vocabulary::Configurable as _;

    use super::*;
    use crate::policies::tests::timelines::{A, R, assert_timeline};

    fn algorithm() -> GrowingRate {
        let (per, idle) = (Duration::from_secs(5), Duration::from_mins(1));
        GrowingRate { start: 1, by: 1, most: 3, per, idle, ..GrowingRate::default() }
    }

    #[test]
    fn a_step_comes_some_time_after_somebody_was_rejected() {
        let timeline = [
            (0, A),
            // The rate is 1 in 5 s, and 2 in 5 s from 11 s on.
            (1000, R(4000)),
            (5000, A),
            (10_000, A),
            (13_000, A),
            // One second brought 0.2 tokens, and two more brought 0.4 each.
            (13_000, R(2500)),
            (15_500, A),
            // The next step was scheduled by the rejection at 13 s.
            (23_000, A),
            (23_000, A),
            (23_000, R(1667)),
            // After a minute without requests the limit starts anew.
            (100_000, A),
            (100_000, R(5000)),
        ];
        assert_timeline(&algorithm(), &timeline);
    }

    /// The advised wait includes the next step.
    #[test]
    fn a_wait_is_advised_only_if_the_request_can_ever_fit() {
        let (algorithm, at) = (algorithm(), Instant::ORIGIN);
        let mut bucket = algorithm.fresh();
        // One token is there; the second one arrives 2.5 s after the step at 10 s.
        assert_eq!(algorithm.ask(&bucket, at, 2), Decision::Reject(Some(Duration::from_millis(12_500))));
        assert_eq!(algorithm.ask(&bucket, at, 3), Decision::Reject(None));
        algorithm.turn_away(&mut bucket, at);
        algorithm.advance(&mut bucket, Instant::from_millis(12_500));
        assert_eq!(algorithm.ask(&bucket, Instant::from_millis(12_500), 2), Decision::Pass);
    }

    #[test]
    fn times_that_contradict_one_another_are_refused() {
        let options = [("idle".to_owned(), "11s".to_owned())];
        assert!(GrowingRate::with_options(&options).is_err());
    }

    proptest! {
        /// Between two instants at most as much passes as a bucket holds and receives at the limit that can be reached by the later one.
        #[test]
        fn it_never_gives_more_than_it_could_have_grown_to(
            requests in prop::collection::vec((0..3_000_u64, 1..3_u32), 1..80),
        ) {
            let (algorithm, mut now, mut taken) = (algorithm(), 0, Vec::new());
            let mut bucket = algorithm.fresh();
            for (gap_ms, cost) in requests {
                now += gap_ms;
                let at = Instant::from_millis(now);
                algorithm.advance(&mut bucket, at);
                match algorithm.ask(&bucket, at, cost) {
                    Decision::Pass => {
                        algorithm.charge(&mut bucket, at, cost);
                        taken.push((now, u64::from(cost)));
                    }
                    _ => algorithm.turn_away(&mut bucket, at),
                }
            }
            for (index, (from, _)) in taken.iter().enumerate() {
                let mut sum = 0;
                for (to, cost) in &taken[index..] {
                    sum += cost;
                    let limit = (1 + to / 10_000).min(3);
                    prop_assert!(sum <= limit + limit * (to - from) / 5000, "{from} to {to} ms");
                }
            }
        }
    }
}
