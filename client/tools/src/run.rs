//! `loadgen` without a subcommand: executes one run, or several with `--repeats`.

mod kept;
mod plan;
mod report;

use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use experiments::Experiment;
use experiments::runs::driver::{Driver, Outcome, RealRun, Watcher};
use experiments::runs::one_run::Finished;
use experiments::servers::server_under_test::ServerUnderTest;
use kept::Kept;
use loadgen_core::{Run, SampleSink};
use plan::{described, tasks};
use report::Report;
use results::{ConfigRecord, Figure, Incomplete, RunFigures, ShardRecord};
use shell::files::exporters::Samples;
use shell::files::output::to_stdout;
use shell::screen::live_figures::LiveFigures;
use shell::screen::watch::{Watch, watch};
use shell::text::labelled;
use shell::text::progress::Progress;
use shell::text::summary::{self, OverSeeds};
use shell::{Checks, Exports, Failures, Interrupt, MergeArgs, Merging, RunArgs, locked, shards};

pub(crate) const EXAMPLES: &str = r"Examples:
  loadgen --simulate --strategy aimd --ops 2000
      One run in virtual time.
  loadgen compare --simulate --strategies full-jitter,aimd --repeats 20
      Which one is faster, and by how much?
  loadgen http://127.0.0.1:8080/ --rate 20/s --duration 1m
      A run against any HTTP or HTTPS server.
  loadgen --strategy aimd --ops 2000 --time-scale 0.2
      One run over HTTP against a mockserver, in a fifth of the time. Without
      --target it uses the one on the default port, or starts one.
  loadgen --strategy aimd:beta=0.5+retry-budget:ratio=0.1 --max-busy 20 \
      --json result.json
      Parts are combined with `+`; server flags configure the embedded server.
  loadgen --strategy none --in-flight 50 --ops 100000 --no-tui
      Closed loop: 50 ops at once.
  loadgen --simulate --strategy aimd --repeats 20 \
      --fail-if 'amplification > 1.2' --fail-if 'op_latency_ms.p99.max > 30000'
      For CI: exits with 99 if a condition holds.
  loadgen --strategy aimd --rate 50/s --duration 1m --progress ndjson \
      --json result.json | jq .attempts_sent
      Live figures for programs, a line a second.

With `-` as a file, the summary goes to stderr.

Exit codes: 0 done; 1 no op succeeded, ops failed for good (3xx, 4xx), or more than 10 % of them ended with a failure that was not configured (timeout, transport, 5xx, dead target); 2 bad usage; 69 target unreachable; 70 accounting mismatch; 74 output cannot be written; 99 a check failed; 129, 130 and 143 interrupted.

The first Ctrl-C stops the run and keeps what was measured, the second does not wait for attempts in flight, the third ends the program at once.";

struct Plan<'a> {
    experiment: Experiment,
    server_under_test: ServerUnderTest,
    driver: Box<dyn Driver>,
    exports: Exports,
    checks: Checks<'a>,
    interrupt: Interrupt,
    announcement: String,
    warnings: Vec<String>,
    /// True if the runs come from merged documents. An error may discard merged runs, because the documents still contain them.
    is_past: bool,
    incomplete: Option<Incomplete>,
    shard: Option<ShardRecord>,
}

struct Runs {
    /// Figures of the complete runs. If no run is complete, figures of the interrupted run.
    figures: RunFigures,
    over_seeds: OverSeeds,
    short: Failures,
    /// Number of exported runs, some of which may have been interrupted.
    count: usize,
    only: Option<Finished>,
    /// True if the accounting check found no mismatch in any run, neither within the client nor between client and server.
    conserved: bool,
    /// Cause of the interruption of the first interrupted run.
    interrupted: Option<String>,
}

pub(crate) fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    if args.output.print_config {
        return print_config(&described(args)?);
    }
    conduct(args, Plan::new(args)?)
}

pub(crate) fn merged(merging: Merging<'_>) -> anyhow::Result<ExitCode> {
    let mut args = RunArgs::defaults();
    args.simulate = merging.is_simulated();
    let MergeArgs { checks, report, explain, .. } = merging.args;
    (args.output.quiet, args.output.threads) = (report.quiet, report.threads);
    args.output.screen.no_tui = true;
    args.explain = *explain;
    args.output.exports.asked = merging.args.asked();
    args.checks = checks.clone();
    conduct(&args, Plan::merged(&args, merging)?)
}

fn conduct(args: &RunArgs, plan: Plan<'_>) -> anyhow::Result<ExitCode> {
    let stdout_is_data = plan.exports.claim_stdout() || args.output.progress.is_some();
    let mut report = Report::new(args, stdout_is_data);
    report.announce(&plan.announcement);
    report.doubts(&plan.experiment);
    for warning in &plan.warnings {
        report.announce(&(labelled("warning: ", 9, warning) + "\n"));
    }

    let experiment = &plan.experiment;
    let tasks = tasks(experiment, &plan.server_under_test);
    let mode = Watch::choose(&args.output, stdout_is_data);
    let Plan { mut exports, checks, interrupt, is_past, incomplete, shard, .. } = plan;
    let watcher = Watching::new(
        exports.samples(),
        mode,
        &interrupt,
        args.output.quiet,
        shards::own(args.shard.shard, tasks.count()),
    )?;
    let figures = figures(exports.have_document(), &checks);
    let mut kept = Kept::new(figures, tasks.count(), &mut exports);
    let driven = plan.driver.drive(&tasks, &interrupt, &watcher, &mut |repeat, over| {
        report.on_run(&over.finished, repeat, experiment);
        if shard.is_some() && over.finished.result.interrupted.is_some() {
            return Ok(());
        }
        // An interrupted run is left out of the statistics over runs, unless it is the only run. Over HTTP it is still written to the
        // output files, because its requests were sent.
        kept.take(over.finished, !args.simulate);
        Ok(())
    });
    let figures_written = watcher.conclude();
    let runs = kept.conclude();
    // If a later run fails, the runs completed before it are still written and summarised.
    let failed = match driven {
        Err(error) if is_past || runs.count == 0 => return Err(error),
        driven => driven.err().map(|error| shell::exit::report(&error)),
    };
    report.conclude(
        &runs,
        figures_written,
        experiment,
        (exports, shard),
        &checks,
        (&interrupt, failed, incomplete),
    )
}

fn figures(document: bool, checks: &Checks<'_>) -> Vec<&'static Figure> {
    let shown = || summary::SHOWN.iter().filter_map(|(_, path)| Figure::find(path));
    let written = RunFigures::summed().filter(|_| document);
    written.chain(shown()).chain(checks.figures()).collect()
}

fn print_config(record: &ConfigRecord) -> anyhow::Result<ExitCode> {
    let mut text = serde_json::to_string_pretty(record)?;
    text.push('\n');
    to_stdout(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Live display of runs. A single run is shown on the dashboard or as lines, and several runs as a count of finished runs.
struct Watching<'a> {
    /// Writer of attempts, present with `--samples`.
    samples: Option<Samples>,
    mode: Watch,
    interrupt: &'a Interrupt,
    /// Writer of live figures, present with `--progress ndjson`.
    live_figures: Option<Mutex<LiveFigures>>,
    runs: usize,
    started: Instant,
    simulated: Mutex<Simulated>,
}

struct Simulated {
    progress: Progress,
    over: usize,
}

impl<'a> Watching<'a> {
    fn new(
        samples: Option<Samples>,
        mode: Watch,
        interrupt: &'a Interrupt,
        quiet: bool,
        runs: usize,
    ) -> anyhow::Result<Self> {
        let live_figures = (mode == Watch::Ndjson).then(LiveFigures::on_stdout).transpose()?;
        let simulated = Mutex::new(Simulated { progress: Progress::new(!quiet), over: 0 });
        let live_figures = live_figures.map(Mutex::new);
        Ok(Self { samples, mode, interrupt, live_figures, runs, started: Instant::now(), simulated })
    }

    fn conclude(self) -> anyhow::Result<()> {
        let live_figures =
            self.live_figures.map(|figures| figures.into_inner().unwrap_or_else(PoisonError::into_inner));
        live_figures.map_or(Ok(()), LiveFigures::conclude)
    }
}

impl Watcher for Watching<'_> {
    fn attempts_of(&self, _number: usize, seed: u64) -> anyhow::Result<Option<SampleSink>> {
        Ok(self.samples.as_ref().map(|samples| samples.of(seed)))
    }

    fn held_up(&self, _number: usize) -> Duration {
        self.samples.as_ref().map_or(Duration::ZERO, Samples::held_up)
    }

    fn on_simulated(&self, _number: usize, run: &Run, now: vocabulary::Instant) {
        if self.runs == 1 {
            locked(&self.simulated).progress.run(run, now);
        }
    }

    fn wait(&self, _number: usize, run: &RealRun<'_>) {
        match &self.live_figures {
            None => watch(self.mode, run, self.interrupt),
            Some(live_figures) => locked(live_figures).watch(run.underway, self.interrupt),
        }
    }

    fn on_over(&self, _number: usize, _outcome: &Outcome) {
        locked(&self.simulated).over += 1;
    }

    fn on_tick(&self) {
        if self.runs > 1 {
            let Simulated { progress, over } = &mut *locked(&self.simulated);
            progress.line(|| summary::progress(*over, self.runs, self.started.elapsed()));
        }
    }
}
