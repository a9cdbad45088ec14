//! JSON document of `loadgen judge`, made from a report.

use std::time::Duration;

use results::SchemaVersion;
use shell::secrets::program_words;

use crate::args::JudgeArgs;
use crate::judged::{JudgedSituation, Verdict};
use crate::judgement::{JudgedAttempt, JudgedRun, Judgement, RunEnd, SituationRecord};
use crate::observation::{Attempt, End, ObservedRun, Reply};
use crate::report::Report;

pub(super) fn document(args: &JudgeArgs, report: &Report, is_complete: bool) -> Judgement {
    let runs = report.situations.iter().flat_map(|situation| &situation.observation.runs);
    Judgement {
        schema_version: SchemaVersion::default(),
        command: (!args.command.is_empty()).then(|| program_words(&args.command)),
        strategy: args.strategy.as_ref().map(ToString::to_string),
        retry_after_s: args.retry_after,
        idle_timeout_s: args.idle_timeout.as_secs_f64(),
        complete: is_complete,
        failed: report.count(Verdict::Failed),
        warned: report.count(Verdict::Warned),
        allowed: report.count(Verdict::Allowed),
        passed: report.count(Verdict::Passed),
        skipped: report.count(Verdict::Skipped),
        early_retries: report.early_retries(),
        attempts: runs.map(|run| run.received).sum(),
        situations: report.situations.iter().map(record).collect(),
        causes: report.causes.clone(),
        closest: None,
    }
}

pub(super) fn record(situation: &JudgedSituation) -> SituationRecord {
    SituationRecord {
        name: situation.name.clone(),
        title: situation.title.clone(),
        why: situation.why.clone(),
        verdict: situation.verdict,
        note: situation.note.clone(),
        findings: situation.findings.clone(),
        runs: situation.observation.runs.iter().map(run).collect(),
        ambiguous_ops: 0,
        uncounted_attempts: 0,
    }
}

fn run(run: &ObservedRun) -> JudgedRun {
    let (end, exit_code) = match run.end {
        End::Exited(code) => (RunEnd::Exited, code),
        End::Idle => (RunEnd::Idle, None),
        End::TooMany => (RunEnd::TooManyAttempts, None),
        End::Session => (RunEnd::Session, None),
        End::Interrupted => (RunEnd::Interrupted, None),
    };
    JudgedRun {
        received: run.received,
        attempts: run.attempts.iter().map(attempt).collect(),
        others: run.others.clone(),
        end,
        exit_code,
    }
}

fn attempt(attempt: &Attempt) -> JudgedAttempt {
    let (status, executed, advice) = match attempt.reply {
        Reply::Status { code, advice } => (Some(code), (200..300).contains(&code), advice),
        Reply::Broken { executed } => (None, executed, None),
        Reply::Open => (None, false, None),
    };
    JudgedAttempt {
        method: attempt.method.clone(),
        target: attempt.target.clone(),
        at_s: seconds(attempt.at),
        ended_s: attempt.ended.map(seconds),
        status,
        executed,
        advised_s: advice.and_then(crate::advice::Advice::wait).map(seconds),
        keys: attempt.keys.iter().map(|key| key.name.clone()).collect(),
    }
}

/// Converts a time to seconds, rounded to microseconds, because the times of a real server are not more exact.
fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e6
}
