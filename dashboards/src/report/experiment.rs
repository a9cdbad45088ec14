//! Output of `loadgen reproduce`: claims, and the cells of experiments. A cell has the figures of one strategy with one
//! combination of settings, over several seeds.

use results::{Cell, Claim, DrawnColumn, Swept, Written, WrittenSweep};

use super::scenario_plot::ScenarioPlot;

#[derive(Clone, Debug, Default)]
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) source: String,
    pub(super) about: String,
    pub(super) claims: Vec<Claim>,
    pub(super) cells: Vec<Cell>,
    pub(super) columns: Vec<DrawnColumn>,
    pub(super) exhibits: Vec<ScenarioPlot>,
    /// Sweep without its cells, which are those of the scenario.
    pub(super) sweep: Option<Swept>,
    /// First seed of the scenario's runs.
    pub(super) seed: Option<u64>,
    /// Scenario as written in its result file. For a sweep, `written_sweep` is used instead.
    pub(super) written: Written,
    /// Sweep as written in its result file, but only with the figures that the report shows.
    pub(super) written_sweep: WrittenSweep,
}

impl Scenario {
    pub(super) fn new(scenario: results::Scenario, written: Written) -> Self {
        let cells = scenario.cells;
        Self {
            name: scenario.name,
            title: scenario.title,
            source: scenario.source,
            about: scenario.about,
            claims: scenario.claims,
            exhibits: scenario.plots.into_iter().map(|plot| ScenarioPlot::new(plot, &cells)).collect(),
            cells,
            seed: scenario.seed,
            written,
            ..Self::default()
        }
    }
}
