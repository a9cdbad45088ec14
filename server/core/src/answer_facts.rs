//! Facts about one answer of the server. Answer templates print these facts, and runs record them.

use std::time::Duration;

use vocabulary::Instant;
use wire::{AdvertisedLimits, AdvertisedRate, AdvertisedSlots};

use crate::LimitStatus;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerFacts {
    /// Index, from 0, of the stage (policy of the stack) that rejected the request.
    pub stage: Option<usize>,
    /// Instant at which the server accepted or rejected the request. The reset times in `limit_statuses` are counted from this instant.
    pub decided_at: Instant,
    /// Status of each stage's limit for this request at `decided_at`. `None` for a stage without a limit.
    pub limit_statuses: Vec<Option<LimitStatus>>,
    pub seed: u64,
    pub op: u64,
    pub attempt: u32,
}

impl AnswerFacts {
    /// Returns the limits to report with an answer: at most one concurrency limit and one rate limit. The concurrency limit is the smallest
    /// one of the policy stack. The rate limit is the one that rejected the request. If no rate limit rejected the request, it is the rate
    /// limit with the smallest share of its quota left. If several limits qualify, the first one in the stack is reported.
    pub fn limits(&self) -> AdvertisedLimits {
        let share_left = |(at, limit_status, _): &(usize, &LimitStatus, Duration)| {
            let LimitStatus { limit, remaining, .. } = **limit_status;
            // Computes the share of a limit that remains, in units of 2⁻³², rounded down. The stage that rejected the request sorts before
            // all other stages. Fast path: if `remaining` is below 2³², no 128-bit division is needed.
            let (left, limit) = (remaining.min(limit), limit.max(1));
            let share = match u32::try_from(left) {
                Ok(left) => (u64::from(left) << 32) / limit,
                Err(_) => u64::try_from((u128::from(left) << 32) / u128::from(limit)).unwrap_or(u64::MAX),
            };
            (self.stage != Some(*at), share)
        };
        let stages = self.limit_statuses.iter().enumerate();
        let stages = stages.filter_map(|(at, limit_status)| Some((at, limit_status.as_ref()?)));
        let places = stages.clone().filter(|(_, limit_status)| limit_status.window.is_none());
        let places = places.min_by_key(|(_, limit_status)| limit_status.limit);
        let rates = stages.filter_map(|(at, limit_status)| Some((at, limit_status, limit_status.window?)));
        let rate = rates.min_by(|one, other| share_left(one).cmp(&share_left(other)));
        let mut limits = AdvertisedLimits::default();
        if let Some((stage, limit_status)) = places {
            let (busy, cap) = (limit_status.limit.saturating_sub(limit_status.remaining), limit_status.limit);
            limits = limits.with_slots(AdvertisedSlots {
                stage: index(stage),
                busy: counted(busy),
                cap: counted(cap),
            });
        }
        if let Some((stage, limit_status, window)) = rate {
            let (remaining, limit) = (counted(limit_status.remaining), counted(limit_status.limit));
            limits = limits.with_rate(AdvertisedRate { stage: index(stage), remaining, limit, window });
        }
        limits
    }
}

/// Converts a stage's index to a byte. Indices above 255 become 255; a stack has far fewer stages.
fn index(stage: usize) -> u8 {
    u8::try_from(stage).unwrap_or(u8::MAX)
}

fn counted(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(limit: u64, remaining: u64, window_s: u64) -> LimitStatus {
        let window = Some(Duration::from_secs(window_s));
        LimitStatus { limit, remaining, reset: Duration::ZERO, window }
    }

    fn places(limit: u64, remaining: u64) -> LimitStatus {
        LimitStatus { limit, remaining, ..LimitStatus::default() }
    }

    fn limits(stage: Option<usize>, limit_statuses: &[Option<LimitStatus>]) -> String {
        AnswerFacts { stage, limit_statuses: limit_statuses.to_vec(), ..AnswerFacts::default() }
            .limits()
            .to_string()
    }

    #[test]
    fn the_rate_nearest_its_end_or_the_rejecting_one_is_reported() {
        let stack = [
            Some(rate(100, 90, 3600)),
            Some(places(5, 2)),
            None,
            Some(rate(18, 9, 60)),
            Some(rate(2, 2, 60)),
        ];
        assert_eq!(limits(None, &stack), "places=3/5@1;rate=9/18/60000000000@3");
        assert_eq!(limits(Some(0), &stack), "places=3/5@1;rate=90/100/3600000000000@0");
        // Stage 1 limits concurrency, so its rejection does not change the reported rate limit.
        assert_eq!(limits(Some(1), &stack), limits(None, &stack));
        assert_eq!(limits(None, &[Some(rate(4, 2, 1)), Some(rate(2, 1, 9))]), "rate=2/4/1000000000@0");
    }

    #[test]
    fn the_tightest_limit_is_reported_and_none_without_limits() {
        assert_eq!(limits(None, &[Some(places(5, 2)), Some(places(2, 2))]), "places=0/2@1");
        assert_eq!(limits(None, &[None]), "");
        assert_eq!(
            limits(None, &[Some(rate(u64::MAX, u64::MAX, 1))]),
            "rate=4294967295/4294967295/1000000000@0"
        );
    }
}
