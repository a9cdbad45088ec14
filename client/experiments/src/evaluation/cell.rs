//! Result of one strategy at one point of a sweep, over all seeds.

use results::{At, RankedStrategy, Score, SweepCell, figures_over_runs};

use super::standings::standings;
use crate::runs::blocks::Measured;
use crate::runs::point::Point;

pub struct Cell {
    pub point: usize,
    /// Number of runs, one for each seed.
    pub runs: usize,
    /// Index of the strategy in the order of the command line.
    pub strategy: usize,
    pub standing: RankedStrategy,
    /// Rank among the strategies at the same point, from 1. Tied strategies have equal ranks. The rank is `None` if the strategy left ops
    /// undone.
    pub rank: Option<u64>,
}

pub fn cells(index: usize, point: &Point, measured: &Measured, by: Score) -> Vec<Cell> {
    let mut cells: Vec<Cell> = standings(&point.experiments, measured, by)
        .into_iter()
        .filter_map(|standing| {
            let named = |strategy: String| strategy == standing.strategy;
            let strategy =
                point.experiments.iter().position(|experiment| named(experiment.strategy.to_string()))?;
            let rank = standing.rank.filter(|_| standing.is_complete());
            Some(Cell { point: index, runs: measured.blocks(), strategy, rank, standing })
        })
        .collect();
    cells.sort_by_key(|cell| cell.strategy);
    cells
}

impl Cell {
    /// Returns the record of the cell in the document format of `loadgen reproduce`. Plots that were made for this command can therefore
    /// show cells of a sweep. `label` is the strategy as given on the command line.
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
