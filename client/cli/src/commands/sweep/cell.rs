//! One strategy at one point, over seeds.

use experiments::runs::blocks::Measured;
use serde_json::{Map, Value, json};

use super::point::Point;
use crate::args::Score;
use crate::commands::compare::{Standing, standings};
use crate::repeats::figure_to_json;

/// One strategy at one point.
pub(super) struct Cell {
    pub(super) point: usize,
    /// Which of the strategies as typed.
    pub(super) strategy: usize,
    pub(super) standing: Standing,
    /// Its rank at its point, from 1; none for who left ops undone.
    pub(super) rank: Option<usize>,
}

/// Every strategy's cell, in the order in which strategies were typed.
pub(super) fn cells(index: usize, point: &Point, measured: &Measured, by: Score) -> Vec<Cell> {
    let mut cells: Vec<Cell> = standings(&point.settings, measured, by)
        .into_iter()
        .zip(1..)
        .filter_map(|(standing, rank)| {
            let strategy =
                point.settings.iter().position(|one| one.strategy.to_string() == standing.strategy)?;
            Some(Cell { point: index, strategy, rank: standing.is_complete().then_some(rank), standing })
        })
        .collect();
    cells.sort_by_key(|cell| cell.strategy);
    cells
}

impl Cell {
    /// As `loadgen reproduce` writes its cells, so that the same figures are drawn from it. `label` is the strategy as typed.
    pub(super) fn to_json(&self, label: &str, at: &Value) -> Value {
        let figures: Map<String, Value> = self
            .standing
            .figures
            .iter()
            .map(|(path, figure)| ((*path).to_owned(), figure_to_json(figure)))
            .collect();
        json!({
            "experiment": "sweep", "label": label, "strategy": self.standing.strategy, "at": at,
            "complete": self.standing.is_complete(), "incomplete_because": self.standing.incomplete,
            "rank": self.rank, "figures": figures,
        })
    }
}
