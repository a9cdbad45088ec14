//! `loadgen parity`: executes the same runs in virtual time and over HTTP, and compares them figure by figure.

pub(crate) mod args;
mod pairing;

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use experiments::Experiment;
use experiments::evaluation::agreement::{Agreement, agreements};
use experiments::record::server_model;
use experiments::runs::driver::{Driver, Nobody, RealRun, Task, Tasks, Watcher};
use experiments::runs::one_run::Finished;
use experiments::runs::over_http::OverHttp;
use experiments::runs::stop::Stop;
use experiments::runs::virtual_time::VirtualTime;
use experiments::servers::server_under_test::ServerUnderTest;
use results::{Parity, RunResult, SchemaVersion, is_about_machine};
use vocabulary::TimeScale;

use crate::exit::Exit;
use crate::files::exporter::Layout;
use crate::files::exports::Exports;
use crate::runner::experiment::workload_text;
use crate::runner::interrupt::Interrupt;
use crate::text::figures::short;
use crate::text::progress::Progress;
use crate::text::stderr::to_stderr;
use crate::text::styled::to_people;
use crate::text::table::{Column, LongNames, Table};
use crate::text::wrapping::wrapped;
use args::ParityArgs;
use pairing::Pairing;

/// Slowest time scale, in real seconds per second of the experiment. If the machine could not keep up, the run is repeated more slowly, up
/// to this scale.
const SLOWEST: f64 = 1.0;

/// Number of HTTP runs if the first one disagrees with the simulation. Their median is then compared with the simulation. A stall of a
/// shared machine does not recur, but a real difference from the simulation does.
const RUNS_IN_DOUBT: usize = 3;

pub(crate) fn run(args: &ParityArgs) -> anyhow::Result<ExitCode> {
    let mut exports = Exports::prepare(&args.exports.asked, &Layout::default(), &[])?;
    let pairings = if let Some(name) = &args.scenario {
        pairing::of_scenario(name, args.time_scale)?
    } else {
        let draw = args.draw.unwrap_or_else(|| RandomState::new().hash_one(args.seed) % 1_000_000);
        pairing::at_seed_scale(draw, args.time_scale.map_or_else(|| scale(0.2), Ok)?)?
    };
    let interrupt = Interrupt::listen()?;
    exports.begin()?;
    compare_all(args, &pairings, exports, &interrupt)
}

fn compare_all(
    args: &ParityArgs,
    pairings: &[Pairing],
    exports: Exports,
    interrupt: &Interrupt,
) -> anyhow::Result<ExitCode> {
    let over_http = OverHttp::new()?;
    let progress = Mutex::new(Progress::new(!args.output.quiet));
    let mut document = Vec::new();
    let (mut apart, mut too_slow) = (0, false);
    for (done, pairing) in pairings.iter().enumerate() {
        let simulated = simulated(pairing, args, interrupt)?;
        if interrupt.exit().is_some() {
            break;
        }
        let say = |words: &str| format!("{} of {}: {}{words}", done + 1, pairings.len(), pairing.name);
        let tell = |words: &str| {
            if !args.output.quiet {
                to_stderr(&say(words));
            }
        };
        let mut experiment = pairing.experiment.clone();
        let mut reals: Vec<Finished> = Vec::new();
        let mut figures = Vec::new();
        while reals.len() < RUNS_IN_DOUBT {
            let server_under_test = ServerUnderTest::Own(Box::new(pairing.server.clone()));
            let watcher = Saying { progress: &progress, say: || say("") };
            let real =
                runs((&experiment, &server_under_test), (args.seed, 1), &over_http, interrupt, &watcher)?
                    .pop();
            let Some(real) = real.filter(|_| interrupt.exit().is_none()) else { break };
            let slower = experiment.time_scale.factor() * 2.0;
            if real.bottleneck && slower <= SLOWEST && args.time_scale.is_none() {
                // A run in which the load generator was the bottleneck is discarded, because it measures the machine and not the HTTP
                // driver.
                reals.clear();
                experiment.time_scale = scale(slower)?;
                tell(&format!(
                    "; the generator was the bottleneck, so the run is repeated at time scale {slower}\n"
                ));
                continue;
            }
            reals.push(real);
            let results: Vec<_> = reals.iter().map(|real| &real.result).collect();
            figures = agreements(experiment.time_scale, &simulated, &results);
            if reals.len() == 1 {
                if figures.iter().all(Agreement::holds) {
                    break;
                }
                tell("; some figures differ from the simulation, so the median of three runs decides\n");
            }
        }
        if interrupt.exit().is_some() {
            break;
        }
        let bottleneck = reals.iter().any(|real| real.bottleneck);
        apart += figures.iter().filter(|figure| !figure.holds()).count();
        too_slow |= bottleneck;
        if !args.output.quiet {
            let warnings = reals.iter().flat_map(|real| &real.result.warnings);
            let warnings: BTreeSet<_> =
                warnings.map(|warning| (is_about_machine(warning), warning)).collect();
            let text = table(pairing, &figures, &warnings);
            to_people(&text, exports.claim_stdout())?;
        }
        document.push(record(pairing, &figures, bottleneck, reals.len()));
    }
    if let Some(exit) = interrupt.exit() {
        return Ok(exit.into());
    }
    exports.finish(&results::sorted(&Parity {
        schema_version: SchemaVersion::default(),
        pairings: document,
    })?)?;
    if !args.output.quiet {
        let words = match apart {
            0 => "\nboth drivers agree\n".to_owned(),
            some => format!("\n{some} figures lie outside the band of the simulated runs\n"),
        };
        let advice =
            "the machine was too slow for some of the real runs; try again with a larger `--time-scale`\n";
        let words = if too_slow { format!("{words}{advice}") } else { words };
        to_stderr(&words);
    }
    Ok(if apart == 0 { ExitCode::SUCCESS } else { Exit::Unmet.into() })
}

fn scale(factor: f64) -> anyhow::Result<TimeScale> {
    TimeScale::parse(&factor.to_string()).map_err(|error| anyhow::anyhow!("{error}"))
}

fn simulated(pairing: &Pairing, args: &ParityArgs, stop: &dyn Stop) -> anyhow::Result<Vec<RunResult>> {
    let server_under_test = ServerUnderTest::Own(Box::new(pairing.server.clone()));
    let driver = VirtualTime::on_threads(args.output.threads);
    let runs =
        runs((&pairing.experiment, &server_under_test), (args.seed, args.repeats), &driver, stop, &Nobody)?;
    Ok(runs.into_iter().map(|run| run.result).collect())
}

fn runs(
    (experiment, server_under_test): (&Experiment, &ServerUnderTest),
    (first_seed, repeats): (u64, u32),
    driver: &dyn Driver,
    stop: &dyn Stop,
    watcher: &dyn Watcher,
) -> anyhow::Result<Vec<Finished>> {
    let tasks = Tasks::new(repeats as usize, |repeat| {
        let seed = first_seed.wrapping_add(repeat as u64);
        Task { experiment, server_under_test, seed, runs_of_file: experiment.repeats }
    });
    let mut finished = Vec::new();
    driver.drive(&tasks, stop, watcher, &mut |number, over| {
        over.finished.sound(tasks.task(number).seed)?;
        finished.push(over.finished);
        Ok(())
    })?;
    Ok(finished)
}

struct Saying<'a, F> {
    progress: &'a Mutex<Progress>,
    say: F,
}

impl<F: Fn() -> String + Sync> Watcher for Saying<'_, F> {
    fn on_real(&self, _number: usize, _run: &RealRun<'_>) {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).line(&self.say);
    }
}

fn table(pairing: &Pairing, agreements: &[Agreement], warnings: &BTreeSet<(bool, &String)>) -> String {
    let mut table = Table::new(24, [11, 9, 11, 9, 9].map(Column::Right), LongNames::Shift);
    table.line("");
    table.line(&format!("{} · {}", pairing.name, workload_text(&pairing.experiment)));
    table.line(&pairing.server.describe());
    table.titles("", ["simulated", "± sd", "http", "off", "band"]);
    for agreement in agreements {
        let Agreement { figure, simulated, real, band } = agreement;
        let figures =
            [simulated.mean, simulated.deviation.unwrap_or(0.0), *real, real - simulated.mean, *band];
        table.row(if agreement.holds() { "  " } else { "! " }, figure, &figures.map(short));
    }
    for (_, warning) in warnings {
        table.line(&wrapped(warning, "warning: ", "         "));
    }
    table.into_text()
}

fn record(pairing: &Pairing, agreements: &[Agreement], bottleneck: bool, runs: usize) -> results::Pairing {
    results::Pairing {
        name: pairing.name.clone(),
        strategy: pairing.experiment.strategy.to_string(),
        workload: workload_text(&pairing.experiment),
        server: server_model(&pairing.server),
        figures: agreements.iter().map(Agreement::record).collect(),
        bottleneck,
        http_runs: runs as u64,
    }
}

#[cfg(test)]
mod tests;
