//! `loadgen` itself: one run, or several with `--repeats`, from the command line to the exit code.

use std::process::ExitCode;
use std::time::Instant;

use loadgen_sim::{Steer, side_by_side};
use results::{ConfigRecord, RunResult};
use serde::Serialize;
use serde_json::Value;
use vocabulary::TimeScale;

use crate::args::RunArgs;
use crate::checks::{Checks, Subject};
use crate::connection_room::ConnectionRoom;
use crate::exit::{Exit, Fatal, is_broken_pipe};
use crate::files::exporter::{ExportedRun, Layout, Source};
use crate::files::exports::Exports;
use crate::files::output::to_stdout;
use crate::interrupt::Interrupt;
use crate::one_run::{self, Finished};
use crate::record::{ServerRecord, config_record};
use crate::repeats;
use crate::settings::Settings;
use crate::shortfall::Shortfalls;
use crate::target::Server;
use crate::text::causes::unanswered;
use crate::text::progress::Progress;
use crate::text::stderr::to_stderr;
use crate::text::summary;
use crate::watch::{Watch, watch};

pub(super) const EXAMPLES: &str = "\
Examples:
  loadgen --strategy aimd --ops 2000
      one run; without a target it uses the mockserver on the default port, or starts one itself
  loadgen --strategy exponential:jitter=0.5,base=50ms,cap=30s --ops 2000 --time-scale 0.2
      the same in a fifth of the time; figures stay in experiment time
  loadgen --strategy aimd:beta=0.5+retry-budget:ratio=0.1 --max-busy 20 --json result.json
      parts are combined with `+`; server flags configure the embedded server
  loadgen --strategy full-jitter --target https://api.example.com/v1/items --rate 20/s --duration 1m
      any HTTP or HTTPS server
  loadgen --strategy none --in-flight 50 --ops 100000 --no-tui
      closed loop: 50 ops at once
  loadgen --simulate --strategy aimd --repeats 1000
      the same in virtual time, 1000 seeds in a second or two
  loadgen --simulate --strategy aimd --repeats 20 --fail-if 'amplification > 1.2' --fail-if 'op_latency_ms.p99.max > 30000'
      for CI: exits with 99 when a condition holds

Exit codes: 0 done, 1 no op succeeded or ops failed for good (3xx, 4xx, nobody answers), 2 bad usage,
69 target unreachable, 70 counts do not add up, 74 output cannot be written, 99 a check failed,
129, 130 and 143 interrupted.
Ctrl-C once stops and keeps what was measured, twice does not wait for what is under way, thrice leaves at once.";

pub(crate) fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    let mut settings = crate::settings::settings(args)?;
    if args.simulate { simulated(args, &mut settings) } else { over_http(args, &mut settings) }
}

/// In virtual time: all repeats side by side.
fn simulated(args: &RunArgs, settings: &mut Settings) -> anyhow::Result<ExitCode> {
    if settings.time_scale != TimeScale::default() {
        let words =
            "`--time-scale` means nothing in virtual time: nobody waits; leave it out with `--simulate`";
        return Err(Fatal::error(Exit::Usage, words));
    }
    let server = args.server.to_config(settings.run.seed).map_err(|error| {
        Fatal::because(Exit::Usage, "the simulated server cannot be configured so", error)
    })?;
    if args.output.print_config {
        let record = ServerRecord { kind: "simulated".to_owned(), target: None, model: Some(&server) };
        return print_config(&config_record(settings, &record, settings.run.seed));
    }
    settings.refuse_unplannable(&server)?;
    let exports = prepared(args)?;
    settings.keep_latencies = exports.want(Source::Latencies);
    let checks = Checks::prepare(&args.checks, &[&settings.strategy.to_string()])?;
    let record = ServerRecord { kind: "simulated".to_owned(), target: None, model: Some(&server) };
    checks.same_experiment("simulated", &config_record(settings, &record, settings.run.seed))?;
    let interrupt = Interrupt::listen()?;
    let stdout_is_data = exports.take_stdout();
    let mut report = Report::new(args, stdout_is_data);
    report.announce(&summary::announcement(settings, "simulated server", Some(&server)));
    report.doubts(settings);

    let repeats = settings.repeats as usize;
    // Lines of several runs at once would be in an order that depends on the threads.
    let threads =
        if exports.want(Source::Attempts) { 1 } else { crate::simulated::threads(args.output.threads) };
    let quiet = args.output.quiet;
    let started = Instant::now();
    let mut all = Progress::new(!quiet && repeats > 1);
    let mut finished: Vec<Finished> = Vec::new();
    let mut failed = None;
    side_by_side(
        repeats,
        threads,
        |repeat| {
            let seed = settings.run.seed.wrapping_add(repeat as u64);
            let mut progress = Progress::new(!quiet && repeats == 1);
            let sink = exports.attempts_of(seed)?;
            let over = crate::simulated::simulate_with_samples(settings, &server, seed, sink, |run, now| {
                progress.run(run, now);
                if interrupt.exit().is_some() { Steer::Stop } else { Steer::On }
            })?;
            Ok(crate::simulated::result(settings, &server, seed, &over, &interrupt))
        },
        |taken| {
            match taken {
                Some(Ok(over)) => finished.push(over),
                Some(Err(error)) => failed = Some(error),
                None => {}
            }
            all.line(|| summary::progress(finished.len(), repeats, started.elapsed()));
            failed.is_none() && interrupt.exit().is_none()
        },
    );
    if let Some(error) = failed {
        return Err(error);
    }
    // What was cut off in the middle says nothing about a whole run, unless there is none.
    if finished.iter().any(|run| run.result.interrupted.is_none()) {
        finished.retain(|run| run.result.interrupted.is_none());
    } else {
        finished.truncate(1);
    }
    let mut shown = Ok(());
    if let [only] = &finished[..] {
        shown = report.one(only, 0, settings);
    }
    report.conclude(&finished, shown, settings, exports, &checks, &interrupt)
}

/// Over HTTP: one repeat after the other.
fn over_http(args: &RunArgs, settings: &mut Settings) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if args.output.print_config {
        let server = Server::choose(args, settings, &runtime, false)?;
        return print_config(&config_record(settings, &server.record(), settings.run.seed));
    }
    let exports = prepared(args)?;
    settings.keep_latencies = exports.want(Source::Latencies);
    let checks = Checks::prepare(&args.checks, &[&settings.strategy.to_string()])?;
    let interrupt = Interrupt::listen()?;
    let files = loadgen_http::raise_open_files();
    let mut server = Server::choose(args, settings, &runtime, true)?;
    checks.same_experiment("http", &config_record(settings, &server.record(), settings.run.seed))?;
    server.refuse_unusable(settings)?;
    let room = ConnectionRoom::within(files, &server);
    let stdout_is_data = exports.take_stdout();
    let mode = Watch::choose(&args.output, stdout_is_data);
    let mut report = Report::new(args, stdout_is_data);
    let announcement = summary::announcement(settings, &server.describe(), server.model.as_ref());
    report.announce(&announcement);
    report.doubts(settings);
    if let Some(warning) = room.warning_before(&settings.run.workload, server.model.as_ref()) {
        report.announce(&format!("{}\n", crate::text::wrapping::wrapped(&warning, "warning: ", "         ")));
    }

    let mut finished = Vec::new();
    // A summary that cannot be shown must not cost the result.
    let mut shown = Ok(());
    for repeat in 0..settings.repeats {
        if interrupt.exit().is_some() {
            break;
        }
        let seed = settings.run.seed.wrapping_add(u64::from(repeat));
        if repeat > 0 {
            // It may have been changed since.
            server.refresh(&runtime);
        }
        let sink = exports.attempts_of(seed)?;
        let underway = one_run::start(settings, &server, seed, room, sink)?;
        interrupt.watch(Some(underway.control.clone()));
        watch(mode, settings, &server, &underway, &runtime, &interrupt);
        interrupt.watch(None);
        let over = underway.finish(settings, &server, &runtime, &interrupt)?;
        shown = shown.and(report.one(&over, repeat, settings));
        finished.push(over);
    }
    report.conclude(&finished, shown, settings, exports, &checks, &interrupt)
}

/// Makes sure that everything can be written that was asked for.
fn prepared(args: &RunArgs) -> anyhow::Result<Exports> {
    let baseline = args.checks.save_baseline.as_ref().map(|name| name.0.as_path());
    Exports::prepare(&args.output.exports.asked, &Layout::default(), baseline)
}

/// The result file of several runs; a single one is written as it is.
#[derive(Serialize)]
struct Several<'a> {
    runs: Vec<&'a RunResult>,
    summary: Value,
}

/// The exit code of what did not go well.
fn exit(finished: &[Finished], interrupt: &Interrupt) -> Option<Exit> {
    if finished.iter().any(|run| !run.conservation.holds()) {
        return Some(Exit::NotConserved);
    }
    let unanswered = finished.iter().any(|run| !run.answered);
    interrupt.exit().or(unanswered.then_some(Exit::Unreachable))
}

fn print_config(record: &ConfigRecord) -> anyhow::Result<ExitCode> {
    let mut text = serde_json::to_string_pretty(record)?;
    text.push('\n');
    to_stdout(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Where people read: the summary on stdout, or on stderr when stdout is taken.
struct Report {
    quiet: bool,
    to_stderr: bool,
    /// Whether titles stand out.
    bold: bool,
}

impl Report {
    fn new(args: &RunArgs, stdout_is_data: bool) -> Self {
        Self {
            quiet: args.output.quiet,
            to_stderr: stdout_is_data,
            // Whoever wants no dashboard, or could not see one, gets plain text only.
            bold: matches!(Watch::choose(&args.output, stdout_is_data), Watch::Dashboard(_))
                && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        }
    }

    /// What is said and saved at the end, whatever was shown before.
    fn conclude(
        &mut self,
        finished: &[Finished],
        mut shown: anyhow::Result<()>,
        settings: &Settings,
        mut exports: Exports,
        checks: &Checks<'_>,
        interrupt: &Interrupt,
    ) -> anyhow::Result<ExitCode> {
        // What was cut off in the middle is kept, but says nothing about whole runs.
        let over = finished.iter().take_while(|run| run.result.interrupted.is_none()).count();
        let whole = if over > 0 { &finished[..over] } else { finished };
        if whole.len() > 1 {
            shown = shown.and(self.several(whole));
        }
        for run in finished {
            exports.on_run(&ExportedRun { result: &run.result, latencies: run.latencies.as_ref(), at: &[] });
        }
        match finished {
            // Without a run nothing that was there is overwritten.
            [] => {}
            [only] if settings.repeats == 1 => exports.finish(&only.result)?,
            several => exports.finish(&Several {
                runs: several.iter().map(|run| &run.result).collect(),
                summary: repeats::to_json(&repeats::summary(whole)),
            })?,
        }
        shown?;
        match exit(finished, interrupt) {
            // What was cut off or went wrong is not checked: it says nothing.
            None => {
                let runs = finished.iter().map(|run| &run.result);
                let short = Shortfalls::of(finished).conclude();
                let failed =
                    checks.conclude(&[Subject::new(&settings.strategy.to_string(), runs)?], self.quiet)?;
                Ok(failed.or(short).map_or(ExitCode::SUCCESS, ExitCode::from))
            }
            Some(exit) => {
                checks.left_out(self.quiet);
                Ok(exit.into())
            }
        }
    }

    /// Progress belongs to stderr, whatever stdout is used for.
    fn announce(&mut self, text: &str) {
        if !self.quiet {
            to_stderr(text);
        }
    }

    fn doubts(&self, settings: &Settings) {
        if !self.quiet {
            summary::doubts([&settings.strategy]);
        }
    }

    fn one(&mut self, run: &Finished, repeat: u32, settings: &Settings) -> anyhow::Result<()> {
        for mismatch in &run.conservation.mismatches {
            to_stderr(&format!("error: COUNTS DO NOT ADD UP: {mismatch}\n"));
        }
        if !run.answered {
            let error = Fatal::error(Exit::Unreachable, unanswered(run));
            crate::exit::report(&error);
        }
        if self.quiet {
            return Ok(());
        }
        self.write(&summary::run(run, repeat, settings, self.bold))
    }

    fn several(&mut self, runs: &[Finished]) -> anyhow::Result<()> {
        if self.quiet { Ok(()) } else { self.write(&summary::several(&repeats::summary(runs), runs.len())) }
    }

    /// A closed stdout ends what is shown, not the run: results may still go to a file.
    fn write(&mut self, text: &str) -> anyhow::Result<()> {
        if self.to_stderr {
            to_stderr(text);
            return Ok(());
        }
        to_stdout(text.as_bytes()).or_else(|error| if is_broken_pipe(&error) { Ok(()) } else { Err(error) })
    }
}
