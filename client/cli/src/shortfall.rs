//! Runs that did not come to what was asked: what is told of them, and that it costs the exit code.

use experiments::runs::one_run::Finished;
use results::RunResult;

use crate::exit::{Exit, Fatal};
use crate::text::causes::{causes, unanswered};
use crate::text::figures::{counted, thousands};
use crate::text::stderr::to_stderr;

/// How many of the runs fell short, and what the first of them came to.
#[derive(Debug, Default)]
pub(crate) struct Shortfalls {
    runs: usize,
    short: usize,
    first: Option<String>,
    /// What is said of the first run that nobody answered.
    unanswered: Option<String>,
}

impl Shortfalls {
    /// Looks at more runs.
    pub(crate) fn note<'a>(&mut self, runs: impl IntoIterator<Item = &'a Finished>) {
        for run in runs {
            self.runs += 1;
            if !run.answered {
                self.unanswered.get_or_insert_with(|| unanswered(run));
            }
            let run = &run.result;
            if let Some(words) = shortfall(run) {
                self.short += 1;
                self.first.get_or_insert_with(|| format!("{}, seed {}: {words}", run.strategy, run.seed));
            }
        }
    }

    /// Says on stderr what fell short, whoever wants quiet, and gives the exit code.
    pub(crate) fn conclude(&self) -> Option<Exit> {
        let first = self.first.as_ref()?;
        let mut words = first.clone();
        if self.runs > 1 {
            let of = counted(self.runs as u64, "run");
            words =
                format!("{} of {of} did not come to what was asked; {words}", thousands(self.short as u64));
        }
        // In one line, as errors are: logs are searched for it.
        to_stderr(&format!("failed: {words}\n"));
        Some(match &self.unanswered {
            Some(words) => {
                crate::exit::report(&Fatal::error(Exit::Unreachable, words.as_str()));
                Exit::Unreachable
            }
            None => Exit::Unmet,
        })
    }
}

/// What a run did not come to: no op succeeded, or some failed in a way that no waiting helps.
fn shortfall(run: &RunResult) -> Option<String> {
    let ops = run.ops;
    let failed = match (ops.failed_for_good, ops.total) {
        (0, _) => None,
        (failed, total) => Some(format!("{} of {} failed for good", thousands(failed), counted(total, "op"))),
    };
    let words = match (ops.total > 0 && ops.succeeded == 0, failed) {
        (false, None) => return None,
        (false, Some(failed)) => failed,
        (true, Some(failed)) => format!("no op succeeded, and {failed}"),
        (true, None) => format!("no op of {} succeeded", thousands(ops.total)),
    };
    let mut causes = causes(&run.failures);
    if run.attempts.rejected > 0 {
        causes.push(format!("rejected × {}", thousands(run.attempts.rejected)));
    }
    Some(if causes.is_empty() { words } else { format!("{words} ({})", causes.join(", ")) })
}
