//! Runs that did not meet expectations: their report on stderr, and the resulting exit code.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use experiments::record::has_faults;
use experiments::runs::one_run::Finished;
use loadgen_core::FailureResult;
use results::{RunResult, reason_for_failure};

use crate::text::causes::{causes, unanswered};
use crate::text::{counted, thousands, to_stderr};
use crate::{Exit, Fatal};

/// Maximum share of ops, in percent, that may end with a failure in a successful run.
const MAX_FAILED_PERCENT: u64 = 10;

#[derive(Debug, Default)]
pub struct Failures {
    runs: usize,
    short: usize,
    first: Option<String>,
    /// Warning of the first failed run that says why.
    reason: Option<String>,
    /// True if something arrived from the server in any run.
    answered: bool,
    unanswered: Option<String>,
    by_strategy: BTreeMap<String, FailureCounts>,
}

#[derive(Debug, Default)]
struct FailureCounts {
    failed: u64,
    total: u64,
    /// Most frequent cause of failure in the strategy's first run with a failure.
    cause: Option<String>,
}

impl Failures {
    pub fn note<'a>(&mut self, runs: impl IntoIterator<Item = &'a Finished>) {
        for run in runs {
            self.runs += 1;
            self.answered |= run.answered;
            if !run.answered {
                self.unanswered.get_or_insert_with(|| unanswered(run));
            }
            let shortfall = shortfall(run);
            let run = &run.result;
            self.note_failed(run);
            if let Some(words) = shortfall {
                self.short += 1;
                self.first.get_or_insert_with(|| format!("{}, seed {}: {words}", run.strategy, run.seed));
                self.reason =
                    self.reason.take().or_else(|| reason_for_failure(&run.warnings).map(str::to_owned));
            }
        }
    }

    fn note_failed(&mut self, run: &RunResult) {
        let of = self.by_strategy.entry(run.strategy.clone()).or_default();
        // In a run that stalled on failures, the ops that could not arrive any more failed, too.
        let is_dead = run.stalled_at_s.is_some() && run.ops.failed > 0;
        let missing = if is_dead { run.ops.share_base().saturating_sub(run.ops.total) } else { 0 };
        of.total += run.ops.total + missing;
        if run.ops.failed > 0 && !has_faults(&run.config) {
            of.failed += run.ops.failed + missing;
            let cause = || run.failures.first().map(FailureResult::words);
            of.cause = of.cause.take().or_else(cause);
        }
    }

    /// Returns a sentence about failed ops if too many ops failed with every strategy. Returns `None` if at least one strategy stays within
    /// the limit, because another choice of strategy then avoids the failures.
    fn too_many_failed(&self) -> Option<String> {
        let too_many = |of: &FailureCounts| of.failed * 100 > of.total * MAX_FAILED_PERCENT;
        if !self.by_strategy.values().all(too_many) {
            return None;
        }
        let (strategy, FailureCounts { failed, total, cause }) = self.by_strategy.first_key_value()?;
        let others = match self.by_strategy.len() {
            1 => "",
            _ => ", and more than 10 % of the ops of every other strategy failed, too",
        };
        let (failed, total, cause) = (thousands(*failed), counted(*total, "op"), cause.as_deref());
        // Attempts that were never sent have no entry among the failures.
        let cause = cause.unwrap_or("never sent");
        Some(format!("{strategy}: {failed} of {total} ended with a failure (mostly {cause}){others}"))
    }

    /// Returns the error of the first run if nothing arrived from the server in any run.
    pub fn unanswered(&self) -> Option<anyhow::Error> {
        let words = self.unanswered.as_ref().filter(|_| !self.answered)?;
        Some(Fatal::error(Exit::Unreachable, words.as_str()))
    }

    /// Reports failures on stderr, even with `--quiet`, and returns the exit code.
    pub fn conclude(&self) -> Option<Exit> {
        let Some(first) = &self.first else {
            to_stderr(&format!("failed: {}\n", self.too_many_failed()?));
            return Some(Exit::Unmet);
        };
        let mut words = first.clone();
        if self.runs > 1 {
            let of = counted(self.runs as u64, "run");
            words = format!("{} of {of} failed; {words}", thousands(self.short as u64));
            // Only a single run prints all its warnings. The error of runs without a response has the reason, too.
            if let Some(reason) = self.reason.as_ref().filter(|_| self.answered) {
                let _ = write!(words, "; {reason}");
            }
        }
        // The failure is printed in one line, like errors, because users search logs for it.
        to_stderr(&format!("failed: {words}\n"));
        Some(match self.unanswered() {
            Some(error) => {
                crate::exit::report(&error);
                Exit::Unreachable
            }
            None => Exit::Unmet,
        })
    }
}

fn shortfall(finished: &Finished) -> Option<String> {
    let run = &finished.result;
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
    let mut words = if causes.is_empty() { words } else { format!("{words} ({})", causes.join(", ")) };
    let is_usable = |failure: &FailureResult| failure.status.is_some();
    let usable = run.attempts.succeeded + run.attempts.rejected > 0 || run.failures.iter().any(is_usable);
    if let Some(last) = finished.last_arrived.as_ref().filter(|_| !usable) {
        let _ = write!(words, "; no answer was usable, and the last thing that arrived was: {last}");
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(ops: &str, stalled_at_s: &str) -> Option<String> {
        let run = format!(
            r#"{{"schema_version": 1, "mode": "http", "strategy": "full-jitter", "seed": 1, "ops": {ops},
            "attempts": {{"total": 9, "succeeded": 9}}, "amplification": 1.0, "efficiency": 1.0, "attempts_per_success": 1.0,
            "makespan_s": 1.0, "makespan_complete": false, "optimal_makespan_s": null, "goodput_per_s": 9.0,
            "stalled_at_s": {stalled_at_s}, "late_share": null, "done_share": 0.1, "fairness": null, "wasted_server_s": null,
            "server_work_per_success_ms": null, "server": null, "started_at": null, "wall_s": 1.0, "interrupted": null}}"#
        );
        let mut failures = Failures::default();
        failures.note_failed(&results::read(&run).unwrap());
        failures.too_many_failed()
    }

    /// The server died after 130 of 1000 ops in a closed loop of five.
    #[test]
    fn ops_that_could_not_arrive_failed_with_the_run() {
        let ops = r#"{"total": 135, "offered": 1000, "succeeded": 130, "given_up": 0, "unfinished": 5, "failed": 5}"#;
        assert_eq!(noted(ops, "null"), None);
        let words = noted(ops, "89.9").unwrap();
        assert!(words.starts_with("full-jitter: 870 of 1 000 ops ended with a failure"), "{words}");
        assert_eq!(
            noted(&ops.replace("\"failed\": 5", "\"failed\": 0"), "89.9"),
            None,
            "it stalled on rejections"
        );
    }

    #[test]
    fn failures_without_a_cause_count() {
        let ops = r#"{"total": 10, "succeeded": 8, "given_up": 2, "failed": 2}"#;
        let words = noted(ops, "null").unwrap();
        assert!(words.contains("2 of 10 ops ended with a failure (mostly never sent)"), "{words}");
    }
}
