//! Content of one report: runs, scenarios, and the ranking of a comparison.

use super::experiment::Scenario;
use super::ranking::Ranking;
use super::strategy::Strategy;

#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Strategies with their runs, best first, or in the order of the files if there is no ranking.
    pub(super) strategies: Vec<Strategy>,
    pub(super) scenarios: Vec<Scenario>,
    pub(super) ranking: Option<Ranking>,
    /// Rankings of a comparison against slightly different servers. Empty unless there is exactly one comparison, made
    /// with `--sensitivity`.
    pub(super) sensitivity: Vec<results::Variation>,
    /// Start time of the first reproduction; `None` if everything was simulated.
    pub(super) started_at: Option<String>,
    /// Descriptions of data that is missing because not all shards were merged.
    pub(super) incomplete: Vec<String>,
}

impl Document {
    /// Returns the scenarios that request no plots. The report draws every plot for these scenarios.
    pub(super) fn unplotted(&self) -> impl Iterator<Item = &Scenario> {
        self.scenarios.iter().filter(|scenario| scenario.exhibits.is_empty())
    }
}
