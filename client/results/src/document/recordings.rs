//! Document that `loadgen strategies --check` writes.

use serde::{Deserialize, Serialize};

use crate::document::version::SchemaVersion;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct RecordingsCheck {
    #[serde(default)]
    pub schema_version: SchemaVersion,
    pub recordings: Vec<CheckedRecording>,
    pub reproduced: u64,
    pub differing: u64,
    pub without_preset: u64,
    #[serde(default)]
    pub skipped: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct CheckedRecording {
    pub file: String,
    pub library: String,
    pub pairs: Vec<CheckedPair>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct CheckedPair {
    pub scenario: String,
    pub config: String,
    pub strategy: Option<String>,
    pub verdict: CheckVerdict,
    pub difference: Option<CheckDifference>,
    #[serde(default)]
    pub skipped_because: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CheckVerdict {
    Reproduced,
    Differs,
    NoPreset,
    Skipped,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct CheckDifference {
    pub what: String,
    pub recorded: String,
    pub here: String,
}
