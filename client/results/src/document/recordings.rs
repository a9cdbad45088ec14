//! Document that `loadgen strategies --check` writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::version::SchemaVersion;

/// Recordings of real client libraries held against strategies (loadgen strategies --check).
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct RecordingsCheck {
    /// Of this form.
    #[serde(default)]
    pub schema_version: SchemaVersion,
    /// File by file.
    pub recordings: Vec<CheckedRecording>,
    /// Pairs that are reproduced.
    pub reproduced: u64,
    /// Pairs that are not.
    pub differing: u64,
    /// Pairs of which nobody says what strategy they are.
    pub without_preset: u64,
    /// Pairs that cannot be replayed, such as a series whose script is not known.
    #[serde(default)]
    pub skipped: u64,
}

/// One file.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct CheckedRecording {
    /// Its name, without a folder.
    pub file: String,
    /// The library and its version.
    pub library: String,
    /// Its pairs, in their order.
    pub pairs: Vec<CheckedPair>,
}

/// One scenario with one configuration.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct CheckedPair {
    /// The scenario.
    pub scenario: String,
    /// The configuration, as the recording has it.
    pub config: String,
    /// What it is said to be, as typed; null where nobody says so.
    pub strategy: Option<String>,
    /// What came of it.
    pub verdict: CheckVerdict,
    /// What differs first; null where nothing does.
    pub difference: Option<CheckDifference>,
    /// Why it is skipped; null where it is not.
    #[serde(default)]
    pub skipped_because: Option<String>,
}

/// What came of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckVerdict {
    /// The strategy does what the library did.
    Reproduced,
    /// It does something else.
    Differs,
    /// Nobody says which strategy it is.
    NoPreset,
    /// It cannot be replayed.
    Skipped,
}

/// What differs first.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct CheckDifference {
    /// Of what: `attempts`, `delay 2`.
    pub what: String,
    /// What was recorded.
    pub recorded: String,
    /// What the strategy does.
    pub here: String,
}
