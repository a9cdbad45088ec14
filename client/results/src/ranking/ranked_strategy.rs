//! A strategy in a ranking: its rank, its figures, and the share of its ops that were done.

use statistics::{Comparison, Level, Margin, Method, PairOutcome, PairedRatio, Summary};

use crate::figures::numbers::at_least;
use crate::{Counts, Score};

#[derive(Clone, Debug)]
pub struct RankedStrategy {
    pub strategy: String,
    /// Reason why the strategy is not complete; `None` if it is. A complete strategy got as many ops done as the best one and has the
    /// figures of the ranking.
    pub incomplete: Option<String>,
    /// Rank of the strategy, from 1. Strategies that tie have the same rank. `None` if the strategy cannot be ranked.
    pub rank: Option<u64>,
    pub is_tied: bool,
    pub on_front: bool,
    pub figures: Vec<(&'static str, Summary)>,
    pub foresees: bool,
    /// Mean share of ops done, 0 to 1. With a time `limit`, only ops done within the limit count.
    pub share: f64,
    pub tier: usize,
    /// Time limit for ops, as given on the command line. `None` if an op counts however late it is done.
    pub limit: Option<String>,
    pub work: Work,
    pub(crate) scores: Vec<(Score, Vec<f64>)>,
    pub counts: Counts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// The strategy has the largest share of ops done of all strategies. All strategies with this share did the same work, so they are
    /// ranked by makespan or another score.
    Same,
    /// All ops were done, but not all of them in time.
    All,
    Part,
}

impl RankedStrategy {
    /// Returns the score of every run. The result is empty if a run lacks the score.
    pub fn values(&self, score: Score) -> &[f64] {
        self.scores.iter().find(|(there, _)| *there == score).map_or(&[], |(_, values)| values)
    }

    /// Returns the geometric mean of a score over runs, which decides the order of strategies. The mean is infinite if a run lacks the
    /// score.
    pub fn score(&self, by: Score) -> f64 {
        geometric_mean(self.values(by))
    }

    pub fn figure(&self, path: &str) -> Option<&Summary> {
        self.figures.iter().find(|(name, _)| *name == path).map(|(_, figure)| figure)
    }

    /// Returns the summary of a score over the strategy's runs. Returns `None` if a run lacks the score. Runs that lack it are often worse,
    /// so a mean of the other runs would be misleading.
    pub fn figure_of_all(&self, score: Score) -> Option<&Summary> {
        self.figure(score.path()).filter(|_| !self.values(score).is_empty())
    }

    pub fn all_done(&self) -> bool {
        self.counts.at_all() >= 1.0
    }

    pub fn share_is_lower_bound(&self) -> bool {
        self.counts.is_lower_bound
    }

    pub fn share_text(&self) -> String {
        at_least(self.share, self.share_is_lower_bound())
    }

    pub fn is_complete(&self) -> bool {
        self.incomplete.is_none()
    }

    pub fn is_comparable(&self) -> bool {
        self.is_complete() && self.work == Work::Same
    }
}

/// Returns the geometric mean of the values, which ranks and ratios use. The mean is infinite for an empty list, and 0 if a value is 0.
/// Logarithms are sorted before they are summed, so that the mean does not depend on the order of the values.
pub fn geometric_mean(values: &[f64]) -> f64 {
    let mut logs: Vec<f64> = values.iter().map(|value| libm::log(*value)).collect();
    logs.sort_by(f64::total_cmp);
    if logs.is_empty() { f64::INFINITY } else { libm::exp(logs.iter().sum::<f64>() / logs.len() as f64) }
}

const FIGURES_COMPARED: usize = 2;

/// Returns the level of each interval in a ranking of these strategies. It is 1 − 0.05/m, so that all intervals of the ranking together are
/// correct in 95 % of cases. In this formula, m is twice the number of pairs of strategies other than oracles, because a ranking uses two
/// figures.
pub(crate) fn shared_level<'a>(standings: impl IntoIterator<Item = &'a RankedStrategy>) -> Level {
    let strategies = standings.into_iter().filter(|standing| !standing.foresees).count();
    let pairs = strategies * strategies.saturating_sub(1) / 2;
    Level::P95.shared_by(FIGURES_COMPARED * pairs)
}

/// Returns true if two strategies cannot be distinguished in the figure `score`, because the confidence interval of their paired ratio
/// contains 1 or lies within 0.98 to 1.02. With too few runs for a confidence interval, strategies are equal only if their means are equal.
/// An oracle is equal to no other strategy.
pub(crate) fn are_equal(level: Level, score: Score, one: &RankedStrategy, other: &RankedStrategy) -> bool {
    if one.foresees || other.foresees {
        return false;
    }
    let found = paired_ratio(one.values(score), other.values(score), level);
    match found.map_or(PairOutcome::TooFew, |found| found.verdict) {
        PairOutcome::NotDistinguishable | PairOutcome::Equivalent => true,
        PairOutcome::Lower | PairOutcome::Higher => false,
        PairOutcome::TooFew => one.score(score).total_cmp(&other.score(score)).is_eq(),
    }
}

/// Returns the ratio of one list of values to another (`base`), by Student's t on the logarithms. Values at the same position of both lists
/// have the same seed. Returns `None` if a value is missing or not above 0.
pub fn paired_ratio(values: &[f64], base: &[f64], level: Level) -> Option<PairedRatio> {
    let comparison = Comparison { level, method: Method::StudentT, margin: Margin::TWO_PERCENT };
    PairedRatio::new(values, base, comparison).ok()
}
