//! Standing of a strategy among those compared.

use statistics::Summary;

use crate::numbers::at_least;
use crate::run_figures::Counts;
use crate::score::Score;

#[derive(Clone, Debug)]
pub struct Standing {
    pub strategy: String,
    /// Reason why it is not among the strategies that got the most done; `None` if it is.
    pub incomplete: Option<String>,
    /// Rank from 1, equal for ties; `None` if it cannot be ranked.
    pub rank: Option<u64>,
    pub is_tied: bool,
    pub on_front: bool,
    pub figures: Vec<(&'static str, Summary)>,
    pub foresees: bool,
    /// Mean share of ops done, 0 to 1; within `limit`, if there is one.
    pub share: f64,
    pub tier: usize,
    /// Time limit as given on the command line; `None` if ops only have to be done at all.
    pub limit: Option<String>,
    pub work: Work,
    pub(crate) scores: Vec<(Score, Vec<f64>)>,
    pub(crate) counts: Counts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// As much as all others with the same share. Only then are these ranked by makespan or the like.
    Same,
    /// Every op, though not all of them in time.
    All,
    Part,
}

impl Standing {
    /// Returns the score of every run; empty if a run lacks it.
    pub fn values(&self, score: Score) -> &[f64] {
        self.scores.iter().find(|(there, _)| *there == score).map_or(&[], |(_, values)| values)
    }

    /// Returns the geometric mean of a score over runs, which decides the order; infinite if a run lacks it.
    pub fn score(&self, by: Score) -> f64 {
        geometric_mean(self.values(by))
    }

    pub fn figure(&self, path: &str) -> Option<&Summary> {
        self.figures.iter().find(|(name, _)| *name == path).map(|(_, figure)| figure)
    }

    /// Returns the figure of a score, unless a run lacks it, because the rest would be the mean of the better runs.
    pub fn figure_of_all(&self, score: Score) -> Option<&Summary> {
        self.figure(score.path()).filter(|_| !self.values(score).is_empty())
    }

    pub fn all_done(&self) -> bool {
        self.counts.at_all() >= 1.0
    }

    pub fn share_is_lower_bound(&self) -> bool {
        self.counts.is_lower_bound
    }

    pub fn share_is_of_arrived(&self) -> bool {
        self.counts.of_arrived
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

/// Returns the geometric mean, which ranks and ratios use; infinite for an empty list, 0 if a value is 0. Logarithms are sorted first, so
/// that equal values in another order yield the same mean.
pub fn geometric_mean(values: &[f64]) -> f64 {
    let mut logs: Vec<f64> = values.iter().map(|value| libm::log(*value)).collect();
    logs.sort_by(f64::total_cmp);
    if logs.is_empty() { f64::INFINITY } else { libm::exp(logs.iter().sum::<f64>() / logs.len() as f64) }
}
