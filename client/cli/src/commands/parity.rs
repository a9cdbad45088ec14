//! `loadgen parity`: the same runs through both drivers, figure by figure.

pub(crate) mod args;
mod course;
mod pairing;

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use experiments::Experiment;
use experiments::record::server_model;
use experiments::runs::driver::{Driver, Nobody, RealRun, Task, Tasks, Watcher};
use experiments::runs::one_run::Finished;
use experiments::runs::over_http::OverHttp;
use experiments::runs::stop::Stop;
use experiments::runs::virtual_time::VirtualTime;
use experiments::servers::opponent::Opponent;
use results::{Figure, Parity, ParityFigure, RunResult, SchemaVersion};
use statistics::{Level, Method, Summary, percentile};
use vocabulary::TimeScale;

use crate::exit::Exit;
use crate::experiment::workload_text;
use crate::files::exporter::Layout;
use crate::files::exports::Exports;
use crate::files::output::to_stdout;
use crate::interrupt::Interrupt;
use crate::text::figures::short;
use crate::text::progress::Progress;
use crate::text::stderr::to_stderr;
use crate::text::table::{Column, LongNames, Table};
use crate::text::wrapping::wrapped;
use args::ParityArgs;
use pairing::Pairing;

/// What timers and threads may add, as a share of the mean.
const TOLERANCE: f64 = 0.04;
/// How many standard deviations of the seeds a real run may lie off.
const DEVIATIONS: f64 = 4.0;
/// The least that latencies may differ by, in milliseconds of real time: timers are not finer.
const TIMER_MS: f64 = 2.0;

/// The slowest time scale at which a run is tried again because the machine could not keep up.
const SLOWEST: f64 = 1.0;

/// Real runs that are done when the first one disagrees, and judged by their median: a stall of a shared machine is not
/// there again, a difference between the drivers is.
const RUNS_IN_DOUBT: usize = 3;

/// A figure that both drivers must agree on.
struct Compared {
    figure: &'static str,
    simulated: Summary,
    /// The median over real runs.
    real: f64,
    /// The most that they may differ by.
    band: f64,
}

impl Compared {
    fn agrees(&self) -> bool {
        (self.real - self.simulated.mean).abs() <= self.band
    }
}

pub(crate) fn run(args: &ParityArgs) -> anyhow::Result<ExitCode> {
    let mut exports = Exports::prepare(&args.exports.asked, &Layout::default(), None)?;
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

/// Runs everything through both drivers, tells how they compare, and whether they agree.
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
        let mut compared = Vec::new();
        while reals.len() < RUNS_IN_DOUBT {
            let opponent = Opponent::Own(Box::new(pairing.server.clone()));
            let watcher = Saying { progress: &progress, say: || say("") };
            let real = runs((&experiment, &opponent), (args.seed, 1), &over_http, interrupt, &watcher)?.pop();
            let Some(real) = real.filter(|_| interrupt.exit().is_none()) else { break };
            let slower = experiment.time_scale.factor() * 2.0;
            // Who chose a time scale gets it.
            if real.bottleneck && slower <= SLOWEST && args.time_scale.is_none() {
                // Such a run tells about the machine, not about the drivers.
                reals.clear();
                experiment.time_scale = scale(slower)?;
                tell(&format!("; the generator was the bottleneck: once more at time scale {slower}\n"));
                continue;
            }
            reals.push(real);
            let results: Vec<_> = reals.iter().map(|real| &real.result).collect();
            compared = compare(experiment.time_scale, &simulated, &results);
            if reals.len() == 1 {
                if compared.iter().all(Compared::agrees) {
                    break;
                }
                tell("; the figures are off: the median of three runs decides\n");
            }
        }
        if interrupt.exit().is_some() {
            break;
        }
        let bottleneck = reals.iter().any(|real| real.bottleneck);
        apart += compared.iter().filter(|figure| !figure.agrees()).count();
        too_slow |= bottleneck;
        if !args.output.quiet {
            let warnings = reals.iter().flat_map(|real| &real.result.warnings);
            let text = table(pairing, &compared, &warnings.collect::<BTreeSet<_>>());
            if exports.take_stdout() {
                to_stderr(&text);
            } else {
                to_stdout(text.as_bytes())?;
            }
        }
        document.push(record(pairing, &compared, bottleneck, reals.len()));
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
            some => format!("\n{some} figures lie outside of their bands\n"),
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

/// What the seeds come to in virtual time.
fn simulated(pairing: &Pairing, args: &ParityArgs, stop: &dyn Stop) -> anyhow::Result<Vec<RunResult>> {
    let opponent = Opponent::Own(Box::new(pairing.server.clone()));
    let driver = VirtualTime::on_threads(args.output.threads);
    let runs = runs((&pairing.experiment, &opponent), (args.seed, args.repeats), &driver, stop, &Nobody)?;
    Ok(runs.into_iter().map(|run| run.result).collect())
}

/// Runs one experiment, so often, from the first seed on; counts that do not add up are an error.
fn runs(
    (experiment, opponent): (&Experiment, &Opponent),
    (first_seed, repeats): (u64, u32),
    driver: &dyn Driver,
    stop: &dyn Stop,
    watcher: &dyn Watcher,
) -> anyhow::Result<Vec<Finished>> {
    let tasks = Tasks::new(repeats as usize, |repeat| {
        let seed = first_seed.wrapping_add(repeat as u64);
        Task { experiment, opponent, seed, runs_of_file: experiment.repeats }
    });
    let mut finished = Vec::new();
    driver.drive(&tasks, stop, watcher, &mut |number, over| {
        over.finished.sound(tasks.task(number).seed)?;
        finished.push(over.finished);
        Ok(())
    })?;
    Ok(finished)
}

/// A line now and then while runs over HTTP go on.
struct Saying<'a, F> {
    progress: &'a Mutex<Progress>,
    say: F,
}

impl<F: Fn() -> String + Sync> Watcher for Saying<'_, F> {
    fn on_real(&self, _number: usize, _run: &RealRun<'_>) {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).line(&self.say);
    }
}

/// What is compared, and its path; `true` for latencies, which no timer measures exactly.
const COMPARED: &[(&str, &str, bool)] = &[
    ("ops succeeded", "ops.succeeded", false),
    ("attempts", "attempts.total", false),
    ("makespan s", "makespan_s", false),
    ("op p50 ms", "op_latency_ms.p50", true),
    ("op p95 ms", "op_latency_ms.p95", true),
    ("op p99 ms", "op_latency_ms.p99", true),
    ("attempt p50 ms", "attempt_latency_ms.p50", true),
];

fn compare(time_scale: TimeScale, simulated: &[RunResult], reals: &[&RunResult]) -> Vec<Compared> {
    let mut compared = Vec::new();
    let mut push = |name: &'static str, of: &dyn Fn(&RunResult) -> Option<f64>, least: f64| {
        let values: Vec<f64> = simulated.iter().filter_map(of).collect();
        let real = median(reals.iter().map(|run| of(run)));
        if let (Some(real), Some(simulated)) = (real, Summary::of(&values, Level::P95, Method::StudentT)) {
            let spread = DEVIATIONS * simulated.deviation.unwrap_or(0.0);
            let band = spread + (TOLERANCE * simulated.mean.abs()).max(least);
            compared.push(Compared { figure: name, simulated, real, band });
        }
    };
    for (name, path, latency) in COMPARED {
        let least = if *latency { TIMER_MS / time_scale.factor() } else { 0.0 };
        push(name, &|run| Figure::find(path)?.of(run), least);
    }
    // No figure of a result: it is of seconds, and not of time.
    push("mean window", &|run| course::mean_window(&run.series), 0.0);
    // The course of the window over time: how far a real run lies off the mean course, against how far seeds do.
    let courses: Vec<_> = simulated.iter().map(|run| course::windows(&run.series)).collect();
    if let Some(mean) = course::mean(&courses) {
        let off = |windows: &course::Windows| course::distance(windows, &mean);
        let values: Vec<f64> = courses.iter().filter_map(off).collect();
        let real = median(reals.iter().map(|run| off(&course::windows(&run.series))));
        if let (Some(real), Some(simulated)) = (real, Summary::of(&values, Level::P95, Method::StudentT)) {
            let band = DEVIATIONS * simulated.deviation.unwrap_or(0.0) + 2.0 * TOLERANCE;
            compared.push(Compared { figure: "window off its course", simulated, real, band });
        }
    }
    compared
}

/// Nothing when one is missing.
fn median(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let mut values = values.collect::<Option<Vec<f64>>>()?;
    values.sort_by(f64::total_cmp);
    percentile(&values, 0.5)
}

fn table(pairing: &Pairing, compared: &[Compared], warnings: &BTreeSet<&String>) -> String {
    let mut table = Table::new(24, [11, 9, 11, 9, 9].map(Column::Right), LongNames::Shift);
    table.line("");
    table.line(&format!("{} · {}", pairing.name, workload_text(&pairing.experiment)));
    table.line(&pairing.server.describe());
    table.titles("", ["simulated", "± sd", "http", "off", "band"]);
    for figure in compared {
        let Compared { simulated, real, band, .. } = figure;
        let figures =
            [simulated.mean, simulated.deviation.unwrap_or(0.0), *real, real - simulated.mean, *band];
        table.row(if figure.agrees() { "  " } else { "! " }, figure.figure, &figures.map(short));
    }
    for warning in warnings {
        table.line(&wrapped(warning, "warning: ", "         "));
    }
    table.into_text()
}

fn record(pairing: &Pairing, compared: &[Compared], bottleneck: bool, runs: usize) -> results::Pairing {
    let figure = |compared: &Compared| ParityFigure {
        figure: compared.figure.to_owned(),
        simulated: (&compared.simulated).into(),
        http: compared.real,
        band: compared.band,
        agrees: compared.agrees(),
    };
    results::Pairing {
        name: pairing.name.clone(),
        strategy: pairing.experiment.strategy.to_string(),
        workload: workload_text(&pairing.experiment),
        server: server_model(&pairing.server),
        figures: compared.iter().map(figure).collect(),
        bottleneck,
        http_runs: runs as u64,
    }
}

#[cfg(test)]
mod tests;
