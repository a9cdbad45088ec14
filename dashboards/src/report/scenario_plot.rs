//! Plot that a scenario requests: the data to draw, the runs or cells to draw it from, and the texts and claims that
//! belong to the plot.

use results::DrawnColumn;

use super::adjustments::Adjustments;
use super::cell::Cell;
use super::run::Run;
use super::strategy::Strategy;

#[derive(Clone, Debug)]
pub(super) struct ScenarioPlot {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) shows: String,
    pub(super) note: String,
    /// Indices of the scenario's claims to which the plot belongs.
    pub(super) claims: Vec<usize>,
    /// Name of the drawn plot in the plot registry.
    pub(super) draws: String,
    pub(super) strategies: Vec<Strategy>,
    pub(super) cells: Vec<Cell>,
    pub(super) columns: Vec<DrawnColumn>,
    pub(super) adjustments: Adjustments,
}

impl ScenarioPlot {
    pub(super) fn new(plot: results::Plot, cells: &[Cell]) -> Self {
        let own = plot.cells.iter().flatten().filter_map(|index| cells.get(*index));
        let runs = plot.runs.iter().flatten();
        Self {
            strategies: runs.map(|run| Strategy::alone(run.label.clone(), Run::drawn(run))).collect(),
            cells: own.cloned().collect(),
            columns: plot.columns.clone().unwrap_or_default(),
            adjustments: Adjustments::new(&plot, cells),
            name: plot.name,
            title: plot.title,
            shows: plot.shows,
            note: plot.note,
            claims: plot.claims,
            draws: plot.draw,
        }
    }
}
