//! Series of runs on a common grid of time: buckets differ in width from run to run.

use super::number::percentile;
use super::run::{Point, Run};
use super::strategy::Strategy;
use super::ticks::nice_step;

/// A band needs at least this many runs.
const FEWEST_RUNS: usize = 5;

/// More cells would show the noise of single events.
const MOST_CELLS: f64 = 80.0;

/// Equal cells of time from zero on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    cell_s: f64,
    cells: usize,
}

impl Grid {
    /// A grid that holds all runs, as fine as is calm to look at and as the widest bucket allows.
    pub(super) fn of<'a>(strategies: impl Iterator<Item = &'a Strategy>) -> Self {
        let (mut end_s, mut width_s) = (0.01_f64, 0.01_f64);
        for run in strategies.flat_map(|strategy| &strategy.runs) {
            end_s = end_s.max(run.end_s());
            width_s = width_s.max(run.width_s());
        }
        let step_s = nice_step((end_s / MOST_CELLS).max(width_s));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most `MOST_CELLS` + 1"
        )]
        let cells = (end_s / step_s).ceil() as usize;
        Self { cell_s: step_s, cells }
    }

    /// The middle of a cell.
    fn middle_s(self, cell: usize) -> f64 {
        (cell as f64 + 0.5) * self.cell_s
    }

    /// Counts per cell; those of a bucket are spread evenly over its width.
    fn counts(self, run: &Run, count: fn(&Point) -> f64) -> Vec<f64> {
        let mut cells = vec![0.0; self.cells];
        let width_s = run.width_s();
        for point in &run.series {
            let counted = count(point);
            let (from, to) = (point.t_s / self.cell_s, (point.t_s + width_s) / self.cell_s);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
            let (first, last) = (from.floor() as usize, (to.ceil() as usize).min(self.cells));
            for (cell, sum) in cells.iter_mut().enumerate().take(last).skip(first) {
                let overlap = to.min((cell + 1) as f64) - from.max(cell as f64);
                *sum += counted * (overlap / (to - from)).clamp(0.0, 1.0);
            }
        }
        cells
    }

    /// Events per second: the median run, and where nearly all runs lie. A run that is over has none.
    pub(super) fn rates(self, strategy: &Strategy, count: fn(&Point) -> f64) -> Course {
        self.course(strategy, |run| self.counts(run, count).iter().map(|sum| sum / self.cell_s).collect())
    }

    /// Events so far, in the same way.
    pub(super) fn totals(self, strategy: &Strategy, count: fn(&Point) -> f64) -> Course {
        let running = |run: &Run| {
            let add = |total: &mut f64, sum: f64| {
                *total += sum;
                Some(*total)
            };
            self.counts(run, count).into_iter().scan(0.0, add).collect()
        };
        self.course(strategy, running)
    }

    fn course(self, strategy: &Strategy, cells: impl Fn(&Run) -> Vec<f64>) -> Course {
        let end_s = strategy.median().end_s() + self.cell_s / 2.0;
        let at = |(cell, value): (usize, f64)| (self.middle_s(cell), value);
        let points = cells(strategy.median()).into_iter().enumerate().map(at);
        let points = points.take_while(|(middle_s, _)| *middle_s <= end_s).collect();
        if strategy.runs.len() < FEWEST_RUNS {
            return Course { points, band: Vec::new() };
        }
        let runs: Vec<Vec<f64>> = strategy.runs.iter().map(cells).collect();
        let last_s = strategy.runs.iter().map(Run::end_s).fold(0.0, f64::max) + self.cell_s / 2.0;
        let band = (0..self.cells).map(|cell| {
            let mut values: Vec<f64> = runs.iter().map(|cells| cells[cell]).collect();
            values.sort_by(f64::total_cmp);
            let end = |share| percentile(&values, share).unwrap_or(0.0);
            (self.middle_s(cell), end(0.05), end(0.95))
        });
        Course { points, band: band.take_while(|(middle_s, ..)| *middle_s <= last_s).collect() }
    }
}

/// The median run's course, and the 5th to 95th percentile of all runs around it.
#[derive(Clone, Debug)]
pub(super) struct Course {
    pub(super) points: Vec<(f64, f64)>,
    pub(super) band: Vec<(f64, f64, f64)>,
}
