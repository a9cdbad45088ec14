//! Comparison in which no attempt was rejected or failed. The ranking of strategies in this comparison shows nothing about retries.

use crate::figures::numbers::{counted, extremes};
use crate::{RankedStrategy, Score};

const EQUAL: f64 = 1.02;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unthrottled {
    pub attempts: u64,
    /// True if all strategies are equal within 2 % in the ranked figure, in makespan and in attempts.
    pub are_equal: bool,
}

impl Unthrottled {
    pub fn new(standings: &[RankedStrategy], by: Score) -> Option<Self> {
        let max = |standing: &RankedStrategy, path| standing.figure(path).map(|figure| figure.max);
        let is_spared = |standing: &RankedStrategy| {
            ["attempts.rejected", "attempts.failed"].iter().all(|path| max(standing, path) == Some(0.0))
        };
        if !standings.iter().all(is_spared) {
            return None;
        }
        let sum = |standing: &RankedStrategy| {
            standing.figure("attempts.total").map(|all| all.mean * all.count as f64)
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let attempts = standings.iter().filter_map(sum).sum::<f64>().round() as u64;
        (attempts > 0).then(|| Self { attempts, are_equal: are_equal(standings, by) })
    }

    /// Returns the sentence about a comparison of strategies in which no attempt was rejected or failed. If all strategies have equal
    /// results, the sentence replaces the ranking. If they do not, the sentence follows the ranking.
    pub fn sentence(self) -> String {
        let attempts = counted(self.attempts, "attempt");
        if self.are_equal {
            format!("Nothing to compare: not one of {attempts} was rejected.")
        } else {
            format!("Not one of {attempts} was rejected: the differences come from the clients' own limits.")
        }
    }
}

fn are_equal(standings: &[RankedStrategy], by: Score) -> bool {
    let scores = [by, Score::makespan(), Score::attempts()];
    scores.iter().all(|score| {
        let (least, most) = extremes(standings.iter().map(|standing| standing.score(*score)));
        most.is_finite() && most <= EQUAL * least
    })
}
