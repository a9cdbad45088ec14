//! A sliding window estimated from two counters, as if the requests of the previous window had been evenly distributed over it.
//!
//! Source: Kong's advanced rate limiting ("sliding"); the estimate that Cloudflare's edge was described to use.

use std::time::Duration;

use vocabulary::{DAY, Instant, parameters};

use crate::LimitStatus;
use crate::policies::{
    Charge, Common, Decision, Keyed, Limit, PolicyConfig, RateAlgorithm, StagePolicy, after, nanos,
};

parameters! {
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct SlidingCounter = "sliding-counter" {
        limit: u32 = 100, "maximum number of requests accepted within `window`", 1..=1_000_000_000;
        window: Duration = Duration::from_secs(1), "length of a window", Duration::from_millis(1)..=DAY;
    }
    summary = "accepts a number of requests in the last window, estimated from two counters";
    rule = "a request is accepted if before × (1 − elapsed / window) + accepted + cost − 1 < limit. Here, \
        before and accepted are the numbers accepted in the previous and in the current window, and elapsed \
        is the time since the current window began";
    source = "Kong's plugin rate-limiting-advanced, with sliding windows";
}

impl PolicyConfig for SlidingCounter {
    fn limit(&self) -> Option<Limit> {
        Some(Limit::within("limit", "window"))
    }

    fn gate(&self, common: &Common) -> Option<Box<dyn StagePolicy>> {
        Some(Keyed::stage(self.clone(), common))
    }
}

/// Total costs of the accepted requests in the current time window and in the previous one, and the number of the current window.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    window: u128,
    accepted: u32,
    before: u32,
}

impl SlidingCounter {
    /// Returns the earliest time at which a request of this cost may be accepted, in nanoseconds from the start of the window. `before` is
    /// the total cost accepted in the previous window, and `accepted` that of the current window. If the result is beyond the window's
    /// length, the request cannot be accepted in this window.
    fn soonest(&self, before: u32, accepted: u32, cost: u32) -> u128 {
        let length = self.window.as_nanos();
        let taken = u128::from(accepted) + u128::from(cost) - 1;
        // `left` is the amount of the limit that is left for the previous window's requests. The request is accepted if before × (length −
        // elapsed) < left × length.
        let Some(left) = u128::from(self.limit).checked_sub(taken).filter(|left| *left > 0) else {
            return u128::MAX;
        };
        let before = u128::from(before);
        if before < left {
            return 0;
        }
        // `rest` is the longest remaining time of the window that satisfies before × rest < left × length.
        let rest = (left * length - 1) / before;
        length - rest
    }
}

impl RateAlgorithm for SlidingCounter {
    type State = Counters;

    fn fresh(&self) -> Counters {
        Counters::default()
    }

    fn advance(&self, counters: &mut Counters, at: Instant) {
        let length = self.window.as_nanos();
        let window = u128::from(at.as_nanos()) / length;
        if window > counters.window {
            counters.before = if window == counters.window + 1 { counters.accepted } else { 0 };
            counters.accepted = 0;
            counters.window = window;
        }
    }

    fn ask(&self, counters: &Counters, at: Instant, cost: u32) -> Decision {
        let (now, length) = (u128::from(at.as_nanos()), self.window.as_nanos());
        if cost > self.limit {
            return Decision::Reject(None);
        }
        let elapsed = now % length;
        let soonest = self.soonest(counters.before, counters.accepted, cost);
        if soonest <= elapsed {
            return Decision::Pass;
        }
        if soonest < length {
            return after(soonest - elapsed);
        }
        after(length - elapsed + self.soonest(counters.accepted, 0, cost))
    }

    /// Applies a new configuration. Both counters are kept. They now count for the current and the previous window of the new
    /// configuration.
    fn reconfigure(&self, counters: &mut Counters, at: Instant, before: &Self) {
        before.advance(counters, at);
        counters.window = u128::from(at.as_nanos()) / self.window.as_nanos();
    }

    fn charge(&self, counters: &mut Counters, _at: Instant, cost: u32) {
        counters.accepted = counters.accepted.saturating_add(cost);
    }

    fn refund(&self, counters: &mut Counters, at: Instant, taken: Charge) {
        self.advance(counters, at);
        let window = u128::from(taken.at.as_nanos()) / self.window.as_nanos();
        if window == counters.window {
            counters.accepted = counters.accepted.saturating_sub(taken.cost);
        } else if window + 1 == counters.window {
            counters.before = counters.before.saturating_sub(taken.cost);
        }
    }

    fn limit_status(&self, counters: &Counters, at: Instant) -> LimitStatus {
        let length = self.window.as_nanos();
        let left = length - u128::from(at.as_nanos()) % length;
        let counted = (u128::from(counters.before) * left).div_ceil(length) + u128::from(counters.accepted);
        let reset = match (counters.before, counters.accepted) {
            (0, 0) => 0,
            (_, 0) => left,
            _ => left + length,
        };
        LimitStatus {
            limit: self.limit.into(),
            remaining: u64::try_from(u128::from(self.limit).saturating_sub(counted)).unwrap_or(u64::MAX),
            reset: nanos(reset),
            window: Some(self.window),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::tests::timelines::{A, R, assert_timeline};

    #[test]
    fn the_window_before_counts_by_what_is_left_of_it() {
        let algorithm = SlidingCounter { limit: 10, window: Duration::from_mins(1) };
        let mut timeline = vec![(0, A); 10];
        // 10 × 45/60 and two: 9.5, then 10.5, which is below 10 as soon as less than 42 of the 60 s are left.
        timeline.extend([
            (70_000, A),
            (70_000, A),
            (75_000, A),
            (75_000, R(3001)),
            (78_000, R(1)),
            (78_001, A),
        ]);
        let exact: Vec<_> = timeline.into_iter().collect();
        assert_timeline(&algorithm, &exact);
    }
}
