//! Content of one report: runs, scenarios, a comparison.

use super::experiment::Scenario;
use super::ranking::Ranking;
use super::strategy::Strategy;

#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Runs by strategy, best first; in the order of the files if they are not ranked.
    pub(super) strategies: Vec<Strategy>,
    pub(super) scenarios: Vec<Scenario>,
    pub(super) ranking: Option<Ranking>,
    /// Rankings against slightly different servers; empty unless there is exactly one comparison, made with `--sensitivity`.
    pub(super) sensitivity: Vec<results::Variation>,
    /// Start of the first reproduction; `None` if everything was simulated.
    pub(super) started_at: Option<String>,
    /// Descriptions of the data that is missing because not all shards were merged.
    pub(super) incomplete: Vec<String>,
}

impl Document {
    /// Returns the scenarios that request no plots. For these, every plot is drawn.
    pub(super) fn unplotted(&self) -> impl Iterator<Item = &Scenario> {
        self.scenarios.iter().filter(|scenario| scenario.exhibits.is_empty())
    }
}
