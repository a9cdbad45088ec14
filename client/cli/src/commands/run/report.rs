//! What is said of runs as they go, and said and saved at the end.

use std::process::ExitCode;

use experiments::Experiment;
use experiments::checks::Subject;
use experiments::runs::one_run::Finished;
use results::{Repeats, figures_over_runs};
use statistics::Summary;

use crate::args::RunArgs;
use crate::checks::Checks;
use crate::exit::{Exit, Fatal, is_broken_pipe};
use crate::files::exporter::ExportedRun;
use crate::files::exports::Exports;
use crate::interrupt::Interrupt;
use crate::screen::watch::Watch;
use crate::shortfall::Shortfalls;
use crate::text::causes::unanswered;
use crate::text::stderr::{to_people, to_stderr};
use crate::text::summary;

/// Figures over seeds.
fn over_seeds(runs: &[Finished]) -> Vec<(&'static str, Summary)> {
    results::summed(runs.iter().map(|run| &run.result))
}

/// The exit code of what did not go well.
fn exit(finished: &[Finished], interrupt: &Interrupt) -> Option<Exit> {
    if finished.iter().any(|run| !run.conservation.holds()) {
        return Some(Exit::NotConserved);
    }
    let unanswered = finished.iter().any(|run| !run.answered);
    interrupt.exit().or(unanswered.then_some(Exit::Unreachable))
}

/// Where people read: the summary on stdout, or on stderr when stdout is taken.
pub(super) struct Report {
    quiet: bool,
    to_stderr: bool,
    /// Whether titles stand out.
    bold: bool,
}

impl Report {
    pub(super) fn new(args: &RunArgs, stdout_is_data: bool) -> Self {
        Self {
            quiet: args.output.quiet,
            to_stderr: stdout_is_data,
            // Whoever wants no dashboard, or could not see one, gets plain text only.
            bold: matches!(Watch::choose(&args.output, stdout_is_data), Watch::Dashboard(_))
                && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        }
    }

    /// What is said and saved at the end, whatever was shown before.
    pub(super) fn conclude(
        &mut self,
        finished: &[Finished],
        mut shown: anyhow::Result<()>,
        experiment: &Experiment,
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
            [only] if experiment.repeats == 1 => exports.finish(&only.result)?,
            several => exports.finish(&Repeats {
                runs: several.iter().map(|run| &run.result).collect(),
                summary: figures_over_runs(&over_seeds(whole)),
            })?,
        }
        shown?;
        match exit(finished, interrupt) {
            // What was cut off or went wrong is not checked: it says nothing.
            None => {
                let runs = finished.iter().map(|run| &run.result);
                let short = Shortfalls::of(finished).conclude();
                let failed =
                    checks.conclude(&[Subject::new(&experiment.strategy.to_string(), runs)], self.quiet)?;
                Ok(failed.or(short).map_or(ExitCode::SUCCESS, ExitCode::from))
            }
            Some(exit) => {
                checks.left_out(self.quiet);
                Ok(exit.into())
            }
        }
    }

    /// Progress belongs to stderr, whatever stdout is used for.
    pub(super) fn announce(&mut self, text: &str) {
        if !self.quiet {
            to_stderr(text);
        }
    }

    pub(super) fn doubts(&self, experiment: &Experiment) {
        if !self.quiet {
            summary::doubts([&experiment.strategy]);
        }
    }

    pub(super) fn run(
        &mut self,
        run: &Finished,
        repeat: usize,
        experiment: &Experiment,
    ) -> anyhow::Result<()> {
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
        self.write(&summary::run(run, repeat, experiment, self.bold))
    }

    fn several(&mut self, runs: &[Finished]) -> anyhow::Result<()> {
        if self.quiet { Ok(()) } else { self.write(&summary::several(&over_seeds(runs), runs.len())) }
    }

    /// A closed stdout ends what is shown, not the run: results may still go to a file.
    fn write(&mut self, text: &str) -> anyhow::Result<()> {
        to_people(text, self.to_stderr)
            .or_else(|error| if is_broken_pipe(&error) { Ok(()) } else { Err(error) })
    }
}
