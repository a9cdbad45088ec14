//! Output of `loadgen reproduce`: claims, and the cells of experiments. A cell has the figures of one strategy with one
//! combination of settings, over several seeds.

use results::{Axis, Best, Claim, ConfigRecord, DrawnColumn, Written, WrittenSweep};

use super::cell::Cell;
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
    pub(super) sweep: Option<Sweep>,
    /// First seed of the scenario's runs.
    pub(super) seed: Option<u64>,
    /// Scenario as written in its result file. For a sweep, [`Sweep::written`] is used instead.
    pub(super) written: Written,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    pub(super) started_at: Option<String>,
    /// Axes (varied settings) of the sweep, in the order in which the command line gives them.
    pub(super) axes: Vec<Axis>,
    /// Keys of the axes (varied settings), spelled as in [`Cell::at`].
    pub(super) keys: Vec<String>,
    /// Configuration of the sweep's first strategy at the first point (combination of values of the varied settings).
    pub(super) config: Option<ConfigRecord>,
    pub(super) by: String,
    /// Best strategy of every situation (combination of values of the varied flags). It is estimated with fresh seeds,
    /// which were not used to choose it.
    pub(super) best: Vec<Best>,
    /// Sweep as written in its result file, but only with the figures that the report shows.
    pub(super) written: WrittenSweep,
}

impl Scenario {
    pub(super) fn new(scenario: results::Scenario, written: Written) -> Self {
        let cell = |cell: &results::Cell| {
            Cell::new(&cell.experiment, &cell.label, &cell.strategy, &cell.at, &cell.figures)
        };
        let cells: Vec<Cell> = scenario.cells.iter().map(cell).collect();
        Self {
            name: scenario.name,
            title: scenario.title,
            source: scenario.source,
            about: scenario.about,
            claims: scenario.claims,
            exhibits: scenario.plots.into_iter().map(|plot| ScenarioPlot::new(plot, &cells)).collect(),
            cells,
            columns: Vec::new(),
            sweep: None,
            seed: scenario.seed,
            written,
        }
    }
}
