//! What one report shows: runs, scenarios, a comparison.

use super::experiment::Scenario;
use super::ranking::Ranking;
use super::strategy::Strategy;

/// Everything that a report shows.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Runs by strategy, best first; in the order of the files if they are not ranked.
    pub(super) strategies: Vec<Strategy>,
    pub(super) scenarios: Vec<Scenario>,
    /// Ranking of the strategies; `None` if there is only one, or they cannot be compared.
    pub(super) ranking: Option<Ranking>,
    /// Rankings against servers that differ a little; empty unless there is one comparison, made with `--sensitivity`.
    pub(super) sensitivity: Vec<results::Variation>,
    /// When the first reproduction began; none where all was simulated.
    pub(super) started_at: Option<String>,
    /// What of the runs is missing, in words, of shards that were merged although not all were there.
    pub(super) incomplete: Vec<String>,
}

impl Document {
    /// Scenarios that do not say what is to be drawn of them: everything is.
    pub(super) fn unplotted(&self) -> impl Iterator<Item = &Scenario> {
        self.scenarios.iter().filter(|scenario| scenario.exhibits.is_empty())
    }
}
