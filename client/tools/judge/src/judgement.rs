//! Document that `loadgen judge` writes.

use results::SchemaVersion;
use serde::Serialize;
use shell::secrets::program_words;

use crate::args::JudgeArgs;
use crate::report::{Report, Verdict};

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
        let observed = report.situations.iter().map(|situation| &situation.observation);
        let observed = observed.chain(report.tables.iter().map(|row| &row.observation));
        let runs = observed.flat_map(|observation| &observation.runs);
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
