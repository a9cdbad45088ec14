//! A plot that a scenario asks for: what is drawn, from which runs or cells, and the words and claims that it belongs to.

use super::adjustments::Adjustments;
use super::cell::{Cell, Column};
use super::run::Run;
use super::strategy::Strategy;

/// A plot with what it was made for.
#[derive(Clone, Debug)]
pub(super) struct Exhibit {
    /// By which it can be asked for alone.
    pub(super) name: String,
    pub(super) title: String,
    /// What the source says that it shows.
    pub(super) shows: String,
    /// What else a reader should know.
    pub(super) note: String,
    /// Which claims it belongs to, by their number.
    pub(super) claims: Vec<usize>,
    /// The registry's name of what is drawn.
    pub(super) draws: String,
    /// From which runs.
    pub(super) strategies: Vec<Strategy>,
    /// From which cells.
    pub(super) cells: Vec<Cell>,
    /// Which columns of the cells, where that was chosen.
    pub(super) columns: Vec<Column>,
    pub(super) adjustments: Adjustments,
}

impl Exhibit {
    /// What a scenario with these cells asks for.
    pub(super) fn of(plot: results::Plot, cells: &[Cell]) -> Self {
        let own = plot.cells.iter().flatten().filter_map(|index| cells.get(*index));
        let runs = plot.runs.iter().flatten();
        Self {
            strategies: runs.map(|run| Strategy::alone(run.label.clone(), Run::drawn(run))).collect(),
            cells: own.cloned().collect(),
            columns: plot.columns.iter().flatten().map(Column::of_drawn).collect(),
            adjustments: Adjustments::of(&plot, cells),
            name: plot.name,
            title: plot.title,
            shows: plot.shows,
            note: plot.note,
            claims: plot.claims,
            draws: plot.draw,
        }
    }
}
