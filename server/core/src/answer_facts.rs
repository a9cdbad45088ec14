//! What the policies know of an answer, for templates to tell, and for runs.

use std::time::Duration;

use vocabulary::{Instant, LimitsTold, PlacesTold, RateTold};

use crate::standing::Standing;

/// What templates may tell of an answer, and what runs are told of limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerFacts {
    /// The stage of the stack that turned the request away, from 0.
    pub stage: Option<usize>,
    /// Instant of the decision; resets of `standings` count from it.
    pub decided_at: Instant,
    /// Limit status of each stage for the request at that instant; `None` for stages without a limit.
    pub standings: Vec<Option<Standing>>,
    /// The seed that keys the draws of the request.
    pub seed: u64,
    /// The op.
    pub op: u64,
    /// Which attempt of the op.
    pub attempt: u32,
}

impl AnswerFacts {
    /// What a run is told of the limits: of places the fewest, and of rates the one that turned the request away, else the one of which the
    /// least share is left; of equals the first.
    pub fn limits(&self) -> LimitsTold {
        let mut places: Option<(usize, &Standing)> = None;
        let mut rate: Option<(usize, &Standing, Duration)> = None;
        let share_left = |(at, standing): (usize, &Standing)| {
            let Standing { limit, remaining, .. } = *standing;
            // In 2⁻³² parts, rounded down: who is turned away comes before all. Most numbers need no long division.
            let (left, limit) = (remaining.min(limit), limit.max(1));
            let share = match u32::try_from(left) {
                Ok(left) => (u64::from(left) << 32) / limit,
                Err(_) => u64::try_from((u128::from(left) << 32) / u128::from(limit)).unwrap_or(u64::MAX),
            };
            (self.stage != Some(at), share)
        };
        for (at, standing) in self.standings.iter().enumerate() {
            let Some(standing) = standing else { continue };
            match standing.window {
                None if places.is_none_or(|(_, least)| standing.limit < least.limit) => {
                    places = Some((at, standing));
                }
                Some(window)
                    if rate.is_none_or(|(first, nearest, _)| {
                        share_left((at, standing)) < share_left((first, nearest))
                    }) =>
                {
                    rate = Some((at, standing, window));
                }
                _ => {}
            }
        }
        let mut told = LimitsTold::default();
        if let Some((stage, standing)) = places {
            let (busy, cap) = (standing.limit.saturating_sub(standing.remaining), standing.limit);
            told =
                told.with_places(PlacesTold { stage: index(stage), busy: counted(busy), cap: counted(cap) });
        }
        if let Some((stage, standing, window)) = rate {
            let (remaining, limit) = (counted(standing.remaining), counted(standing.limit));
            told = told.with_rate(RateTold { stage: index(stage), remaining, limit, window });
        }
        told
    }
}

/// A stack has far fewer stages.
fn index(stage: usize) -> u8 {
    u8::try_from(stage).unwrap_or(u8::MAX)
}

/// More than four billion are that many.
fn counted(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(limit: u64, remaining: u64, window_s: u64) -> Standing {
        let window = Some(Duration::from_secs(window_s));
        Standing { limit, remaining, reset: Duration::ZERO, window }
    }

    fn places(limit: u64, remaining: u64) -> Standing {
        Standing { limit, remaining, ..Standing::default() }
    }

    fn told(stage: Option<usize>, standings: &[Option<Standing>]) -> String {
        AnswerFacts { stage, standings: standings.to_vec(), ..AnswerFacts::default() }.limits().to_string()
    }

    #[test]
    fn of_rates_the_one_that_is_nearest_to_its_end_is_told_or_the_one_that_rejects() {
        let stack = [
            Some(rate(100, 90, 3600)),
            Some(places(5, 2)),
            None,
            Some(rate(18, 9, 60)),
            Some(rate(2, 2, 60)),
        ];
        assert_eq!(told(None, &stack), "places=3/5@1;rate=9/18/60000000000@3");
        assert_eq!(told(Some(0), &stack), "places=3/5@1;rate=90/100/3600000000000@0");
        // Who has no place is turned away by no rate.
        assert_eq!(told(Some(1), &stack), told(None, &stack));
        assert_eq!(told(None, &[Some(rate(4, 2, 1)), Some(rate(2, 1, 9))]), "rate=2/4/1000000000@0");
    }

    #[test]
    fn the_fewest_places_are_told_and_of_nothing_there_is_nothing() {
        assert_eq!(told(None, &[Some(places(5, 2)), Some(places(2, 2))]), "places=0/2@1");
        assert_eq!(told(None, &[None]), "");
        assert_eq!(
            told(None, &[Some(rate(u64::MAX, u64::MAX, 1))]),
            "rate=4294967295/4294967295/1000000000@0"
        );
    }
}
