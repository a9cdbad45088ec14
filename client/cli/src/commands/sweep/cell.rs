//! One strategy at one point, over seeds.

use experiments::runs::blocks::Measured;
use results::{At, Score, Standing, SweepCell, figures_over_runs};

use super::point::Point;
use crate::commands::compare::standings;

/// One strategy at one point.
pub(super) struct Cell {
    pub(super) point: usize,
    /// Which of the strategies as typed.
    pub(super) strategy: usize,
    pub(super) standing: Standing,
    /// Its rank at its point, from 1; none for who left ops undone.
    pub(super) rank: Option<u64>,
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
    pub(super) fn record(&self, label: &str, at: At) -> SweepCell {
        SweepCell {
            experiment: "sweep".to_owned(),
            label: label.to_owned(),
            strategy: self.standing.strategy.clone(),
            at,
            complete: self.standing.is_complete(),
            incomplete_because: self.standing.incomplete.clone(),
            rank: self.rank,
            figures: figures_over_runs(&self.standing.figures),
        }
    }
}
