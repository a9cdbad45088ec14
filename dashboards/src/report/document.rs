//! Content of a report: the strategies with their runs, their ranking, and the scenarios of experiments.

use results::{Swept, Variation};

use super::scenario_plot::ScenarioPlot;
use super::{Ranking, Scenario, Strategy};

#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Strategies of the report with their runs. The best strategy is first. If there is no ranking, the strategies are
    /// in the order of the result files.
    pub(super) strategies: Vec<Strategy>,
    pub(super) scenarios: Vec<Scenario>,
    pub(super) ranking: Option<Ranking>,
    /// Rankings of the compared strategies against slightly different servers. Present only if the document has exactly
    /// one comparison, and that comparison was made with `--sensitivity`.
    pub(super) sensitivity: Vec<Variation>,
    /// Start time of the earliest `loadgen reproduce` in the document; `None` if all its runs were simulated.
    pub(super) started_at: Option<String>,
    /// Descriptions of the data that is missing because the results of some shards were not merged.
    pub(super) incomplete: Vec<String>,
}

impl Document {
    /// Returns the scenarios of `loadgen reproduce`.
    pub(super) fn reproduced(&self) -> impl Iterator<Item = &Scenario> {
        self.scenarios.iter().filter(|scenario| scenario.sweep.is_none())
    }

    pub(super) fn sweeps(&self) -> impl Iterator<Item = (&Scenario, &Swept)> {
        self.scenarios.iter().filter_map(|scenario| Some((scenario, scenario.sweep.as_ref()?)))
    }

    pub(super) fn exhibits(&self) -> impl Iterator<Item = &ScenarioPlot> {
        self.scenarios.iter().flat_map(|scenario| &scenario.exhibits)
    }

    /// Returns the scenarios that do not request specific plots. The report draws every available plot for these
    /// scenarios.
    pub(super) fn unplotted(&self) -> impl Iterator<Item = &Scenario> {
        self.scenarios.iter().filter(|scenario| scenario.exhibits.is_empty())
    }
}
