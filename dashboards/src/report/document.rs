//! What one report shows: runs, scenarios, a comparison.

use results::Score;

use super::experiment::Scenario;
use super::strategy::Strategy;

/// Everything that a report shows.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Runs by strategy, in the order in which they were first met.
    pub(super) strategies: Vec<Strategy>,
    pub(super) scenarios: Vec<Scenario>,
    /// What a comparison found, in its own words.
    pub(super) comparison: Vec<String>,
    /// What strategies are ranked by.
    pub(super) by: Score,
    /// The order of the strategies of a comparison, by their names; empty where files bring several rankings, or none.
    pub(super) ranking: Vec<String>,
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
