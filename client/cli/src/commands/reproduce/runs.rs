//! Execution of the runs of scenarios, with a progress line.

use experiments::reproduction::{HttpChanges, Plan, Reproduction, ScenarioRun};
use experiments::runs::driver::Nobody;
use experiments::runs::over_http::OverHttp;
use experiments::runs::virtual_time::VirtualTime;

use super::args::ReproduceArgs;
use super::remaining::Key;
use super::watching::Watching;
use crate::runner::interrupt::Interrupt;
use crate::text::progress::Live;

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
