//! One strategy at one point of a sweep, over seeds.

use results::{At, Score, Standing, SweepCell, figures_over_runs};

use super::standings::standings;
use crate::runs::blocks::Measured;
use crate::runs::point::Point;

/// One strategy at one point.
pub struct Cell {
    /// Which of the points.
    pub point: usize,
    /// Which of the strategies as typed.
    pub strategy: usize,
    /// Where it stands there.
    pub standing: Standing,
    /// Its rank at its point, from 1 and the same for equals; none for who left ops undone.
    pub rank: Option<u64>,
}

/// Every strategy's cell at the point with this index, in the order in which strategies were typed.
pub fn cells(index: usize, point: &Point, measured: &Measured, by: Score) -> Vec<Cell> {
    let mut cells: Vec<Cell> = standings(&point.experiments, measured, by)
        .into_iter()
        .filter_map(|standing| {
            let named = |strategy: String| strategy == standing.strategy;
            let strategy =
                point.experiments.iter().position(|experiment| named(experiment.strategy.to_string()))?;
            let rank = standing.rank.filter(|_| standing.is_complete());
            Some(Cell { point: index, strategy, rank, standing })
        })
        .collect();
    cells.sort_by_key(|cell| cell.strategy);
    cells
}

impl Cell {
    /// As `loadgen reproduce` writes its cells, so that the same figures are drawn from it. `label` is the strategy as typed.
    pub fn record(&self, label: &str, at: At) -> SweepCell {
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
