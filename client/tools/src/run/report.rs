//! Report of runs: prints errors as they occur, and prints summaries and writes output files at the end.

use std::process::ExitCode;

use experiments::Experiment;
use experiments::checks::Subject;
use experiments::runs::one_run::Finished;
use results::{Document, Incomplete, Repeats, ShardRecord, figures_over_runs};
use shell::exit::unless_closed;
use shell::runner::interrupt::{by_whom, exit_of_cause};
use shell::text::{Styled, summary, thousands, to_stderr};
use shell::{Checks, Exit, Exports, Interrupt, RunArgs, exit_code};

use crate::run::Runs;

/// Returns the exit code if a run went wrong, and otherwise `None`. `failed` is the exit code of a run that could not be executed.
fn exit(runs: &Runs, interrupt: &Interrupt, failed: Option<ExitCode>, incomplete: bool) -> Option<ExitCode> {
    if !runs.conserved {
        return Some(Exit::NotConserved.into());
    }
    let exit = || {
        let unreachable = runs.short.unanswered().map(|_| Exit::Unreachable);
        // Merged runs are also checked for interruptions, because they may have been interrupted on another machine.
        let interrupted = interrupt.exit().or_else(|| runs.interrupted.as_deref().map(exit_of_cause));
        interrupted.or(unreachable).or(incomplete.then_some(Exit::Unmet))
    };
    failed.or_else(|| exit().map(ExitCode::from))
}

#[expect(clippy::struct_excessive_bools, reason = "independent flags")]
pub(super) struct Report {
    quiet: bool,
    stdout_is_data: bool,
    /// True if the first line of the summary is bold, so that it is visible after a dashboard.
    is_titled: bool,
    explain: bool,
    /// Summaries of the single runs, which `--explain` prints if there are several runs.
    screens: Vec<String>,
}

impl Report {
    pub(super) fn new(args: &RunArgs, stdout_is_data: bool) -> Self {
        Self {
            quiet: args.output.quiet,
            stdout_is_data,
            is_titled: !args.output.screen.no_tui,
            explain: args.explain.explain,
            screens: Vec::new(),
        }
    }

    /// Prints the summary and writes the output files, even if the live display failed. `shown` is the result of the live display.
    pub(super) fn conclude(
        &mut self,
        runs: &Runs,
        mut shown: anyhow::Result<()>,
        experiment: &Experiment,
        (exports, shard): (Exports, Option<ShardRecord>),
        checks: &Checks<'_>,
        (interrupt, failed, incomplete): (&Interrupt, Option<ExitCode>, Option<Incomplete>),
    ) -> anyhow::Result<ExitCode> {
        let exit = exit(runs, interrupt, failed, incomplete.is_some());
        let planned = u64::from(experiment.repeats);
        let incomplete = incomplete.or_else(|| {
            failed.map(|_| Incomplete {
                shards: 1,
                missing_shards: Vec::new(),
                tasks: planned,
                missing_tasks: planned.saturating_sub(runs.count as u64),
            })
        });
        let over_seeds = runs.figures.summaries();
        // An error while printing the summary is reported later, because it must not prevent the result from being written.
        if shard.is_none() {
            shown = shown.and(self.show(runs, experiment, interrupt));
        }
        match &runs.only {
            // If no run ended, not even an interrupted one, no document is written, so that existing files are not overwritten.
            None if runs.count == 0 && (shard.is_none() || interrupt.cause().is_some()) => {
                if let Some(cause) = interrupt.cause() {
                    self.announce(&format!("stopped by {} before a run was over\n", by_whom(cause)));
                }
            }
            Some(_) if experiment.repeats == 1 && shard.is_none() => {
                exports.finish(|mut runs| Document::Run(Box::new(runs.swap_remove(0))))?;
            }
            _ => exports.finish(|runs| {
                Document::Repeats(Repeats {
                    runs,
                    summary: figures_over_runs(&over_seeds),
                    incomplete: incomplete.filter(|_| shard.is_none()),
                    shard,
                })
            })?,
        }
        shown?;
        if let Some(shard) = shard {
            if !self.quiet {
                shell::shards::report(&shard, runs.count as u64);
            }
            return Ok(Self::of_shard(runs, interrupt, failed));
        }
        match exit {
            // Results are not checked after an interrupted or failed run, because its figures do not cover the whole run.
            None => {
                let short = runs.short.conclude();
                let subject = Subject::new(&experiment.strategy.to_string(), &runs.figures);
                let failed = checks.conclude(&[subject], self.quiet)?;
                Ok(exit_code(failed.or(short)))
            }
            Some(exit) => {
                if let Some(error) = runs.short.unanswered() {
                    shell::exit::report(&error);
                }
                checks.left_out(self.quiet);
                Ok(exit)
            }
        }
    }

    /// Returns the exit code of a shard. Missed expectations are not reported, because they are judged for all runs together.
    fn of_shard(runs: &Runs, interrupt: &Interrupt, failed: Option<ExitCode>) -> ExitCode {
        let unanswered = runs.short.unanswered();
        if let Some(error) = &unanswered {
            shell::exit::report(error);
        }
        let interrupted = interrupt.exit().map(ExitCode::from);
        let code = failed.or(interrupted).or(unanswered.map(|_| Exit::Unreachable.into()));
        code.unwrap_or(ExitCode::SUCCESS)
    }

    /// Prints a progress message to stderr, never to stdout. Prints nothing if `quiet` is set.
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

    /// Reports the errors of a run as soon as the run ends, and keeps its summary for `--explain`.
    pub(super) fn on_run(&mut self, run: &Finished, repeat: usize, experiment: &Experiment) {
        for mismatch in &run.conservation.mismatches {
            to_stderr(&format!("error: ACCOUNTING MISMATCH: {mismatch}\n"));
        }
        if self.explain && !self.quiet && experiment.repeats > 1 {
            self.screens.push(summary::run(run, repeat, experiment, true));
        }
    }

    fn show(&self, runs: &Runs, experiment: &Experiment, interrupt: &Interrupt) -> anyhow::Result<()> {
        let text = match &runs.only {
            _ if self.quiet || runs.count == 0 => return Ok(()),
            Some(only) => summary::run(only, 0, experiment, self.explain),
            None => {
                let several = summary::several(&runs.over_seeds, &runs.figures, experiment, self.explain);
                let screens = self.screens.iter().map(|screen| format!("\n{screen}"));
                several + &stopped(runs, experiment, interrupt) + &screens.collect::<String>()
            }
        };
        // A blank line on stderr separates the summary from the announcement of the run.
        to_stderr("\n");
        let text = if self.is_titled { Styled::titled(&text) } else { Styled::from(text.as_str()) };
        unless_closed(text.print(self.stdout_is_data))
    }
}

fn stopped(runs: &Runs, experiment: &Experiment, interrupt: &Interrupt) -> String {
    let planned = u64::from(experiment.repeats);
    let Some(cause) = interrupt.cause().filter(|_| (runs.count as u64) < planned) else {
        return String::new();
    };
    let (done, planned) = (thousands(runs.count as u64), thousands(planned));
    let by = by_whom(cause);
    format!("! stopped by {by}: {done} of {planned} seeds were complete, and only those count\n")
}
