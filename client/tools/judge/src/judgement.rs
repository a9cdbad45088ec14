//! Document that `loadgen judge` writes.

use results::SchemaVersion;
use serde::Serialize;

use crate::judged::Verdict;
use crate::observation::OtherCall;
use crate::report::Cause;
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
    pub situations: Vec<SituationRecord>,
    pub causes: Vec<Cause>,
    /// Preset that behaves most like the client; only with `--recording`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closest: Option<ClosestPreset>,
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

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SituationRecord {
    pub name: String,
    /// Answers of the server in words, such as `429, Retry-After: 3`.
    pub title: String,
    pub why: String,
    pub verdict: Verdict,
    /// Attempts, delays and outcome in words, or the reason for which the situation was skipped.
    pub note: String,
    pub findings: Vec<Finding>,
    pub runs: Vec<JudgedRun>,
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

/// Run of the client in a situation. Times are in seconds since the start of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedRun {
    /// Number of attempts of the judged call. `attempts` lists at most 50 of them.
    pub received: u64,
    pub attempts: Vec<JudgedAttempt>,
    /// Calls that are not judged, such as the fetching of a token; at most 100.
    pub others: Vec<OtherCall>,
    pub end: RunEnd,
    /// Exit code of the command; null if it did not exit by itself.
    pub exit_code: Option<i32>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedAttempt {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    Exited,
    /// Ended by `loadgen judge` after the idle timeout.
    Idle,
    /// Ended by `loadgen judge` after 50 attempts.
    TooManyAttempts,
    /// Ended by the test that sent the op, or by the end of the session (`--serve`).
    Session,
    Interrupted,
}
