//! Estimate of the remaining time of `loadgen reproduce`. A cell is one strategy with one combination of varied values. Runs of different
//! cells differ widely in duration.

use std::collections::BTreeMap;
use std::time::Duration;

use shell::text::figures::thousands;

/// Position of a cell: the index of its scenario, and the index of the cell in that scenario.
pub(super) type Key = (usize, usize);

#[derive(Default)]
pub(super) struct Remaining {
    cells: BTreeMap<Key, Cost>,
    runs: u64,
    done: u64,
}

#[derive(Default)]
struct Cost {
    left: u64,
    done: u64,
    took: Duration,
    /// Expected duration of a run of this cell, used until one run of the cell is finished.
    thought: Option<Duration>,
}

impl Remaining {
    pub(super) fn new(tasks: impl Iterator<Item = Key>) -> Self {
        let mut remaining = Self::default();
        for key in tasks {
            remaining.cells.entry(key).or_default().left += 1;
            remaining.runs += 1;
        }
        remaining
    }

    pub(super) fn think(&mut self, key: Key, takes: Duration) {
        self.cells.entry(key).or_default().thought = Some(takes);
    }

    pub(super) fn over(&mut self, key: Key, took: Duration) {
        let cost = self.cells.entry(key).or_default();
        cost.left = cost.left.saturating_sub(1);
        cost.done += 1;
        cost.took += took;
        self.done += 1;
    }

    /// Returns the estimated total duration of the remaining runs. Each run is assumed to take as long as the mean finished run of its
    /// cell. A cell without finished runs uses its expected duration. If no duration is expected, it uses the mean of all finished runs.
    fn left(&self) -> Option<Duration> {
        let took: Duration = self.cells.values().map(|cost| cost.took).sum();
        let usual = (self.done > 0).then(|| took.as_secs_f64() / self.done as f64);
        let left = self.cells.values().filter(|cost| cost.left > 0).map(|cost| {
            let each = match (cost.done, cost.thought) {
                (0, thought) => thought.map(|thought| thought.as_secs_f64()).or(usual)?,
                (done, _) => cost.took.as_secs_f64() / done as f64,
            };
            Some(each * cost.left as f64)
        });
        left.sum::<Option<f64>>().map(Duration::from_secs_f64)
    }

    /// Formats the progress: the number of finished runs and the estimated time left. `at_once` is the number of concurrent runs, and
    /// `so_far` the elapsed time of the current run.
    pub(super) fn words(&self, at_once: usize, so_far: Duration) -> String {
        let runs = format!("{} of {} runs", thousands(self.done), thousands(self.runs));
        match self.left() {
            Some(left) => {
                let left_s = left.saturating_sub(so_far).as_secs_f64() / at_once.max(1) as f64;
                let left = if left_s < 120.0 {
                    format!("{:.0} s", left_s.max(1.0))
                } else {
                    format!("{:.0} min", left_s / 60.0)
                };
                format!("{runs}   about {left} left")
            }
            None => runs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHEAP: Key = (0, 0);
    const DEAR: Key = (0, 1);

    #[test]
    fn expensive_cells_weigh_more_so_the_estimate_never_rises() {
        let tasks = (0..100).flat_map(|_| [CHEAP, DEAR]).chain((0..300).map(|_| CHEAP));
        let mut remaining = Remaining::new(tasks.clone());
        assert_eq!(remaining.words(2, Duration::ZERO), "0 of 500 runs");
        let mut before = f64::INFINITY;
        for (number, key) in tasks.enumerate() {
            remaining.over(key, Duration::from_millis(if key == CHEAP { 1 } else { 100 }));
            let left_s = remaining.left().unwrap().as_secs_f64();
            assert!(number == 0 || left_s <= before + 1e-9, "run {number}: {left_s} after {before}");
            before = if number == 0 { f64::INFINITY } else { left_s };
        }
        assert!(before.abs() < 1e-9);
    }

    #[test]
    fn before_the_first_run_of_a_cell_ends_its_estimate_counts() {
        let mut remaining = Remaining::new([CHEAP, DEAR].into_iter());
        remaining.think(CHEAP, Duration::from_secs(2));
        remaining.think(DEAR, Duration::from_secs(18));
        assert_eq!(remaining.words(1, Duration::ZERO), "0 of 2 runs   about 20 s left");
        remaining.over(CHEAP, Duration::from_secs(3));
        assert_eq!(remaining.words(1, Duration::from_secs(8)), "1 of 2 runs   about 10 s left");
    }
}
