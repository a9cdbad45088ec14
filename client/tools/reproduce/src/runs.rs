//! Execution of the runs of scenarios, with a progress line.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use experiments::runs::driver::{Nobody, Outcome, RealRun, Watcher};
use experiments::runs::drivers::driver;
use experiments::runs::virtual_time::VirtualTime;
use loadgen_core::SampleSink;
use shell::runner::interrupt::Interrupt;
use shell::text::figures::thousands;
use shell::text::progress::Live;

use crate::args::ReproduceArgs;
use crate::reproduction::{HttpChanges, Plan, Reproduction, ScenarioRun};

/// Runs every cell (one strategy with one combination of varied values) of every scenario with all its seeds. Returns the number of planned
/// runs of each scenario.
pub(super) fn run_all(
    reproductions: &mut [Reproduction],
    args: &ReproduceArgs,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<usize>> {
    let live = Live::new(!args.output.quiet);
    let (driver, at_once) = driver(!args.http, args.output.threads)?;
    let plan = if args.http {
        let by_name = !args.names.is_empty() || args.scenario.is_some();
        let changes = HttpChanges { repeats: args.repeats, time_scale: args.time_scale, by_name };
        Plan::over_http(reproductions, changes)?
    } else {
        Plan::simulated(reproductions)
    };
    let name = |Reproduction { scenario, cells, .. }: &Reproduction| {
        cells.iter().map(|cell| format!("{}: {}", scenario.name, cell.label)).collect()
    };
    let names = reproductions.iter().map(name).collect();
    let mut watching = Watching::new(live, plan.runs().map(key).collect(), names, at_once);
    if args.http {
        for (run, takes) in plan.expected(interrupt)? {
            watching.think(key(run), takes);
        }
    }
    plan.drive(reproductions, &*driver, interrupt, &watching)?;
    let mut planned = vec![0; reproductions.len()];
    plan.runs().for_each(|run| planned[run.scenario] += 1);
    Ok(planned)
}

fn key(run: ScenarioRun) -> Key {
    (run.scenario, run.cell)
}

/// Repeats one run of every plotted cell (one strategy with one combination of varied values): the run with the median makespan. Keeps the
/// data of the repeated runs that plots need.
pub(super) fn record_all(
    reproductions: &mut [Reproduction],
    args: &ReproduceArgs,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    let driver = VirtualTime::on_threads(args.output.threads);
    Plan::drawn(reproductions).drive(reproductions, &driver, interrupt, &Nobody)
}

/// Progress of the runs of scenarios, printed in one line from time to time.
struct Watching {
    state: Mutex<State>,
    /// Scenario and cell of each run, by run number.
    keys: Vec<Key>,
    /// Label of each cell of each scenario.
    names: Vec<Vec<String>>,
    at_once: usize,
}

struct State {
    live: Live,
    remaining: Remaining,
    begun: Instant,
}

impl Watching {
    fn new(live: Live, keys: Vec<Key>, names: Vec<Vec<String>>, at_once: usize) -> Self {
        let remaining = Remaining::new(keys.iter().copied());
        let state = Mutex::new(State { live, remaining, begun: Instant::now() });
        Self { state, keys, names, at_once }
    }

    fn think(&mut self, key: Key, takes: Duration) {
        self.state().remaining.think(key, takes);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watcher for Watching {
    fn attempts_of(&self, _number: usize, _seed: u64) -> anyhow::Result<Option<SampleSink>> {
        self.state().begun = Instant::now();
        Ok(None)
    }

    fn on_real(&self, number: usize, _run: &RealRun<'_>) {
        let State { live, remaining, begun } = &mut *self.state();
        let (scenario, cell) = self.keys[number];
        let name = &self.names[scenario][cell];
        live.line(|| format!("{}   {name}", remaining.words(self.at_once, begun.elapsed())));
    }

    fn on_over(&self, number: usize, outcome: &Outcome) {
        self.state().remaining.over(self.keys[number], outcome.took);
    }

    fn on_tick(&self) {
        let State { live, remaining, .. } = &mut *self.state();
        live.line(|| remaining.words(self.at_once, Duration::ZERO));
    }
}

/// Position of a cell: the index of its scenario, and the index of the cell in that scenario.
type Key = (usize, usize);

#[derive(Default)]
struct Remaining {
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
    fn new(tasks: impl Iterator<Item = Key>) -> Self {
        let mut remaining = Self::default();
        for key in tasks {
            remaining.cells.entry(key).or_default().left += 1;
            remaining.runs += 1;
        }
        remaining
    }

    fn think(&mut self, key: Key, takes: Duration) {
        self.cells.entry(key).or_default().thought = Some(takes);
    }

    fn over(&mut self, key: Key, took: Duration) {
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
    fn words(&self, at_once: usize, so_far: Duration) -> String {
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
