//! Where a strategy stands among those compared.

use statistics::Summary;

use crate::numbers::at_least;
use crate::run_figures::Counts;
use crate::score::Score;

/// One strategy among those compared.
#[derive(Clone, Debug)]
pub struct Standing {
    /// As typed.
    pub strategy: String,
    /// Why it is not among those that got the most done, if it is not.
    pub incomplete: Option<String>,
    /// From 1, the same for equals; `None` where it cannot be ranked.
    pub rank: Option<u64>,
    /// Whether others have the same rank.
    pub is_tied: bool,
    /// Whether no other is better in one of two things and not worse in the other: makespan and attempts, or, where shares of ops
    /// done differ, that share and the attempts per success.
    pub on_front: bool,
    /// Figures over runs, by path.
    pub figures: Vec<(&'static str, Summary)>,
    /// Whether it knows the future, as no client can.
    pub foresees: bool,
    /// Mean share of ops done, 0 to 1; where `limit` says so, done in time.
    pub share: f64,
    /// How many different shares are larger.
    pub tier: usize,
    /// What counts as done in time, as typed; nothing where it is enough to be done at all.
    pub limit: Option<String>,
    /// How what it did compares with what others did.
    pub work: Work,
    pub(crate) scores: Vec<(Score, Vec<f64>)>,
    pub(crate) counts: Counts,
}

/// What a strategy did, beside what others did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// As much as all others with its share, which are ranked by makespan or the like only then.
    Same,
    /// Every op, though not all of them in time.
    All,
    /// Some of the ops.
    Part,
}

impl Standing {
    /// A score of every run; empty when it is missing in one.
    pub fn values(&self, score: Score) -> &[f64] {
        self.scores.iter().find(|(there, _)| *there == score).map_or(&[], |(_, values)| values)
    }

    /// The geometric mean of a score over runs, which ranks are by; infinite when it is missing in one.
    pub fn score(&self, by: Score) -> f64 {
        geometric_mean(self.values(by))
    }

    /// A figure over runs.
    pub fn figure(&self, path: &str) -> Option<&Summary> {
        self.figures.iter().find(|(name, _)| *name == path).map(|(_, figure)| figure)
    }

    /// The same of a score, unless it is missing in a run: what remains would be a mean of the better runs.
    pub fn figure_of_all(&self, score: Score) -> Option<&Summary> {
        self.figure(score.path()).filter(|_| !self.values(score).is_empty())
    }

    /// Whether every op succeeded, late or not, in every run.
    pub fn all_done(&self) -> bool {
        self.counts.at_all() >= 1.0
    }

    /// Whether its share of ops done is only a lower bound, because a run was stopped.
    pub fn share_is_lower_bound(&self) -> bool {
        self.counts.is_lower_bound
    }

    /// Whether its share is of the ops that arrived, because how many were offered is not known.
    pub fn share_is_of_arrived(&self) -> bool {
        self.counts.of_arrived
    }

    /// The share of ops done in words: `47.8 %`, or `≥ 45.0 %`.
    pub fn share_text(&self) -> String {
        at_least(self.share, self.share_is_lower_bound())
    }

    /// Whether it got as many ops done as the best.
    pub fn is_complete(&self) -> bool {
        self.incomplete.is_none()
    }

    /// Whether its makespan, and whatever else depends on how much was done, can be compared with those of others.
    pub fn is_comparable(&self) -> bool {
        self.is_complete() && self.work == Work::Same
    }
}

/// What strategies are ranked by, and ratios are of. Nothing that is not above zero has one; such runs come last. Equal values in
/// another order have the same.
pub fn geometric_mean(values: &[f64]) -> f64 {
    let mut logs: Vec<f64> = values.iter().map(|value| libm::log(*value)).collect();
    logs.sort_by(f64::total_cmp);
    if logs.is_empty() { f64::INFINITY } else { libm::exp(logs.iter().sum::<f64>() / logs.len() as f64) }
}
