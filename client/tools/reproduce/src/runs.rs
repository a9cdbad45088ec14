//! Execution of the runs of scenarios, with a progress line.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::reproduction::{HttpChanges, Plan, Reproduction, ScenarioRun};
use experiments::runs::driver::{Nobody, Outcome, RealRun, Watcher};
use experiments::runs::over_http::OverHttp;
use experiments::runs::virtual_time::VirtualTime;
use loadgen_core::SampleSink;

use crate::args::ReproduceArgs;
use crate::remaining::Key;
use crate::remaining::Remaining;
use shell::runner::interrupt::Interrupt;
use shell::text::progress::Live;

/// Runs every cell (one strategy with one combination of varied values) of every scenario with all its seeds. Returns the number of planned
/// runs of each scenario.
pub(super) fn run_all(
    reproductions: &mut [Reproduction],
    args: &ReproduceArgs,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<usize>> {
    let live = Live::new(!args.output.quiet);
    if !args.http {
        let driver = VirtualTime::on_threads(args.output.threads);
        let plan = Plan::simulated(reproductions);
        let keys: Vec<Key> = plan.runs().map(key).collect();
        let watching = Watching::new(live, keys, Vec::new(), driver.threads);
        plan.drive(reproductions, &driver, interrupt, &watching)?;
        return Ok(planned(&plan, reproductions.len()));
    }
    let driver = OverHttp::new()?;
    let by_name = !args.names.is_empty() || args.scenario.is_some();
    let changes = HttpChanges { repeats: args.repeats, time_scale: args.time_scale, by_name };
    let plan = Plan::over_http(reproductions, changes)?;
    let name = |run: ScenarioRun| {
        let Reproduction { scenario, cells, .. } = &reproductions[run.scenario];
        format!("{}: {}", scenario.name, cells[run.cell].label)
    };
    let names = plan.runs().map(name).collect();
    let mut watching = Watching::new(live, plan.runs().map(key).collect(), names, 1);
    for (run, takes) in plan.expected(interrupt)? {
        watching.think(key(run), takes);
    }
    plan.drive(reproductions, &driver, interrupt, &watching)?;
    Ok(planned(&plan, reproductions.len()))
}

fn planned(plan: &Plan, scenarios: usize) -> Vec<usize> {
    let mut planned = vec![0; scenarios];
    plan.runs().for_each(|run| planned[run.scenario] += 1);
    planned
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
pub(super) struct Watching {
    state: Mutex<State>,
    /// Scenario and cell of each run, by run number.
    keys: Vec<Key>,
    /// Label of each run, by run number. The list is empty in virtual time, because labels are shown only over HTTP.
    names: Vec<String>,
    at_once: usize,
}

struct State {
    live: Live,
    remaining: Remaining,
    begun: Instant,
}

impl Watching {
    pub(super) fn new(live: Live, keys: Vec<Key>, names: Vec<String>, at_once: usize) -> Self {
        let remaining = Remaining::new(keys.iter().copied());
        let state = Mutex::new(State { live, remaining, begun: Instant::now() });
        Self { state, keys, names, at_once }
    }

    pub(super) fn think(&mut self, key: Key, takes: Duration) {
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
        live.line(|| format!("{}   {}", remaining.words(self.at_once, begun.elapsed()), self.names[number]));
    }

    fn on_over(&self, number: usize, outcome: &Outcome) {
        self.state().remaining.over(self.keys[number], outcome.took);
    }

    fn on_tick(&self) {
        let State { live, remaining, .. } = &mut *self.state();
        live.line(|| remaining.words(self.at_once, Duration::ZERO));
    }
}
