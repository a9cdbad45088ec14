//! Document that `loadgen judge` writes.

use std::time::Duration;

use results::SchemaVersion;
use serde::Serialize;
use shell::secrets::program_words;

use crate::advice::Advice;
use crate::args::JudgeArgs;
use crate::observation::{Attempt, Observation, Reply};
use crate::report::Report;
use crate::rule::Finding;

/// Retry behaviour of a client in several situations (loadgen judge).
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judgement {
    pub schema_version: SchemaVersion,
    /// Program of the client and, if an argument is a file, the first such argument; null with `--strategy` and `--serve`.
    pub command: Option<Vec<String>>,
    pub strategy: Option<String>,
    pub retry_after_s: u64,
    pub idle_timeout_s: f64,
    /// Whether all situations completed. False after an interruption.
    pub complete: bool,
    pub failed: usize,
    pub warned: usize,
    /// Number of situations whose findings are all allowed.
    pub allowed: usize,
    pub passed: usize,
    pub skipped: usize,
    /// Number of retries that were earlier than `Retry-After` asked for.
    pub early_retries: usize,
    pub attempts: u64,
    #[serde(flatten)]
    pub report: Report,
    /// Preset that behaves most like the client; only with `--recording`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closest: Option<ClosestPreset>,
}

impl Judgement {
    pub(super) fn new(args: &JudgeArgs, report: Report, is_complete: bool) -> Self {
        let runs = report.situations.iter().flat_map(|situation| &situation.observation.runs);
        Self {
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
            report,
            closest: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClosestPreset {
    /// Presets that behave alike in the same number of situations, such as `preset:openai`.
    pub presets: Vec<String>,
    pub same: usize,
    /// Number of compared situations. Those in which the command did not end by itself are not compared.
    pub compared: usize,
    pub differs: Vec<PresetDifference>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PresetDifference {
    pub situation: String,
    /// First difference, such as `delay 1: recorded 0.5 s, here always 1 s`.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SituationVerdict"))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Failed,
    Warned,
    // The situation has findings, and the user accepts all of them.
    Allowed,
    Passed,
    Skipped,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SituationRecord"))]
pub struct JudgedSituation {
    pub name: String,
    /// Answers of the server in words, such as `429, Retry-After: 3`.
    pub title: String,
    pub why: String,
    pub verdict: Verdict,
    /// Attempts, delays and outcome in words, or the reason for which the situation was skipped.
    pub note: String,
    pub findings: Vec<Finding>,
    #[serde(flatten)]
    pub observation: Observation,
    /// Number of ops that were not judged, because identical requests were in flight at the same time; only with `--serve`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ambiguous_ops: u64,
    /// Number of attempts that were counted but not kept; only with `--serve`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub uncounted_attempts: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct JudgedAttempt {
    pub method: String,
    /// Path and query, without the values of the query.
    pub target: String,
    pub at_s: f64,
    /// Time of the answer, or of the client's disconnection; null if the request was open at the end of the run.
    pub ended_s: Option<f64>,
    /// Status of the answer; null if the client received no complete answer.
    pub status: Option<u16>,
    /// Whether the server did the work of the request.
    pub executed: bool,
    /// Wait that the answer advised; null if it advised none.
    pub advised_s: Option<f64>,
    pub keys: Vec<String>,
}

impl From<Attempt> for JudgedAttempt {
    fn from(attempt: Attempt) -> Self {
        let (status, advice) = match attempt.reply {
            Reply::Status { code, advice } => (Some(code), advice),
            Reply::Broken { .. } | Reply::Open => (None, None),
        };
        Self {
            at_s: seconds(attempt.at),
            ended_s: attempt.ended.map(seconds),
            status,
            executed: attempt.is_executed(),
            advised_s: advice.and_then(Advice::wait).map(seconds),
            keys: attempt.keys.into_iter().map(|key| key.name).collect(),
            method: attempt.method,
            target: attempt.target,
        }
    }
}

/// Converts a time to seconds, rounded to microseconds, because the times of a real server are not more exact.
pub(super) fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e6
}
