//! Test whether two strategies are equal in a figure, as far as their runs show. Equal strategies have the same rank.
//!
//! Two strategies are equal if the confidence interval of their paired ratio contains 1 or lies within 0.98 to 1.02. The level of each
//! interval is 1 − 0.05/m, so that all intervals of a ranking together are correct in 95 % of cases. In this formula, m is twice the number
//! of pairs of ranked strategies, because a ranking uses two figures.

use statistics::{Comparison, Level, Margin, Method, PairOutcome, PairedRatio};

use crate::ranking::ranked_strategy::RankedStrategy;
use crate::ranking::score::Score;

const FIGURES_COMPARED: usize = 2;

pub(crate) struct Ties {
    level: Level,
}

impl Ties {
    pub(crate) fn among<'a>(standings: impl IntoIterator<Item = &'a RankedStrategy>) -> Self {
        let strategies = standings.into_iter().filter(|standing| !standing.foresees).count();
        let pairs = strategies * strategies.saturating_sub(1) / 2;
        Self { level: Level::P95.shared_by(FIGURES_COMPARED * pairs) }
    }

    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// Returns true if two strategies cannot be distinguished in the figure `score`. With too few runs for a confidence interval,
    /// strategies are equal only if their means are equal. An oracle is equal to no other strategy.
    pub(crate) fn are_equal(&self, score: Score, one: &RankedStrategy, other: &RankedStrategy) -> bool {
        if one.foresees || other.foresees {
            return false;
        }
        let comparison =
            Comparison { level: self.level, method: Method::StudentT, margin: Margin::TWO_PERCENT };
        let found = PairedRatio::new(one.values(score), other.values(score), comparison);
        match found.map(|found| found.verdict) {
            Ok(PairOutcome::NotDistinguishable | PairOutcome::Equivalent) => true,
            Ok(PairOutcome::Lower | PairOutcome::Higher) => false,
            Ok(PairOutcome::TooFew) | Err(_) => one.score(score).total_cmp(&other.score(score)).is_eq(),
        }
    }
}
