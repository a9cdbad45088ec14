//! A token bucket that a request may overdraw if the wait for the missing tokens is short enough.
//!
//! Source: traefik/traefik `pkg/middlewares/ratelimiter/rate_limiter.go`, based on the reservations of golang.org/x/time/rate. These
//! reservations use floating-point sums; in this model, all sums are exact.

use std::time::Duration;

use vocabulary::parameters;

use crate::policies::gcra::Bucket;
use crate::policies::{Common, Keyed, Limit, PolicyConfig, Rate, StagePolicy};
use crate::{Pace, RateLaw};

parameters! {
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct Reserve = "reserve" {
        rate: text Rate = Rate::per_second(100), "rate at which tokens are added to the bucket";
        burst: u32 = 1, "maximum number of tokens in the bucket", 1..=1_000_000_000;
    }
    summary = "a request waits for its token if the wait is short, otherwise it is rejected (Traefik)";
    rule = "a token bucket starts full and fills at `rate`, up to `burst` tokens. A request must wait for \
        (cost − tokens) / rate. It is rejected if this is longer than half a second divided by the whole \
        number of requests per second (if `rate` is below 1/s: longer than half a second). Otherwise, its \
        cost is charged, and it proceeds after the wait. The advised wait, as in X-Retry-In, ends when a \
        request would proceed at once";
    source = "traefik/traefik rate_limiter.go (maxDelay); golang.org/x/time/rate (Reserve)";
}

impl PolicyConfig for Reserve {
    fn limit(&self) -> Option<Limit> {
        Some(Limit::new("rate"))
    }

    fn gate(&self, common: &Common) -> Option<Box<dyn StagePolicy>> {
        Some(Keyed::stage(self.bucket(), common))
    }

    fn rate_law(&self) -> Option<RateLaw> {
        // A rejection advises the wait after which the request would pass without delay. The request could be admitted earlier, because a
        // delay of up to `max_wait` is allowed.
        let pace = Pace::of_admissions(self.bucket(), Duration::from_nanos(self.max_wait()));
        Some(RateLaw::steady(pace, self.rate.count, self.rate.per_nanos))
    }
}

impl Reserve {
    /// Returns the token bucket as a GCRA (generic cell rate algorithm), whose state is the instant at which the bucket is full. For an
    /// overdrawn bucket, this instant is further ahead than the time that an empty bucket needs to fill.
    pub(crate) fn bucket(&self) -> Bucket {
        Bucket { rate: self.rate, burst: self.burst, max_wait: self.max_wait() }
    }

    /// Returns the longest delay for which a request is admitted, in nanoseconds: Traefik's `maxDelay`.
    fn max_wait(&self) -> u64 {
        let per_second = u128::from(self.rate.count) * 1_000_000_000 / u128::from(self.rate.per_nanos);
        let halves = u128::from(1_000_000_000_u64) / (2 * per_second.max(1));
        u64::try_from(halves).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use vocabulary::Instant;

    use super::*;
    use crate::policies::rate_algorithm::RateAlgorithm as _;
    use crate::policies::stage_policy::Decision;
    use crate::policies::tests::timelines::{A, After, R, assert_timeline};

    fn algorithm(burst: u32) -> Bucket {
        Reserve { rate: Rate::per_second(10), burst }.bucket()
    }

    #[test]
    fn a_short_wait_delays_and_a_long_one_is_advertised() {
        let timeline =
            [(0, A), (0, R(100)), (49, R(51)), (60, After(40)), (60, R(140)), (151, After(49)), (400, A)];
        assert_timeline(&algorithm(1), &timeline);
        assert_timeline(&algorithm(3), &[(0, A), (0, A), (0, A), (0, R(100))]);
    }

    #[test]
    fn the_longest_wait_is_traefik_s() {
        let wait = |rate| Reserve { rate, burst: 1 }.max_wait();
        assert_eq!(wait(Rate::per_second(10)), 50_000_000);
        assert_eq!(wait(Rate::per_second(3)), 166_666_666);
        // 1.5 per second is cut to 1, and 0.5 counts as 1, too.
        assert_eq!(wait(Rate::whole(3, 2_000_000_000)), 500_000_000);
        assert_eq!(wait(Rate::whole(1, 2_000_000_000)), 500_000_000);
        assert_eq!(wait(Rate::whole(1_000_000_000_000, 1_000_000)), 0);
    }

    #[test]
    fn what_never_fits_is_never_advised() {
        assert_eq!(algorithm(2).ask(&algorithm(2).fresh(), Instant::ORIGIN, 3), Decision::Reject(None));
    }
}
