//! Content of a report: the strategies with their runs, their ranking, and the scenarios of experiments.

use super::experiment::Scenario;
use super::ranking::Ranking;
use super::strategy::Strategy;

#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Strategies of the report with their runs. The best strategy is first. If there is no ranking, the strategies are
    /// in the order of the result files.
    pub(super) strategies: Vec<Strategy>,
    pub(super) scenarios: Vec<Scenario>,
    pub(super) ranking: Option<Ranking>,
    /// Rankings of the compared strategies against slightly different servers. Present only if the document has exactly
    /// one comparison, and that comparison was made with `--sensitivity`.
    pub(super) sensitivity: Vec<results::Variation>,
    /// Start time of the earliest `loadgen reproduce` in the document; `None` if all its runs were simulated.
    pub(super) started_at: Option<String>,
    /// Descriptions of the data that is missing because the results of some shards were not merged.
    pub(super) incomplete: Vec<String>,
}

impl Document {
    /// Returns the scenarios that do not request specific plots. The report draws every available plot for these
    /// scenarios.
    pub(super) fn unplotted(&self) -> impl Iterator<Item = &Scenario> {
        self.scenarios.iter().filter(|scenario| scenario.exhibits.is_empty())
    }
}
