//! A queue that empties at a constant rate. A few requests wait in it, and requests that find it full are rejected.
//!
//! Source: nginx/nginx `src/http/modules/ngx_http_limit_req_module.c` (`ngx_http_limit_req_lookup` and `ngx_http_limit_req_account`), with
//! nginx's integers: thousandths of a request, a clock of whole milliseconds, a rate of whole thousandths per second.

use std::time::Duration;

use vocabulary::{Instant, parameters};

use crate::policies::{
    Charge, Common, Decision, Keyed, LeastMissing, Limit, PolicyConfig, Rate, RateAlgorithm, StagePolicy,
};
use crate::{LimitStatus, Pace, RateLaw};

parameters! {
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct LeakyQueue = "leaky-queue" {
        rate: text Rate = Rate::per_second(100), "rate at which requests leave the queue";
        burst: u32 = 0, "maximum number of requests that may arrive ahead of the rate", 0..=1_000_000_000;
        /// Number of requests above the rate that pass without a delay. `u32::MAX` means nginx's `nodelay`.
        delay: u32 = 0, "number of requests ahead of the rate that do not wait; `unlimited` is the same as \
            nodelay in nginx", 0..=u32::MAX;
    }
    summary = "requests leave a short queue at a fixed rate; if it is full, they are rejected (nginx)";
    rule = "as in nginx, requests are counted in thousandths: `rate` in whole thousandths of a request per \
        second, and ms is the whole number of milliseconds since the previous request. For each request, \
        excess' = max(0, excess − rate × ms / 1000 + 1000); it is 0 for the first request. If excess' > 1000 \
        × burst, the request is rejected, and nothing changes. Otherwise, it proceeds after (excess' − 1000 \
        × delay) × 1000 / rate milliseconds. A request with cost n counts as n requests at once, of which \
        the last must fit. The advised wait ends when a request would be accepted";
    source = "nginx/nginx ngx_http_limit_req_module (limit_req)";

    fn check(&self) -> Result<(), String> {
        if self.milli_rate() > 0 {
            return Ok(());
        }
        Err("`rate` is below 0.001/s, the lowest rate: nginx counts in thousandths of a request per second"
            .to_owned())
    }
}

impl PolicyConfig for LeakyQueue {
    fn limit(&self) -> Option<Limit> {
        Some(Limit::new("rate"))
    }

    fn gate(&self, common: &Common) -> Option<Box<dyn StagePolicy>> {
        Some(Keyed::stage(self.clone(), common))
    }

    fn rate_law(&self) -> Option<RateLaw> {
        // The rate is in thousandths of a request per second, as in nginx.
        let thousandths = u64::try_from(self.milli_rate()).ok()?;
        Some(RateLaw::steady(
            Pace::of_admissions(self.clone(), Duration::ZERO),
            thousandths,
            1000 * ONE_SECOND_NANOS,
        ))
    }
}

/// One request, in the unit of the queue, which is thousandths of a request.
const ONE: i128 = 1000;

#[derive(Clone, Debug)]
pub(crate) struct Excess {
    /// Excess of requests over the rate at the time `last_ms`, in thousandths of a request. `last_ms` is the millisecond of the last
    /// request. An empty queue has an excess of minus one request.
    thousandths: i128,
    last_ms: u64,
    /// Part of the leaked amount that was cut off by rounding when the rate last changed, in millionths of a request. Usually 0.
    leaked: i128,
    least: LeastMissing,
}

impl LeakyQueue {
    /// Returns the rate in thousandths of a request per second, truncated as in nginx (`ctx->rate = rate * 1000 / scale`).
    fn milli_rate(&self) -> i128 {
        let per_second = i128::from(self.rate.count) * i128::from(ONE_SECOND_NANOS);
        per_second * ONE / i128::from(self.rate.per_nanos)
    }

    /// Returns the excess of the queue that is left at `at`. A request passes if this excess and the request's cost together do not exceed
    /// the burst.
    fn left(&self, excess: &Excess, at: Instant) -> i128 {
        let ms = i128::from(whole_millis(at).saturating_sub(excess.last_ms));
        (excess.thousandths - (self.milli_rate() * ms + excess.leaked) / 1000).max(-ONE)
    }

    /// Returns the first whole millisecond at which the excess of the queue is not larger than `left`.
    fn left_at(&self, excess: &Excess, left: i128) -> Instant {
        let leaks = (excess.thousandths - left).max(0);
        // `ms` is the smallest whole number that satisfies the inequality (rate × ms + leaked) / 1000 ≥ leaks.
        let ms = div_ceil((leaks * 1000 - excess.leaked).max(0), self.milli_rate());
        Instant::from_millis(excess.last_ms.saturating_add(u64::try_from(ms).unwrap_or(u64::MAX)))
    }

    fn most(&self) -> i128 {
        i128::from(self.burst) * ONE
    }
}

const ONE_SECOND_NANOS: u64 = 1_000_000_000;

fn whole_millis(at: Instant) -> u64 {
    at.as_nanos() / 1_000_000
}

/// Converts the excess of the queue to the difference between this excess and that of an empty queue. The difference corresponds to the
/// deficit of a token bucket.
fn missing(left: i128) -> u128 {
    u128::try_from(left + ONE).unwrap_or(0)
}

/// Divides and rounds up. Both numbers must be non-negative.
fn div_ceil(dividend: i128, divisor: i128) -> i128 {
    (dividend + divisor - 1) / divisor
}

fn millis(ms: i128) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(u64::MAX))
}

impl RateAlgorithm for LeakyQueue {
    type State = Excess;

    fn fresh(&self) -> Excess {
        Excess { thousandths: -ONE, last_ms: 0, leaked: 0, least: LeastMissing::default() }
    }

    /// Does nothing, because the amount that leaked since the last request must be computed in a single step. Each step truncates the
    /// amount to whole thousandths of a request, so several steps would add up their rounding errors.
    fn advance(&self, _excess: &mut Excess, _at: Instant) {}

    fn ask(&self, excess: &Excess, at: Instant, cost: u32) -> Decision {
        let cost = i128::from(cost) * ONE;
        // Maximum excess of the queue at which the request still fits.
        let room = self.most() - cost;
        if room < -ONE {
            return Decision::Reject(None);
        }
        let left = self.left(excess, at);
        if left > room {
            return Decision::Reject(Some(self.left_at(excess, room).since(at)));
        }
        let ahead = left + cost - i128::from(self.delay) * ONE;
        if self.delay == u32::MAX || ahead <= 0 {
            return Decision::Pass;
        }
        match millis(ahead * 1000 / self.milli_rate()) {
            Duration::ZERO => Decision::Pass,
            wait => Decision::PassAfter(wait),
        }
    }

    /// Applies a new configuration. Requests that wait in the queue are kept.
    fn reconfigure(&self, excess: &mut Excess, at: Instant, before: &Self) {
        let now = whole_millis(at);
        let leaked = before.milli_rate() * i128::from(now.saturating_sub(excess.last_ms)) + excess.leaked;
        let thousandths = (excess.thousandths - leaked / 1000).max(-ONE);
        (excess.thousandths, excess.last_ms, excess.leaked) = (thousandths, now, leaked % 1000);
    }

    fn charge(&self, excess: &mut Excess, at: Instant, cost: u32) {
        let left = self.left(excess, at);
        excess.least.note(at, missing(left));
        let taken = (left + i128::from(cost) * ONE).min(self.most());
        (excess.thousandths, excess.last_ms, excess.leaked) = (taken, whole_millis(at), 0);
    }

    /// Refunds a charge. The millisecond of the last request is unchanged, because a refund leaks nothing from the queue.
    fn refund(&self, excess: &mut Excess, at: Instant, taken: Charge) {
        let missing = missing(self.left(excess, at));
        let back = excess.least.refund(taken.at, u128::from(taken.cost) * ONE.unsigned_abs(), missing);
        excess.thousandths -= i128::try_from(back).unwrap_or(0);
    }

    fn limit_status(&self, excess: &Excess, at: Instant) -> LimitStatus {
        let fits = (self.most() - self.left(excess, at)) / ONE;
        LimitStatus {
            limit: u64::from(self.burst) + 1,
            remaining: u64::try_from(fits).unwrap_or(0),
            reset: self.left_at(excess, -ONE).since(at),
            window: Some(millis(div_ceil((self.most() + ONE) * 1000, self.milli_rate()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use vocabulary::Configurable as _;

    use super::*;
    use crate::policies::tests::timelines::{A, After, R, assert_timeline};

    fn algorithm(burst: u32, delay: u32) -> LeakyQueue {
        LeakyQueue { rate: Rate::per_second(10), burst, delay }
    }

    #[test]
    fn without_a_burst_requests_come_one_after_another() {
        assert_timeline(&algorithm(0, 0), &[(0, A), (50, R(50)), (100, A), (199, R(1)), (200, A)]);
    }

    #[test]
    fn a_burst_waits_its_turn() {
        let timeline = [(0, A), (0, After(100)), (0, After(200)), (0, R(100)), (100, After(200))];
        assert_timeline(&algorithm(2, 0), &timeline);
    }

    #[test]
    fn a_burst_that_does_not_wait_is_counted_all_the_same() {
        assert_timeline(
            &algorithm(2, u32::MAX),
            &[(0, A), (0, A), (0, A), (0, R(100)), (100, A), (100, R(100))],
        );
        let timeline = [(0, A), (0, A), (0, After(100)), (0, R(100)), (350, A), (350, A), (350, After(100))];
        assert_timeline(&algorithm(2, 1), &timeline);
    }

    #[test]
    fn clock_and_rate_are_cut_as_nginx_cuts_them() {
        // 100 per minute are 1.666 per second: 601 ms bring 1001 thousandths, but 600 ms only 999.
        let algorithm = LeakyQueue { rate: Rate::whole(100, 60 * ONE_SECOND_NANOS), burst: 0, delay: 0 };
        assert_timeline(&algorithm, &[(0, A), (599, R(2)), (600, R(1)), (601, A)]);
        let mut state = algorithm.fresh();
        algorithm.charge(&mut state, Instant::from_nanos(999_999), 1);
        let at = Instant::from_nanos(1_999_999);
        assert_eq!(
            algorithm.ask(&state, at, 1),
            Decision::Reject(Some(Duration::from_nanos(601_000_000 - 1_999_999)))
        );
    }

    #[test]
    fn rates_below_a_thousandth_are_refused() {
        let options = [("rate".to_owned(), "1/1001s".to_owned())];
        assert!(LeakyQueue::with_options(&options).is_err());
    }
}
