//! A limit on the number of requests in the last period. Every accepted request is remembered for this period.

use std::collections::VecDeque;
use std::time::Duration;

use vocabulary::{DAY, Instant, parameters};

use crate::policies::{
    Charge, Common, Decision, Keyed, Limit, PolicyConfig, RateAlgorithm, StagePolicy, after,
};
use crate::{LimitStatus, Pace, RateLaw};

parameters! {
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct SlidingLog = "sliding-log" {
        limit: u32 = 100, "maximum number of requests accepted within `window`", 1..=1_000_000;
        window: Duration = Duration::from_secs(1), "length of a window", Duration::from_millis(1)..=DAY;
    }
    summary = "accepts a number of requests in the last window, counted with a log of all of them";
    rule = "a request is accepted if fewer than `limit` requests were accepted within the last `window`. The \
        advised wait ends when enough of them are older than that";
    source = "sorted sets of timestamps, as many services keep them in Redis";
}

impl PolicyConfig for SlidingLog {
    fn limit(&self) -> Option<Limit> {
        Some(Limit::within("limit", "window"))
    }

    fn gate(&self, common: &Common) -> Option<Box<dyn StagePolicy>> {
        Some(Keyed::stage(self.clone(), common))
    }

    fn pace(&self) -> Option<Pace> {
        Some(Pace::new(self.clone()))
    }

    fn rate_law(&self) -> Option<RateLaw> {
        Some(RateLaw::of_windows(self.pace()?))
    }
}

/// Accepted requests with their costs. The number of entries is at most the limit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accepted {
    entries: VecDeque<(Instant, u32)>,
    sum: u64,
}

impl RateAlgorithm for SlidingLog {
    type State = Accepted;

    fn fresh(&self) -> Accepted {
        Accepted::default()
    }

    fn advance(&self, accepted: &mut Accepted, at: Instant) {
        while let Some((then, past)) = accepted.entries.front().copied()
            && then + self.window <= at
        {
            accepted.entries.pop_front();
            accepted.sum -= u64::from(past);
        }
    }

    fn ask(&self, accepted: &Accepted, at: Instant, cost: u32) -> Decision {
        let Some(spare) = self.limit.checked_sub(cost) else { return Decision::Reject(None) };
        let mut sum = accepted.sum;
        let mut free_at = at;
        for (then, past) in &accepted.entries {
            if sum <= u64::from(spare) {
                break;
            }
            sum -= u64::from(*past);
            free_at = *then + self.window;
        }
        if free_at > at { after(free_at.since(at).as_nanos()) } else { Decision::Pass }
    }

    fn charge(&self, accepted: &mut Accepted, at: Instant, cost: u32) {
        accepted.entries.push_back((at, cost));
        accepted.sum += u64::from(cost);
        // Rejected requests may be charged, too, so the newer entries of the log alone may reach the limit. The oldest entry then no longer
        // affects any decision, so it is dropped.
        while let Some((_, oldest)) = accepted.entries.front().copied()
            && accepted.sum - u64::from(oldest) >= u64::from(self.limit)
        {
            accepted.entries.pop_front();
            accepted.sum -= u64::from(oldest);
        }
    }

    fn refund(&self, accepted: &mut Accepted, at: Instant, taken: Charge) {
        self.advance(accepted, at);
        // The refund first reduces the newest log entry of the instant `taken.at`. Any entry of this instant may be reduced, because all of
        // them expire at the same time.
        let mut left = taken.cost;
        let end = accepted.entries.partition_point(|(then, _)| *then <= taken.at);
        for index in (0..end).rev() {
            let (then, cost) = &mut accepted.entries[index];
            if left == 0 || *then != taken.at {
                break;
            }
            let back = left.min(*cost);
            (*cost, left) = (*cost - back, left - back);
            accepted.sum -= u64::from(back);
            if *cost == 0 {
                accepted.entries.remove(index);
            }
        }
    }

    fn limit_status(&self, accepted: &Accepted, at: Instant) -> LimitStatus {
        let newest =
            accepted.entries.back().map_or(Duration::ZERO, |(then, _)| (*then + self.window).since(at));
        LimitStatus {
            limit: self.limit.into(),
            remaining: u64::from(self.limit).saturating_sub(accepted.sum),
            reset: newest,
            window: Some(self.window),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::tests::timelines::{A, R, assert_timeline};

    #[test]
    fn each_request_frees_its_place_a_window_later() {
        let algorithm = SlidingLog { limit: 2, window: Duration::from_secs(10) };
        assert_timeline(
            &algorithm,
            &[
                (9000, A),
                (9500, A),
                (9900, R(9100)),
                (10_000, R(9000)),
                (19_000, A),
                (19_000, R(500)),
                (19_500, A),
            ],
        );
    }
}
