//! Comparisons of every two ranked strategies, in the ranked figure and in attempts. All confidence intervals use the
//! same level.

use super::{Answer, Times};
use crate::{RankedStrategy, Score};

#[derive(Clone, Debug)]
pub struct PairRow {
    /// First of two compared strategies. Its rank is at least as good as the second strategy's rank.
    pub first: String,
    pub second: String,
    /// Ratio of the second strategy's ranked figure to the first strategy's ranked figure. `None` if the two strategies did not do the same
    /// work.
    pub figure: Option<Times>,
    pub attempts: Option<Times>,
}

pub fn pair_rows(answer: &Answer, standings: &[RankedStrategy]) -> Vec<PairRow> {
    let figure = answer.figure();
    let is_share = figure == Score::done_share();
    let ranked: Vec<&RankedStrategy> =
        standings.iter().filter(|standing| standing.rank.is_some() && !standing.foresees).collect();
    let times = |first: &RankedStrategy, second: &RankedStrategy, score: Score| {
        let is_comparable = is_share || first.is_comparable() && second.is_comparable();
        is_comparable.then(|| Times::new(second.values(score), first.values(score), answer.level))?
    };
    let pairs = ranked.iter().enumerate().flat_map(|(place, first)| {
        let row = |second: &&RankedStrategy| PairRow {
            first: first.strategy.clone(),
            second: second.strategy.clone(),
            figure: times(first, second, figure),
            attempts: times(first, second, Score::attempts()),
        };
        ranked[place + 1..].iter().map(row).collect::<Vec<_>>()
    });
    pairs.collect()
}
