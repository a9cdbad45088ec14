//! Document that `loadgen strategies --check` writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::version::SchemaVersion;

/// Comparison of strategies with recordings of the real client libraries that they reproduce (loadgen strategies
/// --check).
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct RecordingsCheck {
    #[serde(default)]
    pub schema_version: SchemaVersion,
    pub recordings: Vec<CheckedRecording>,
    /// Number of pairs (a scenario and a configuration of the library) that a strategy reproduces.
    pub reproduced: u64,
    /// Number of pairs (a scenario and a configuration of the library) for which the strategy differs from the
    /// recording.
    pub differing: u64,
    /// Number of pairs (a scenario and a configuration of the library) for which no strategy is known.
    pub without_preset: u64,
    /// Number of pairs (a scenario and a configuration of the library) that cannot be replayed. An example is a
    /// recorded series of ops whose script of server answers is not known.
    #[serde(default)]
    pub skipped: u64,
}

/// Results of checking strategies against one recording file.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct CheckedRecording {
    /// Name of the recording file, without its folder.
    pub file: String,
    /// Client library that was recorded, and its version.
    pub library: String,
    /// Pairs of a scenario and a configuration, in the order of the file.
    pub pairs: Vec<CheckedPair>,
}

/// Result for one scenario with one configuration of the library.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct CheckedPair {
    /// Id of the recorded scenario.
    pub scenario: String,
    /// Configuration of the client library, as in the recording.
    pub config: String,
    /// Strategy that corresponds to the configuration, as on the command line; null if none is known.
    pub strategy: Option<String>,
    pub verdict: CheckVerdict,
    /// First difference between the recording and the strategy; null if there is none.
    pub difference: Option<CheckDifference>,
    /// Reason why the pair is skipped; null if it is not skipped.
    #[serde(default)]
    pub skipped_because: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckVerdict {
    /// The strategy does the same as the client library did in the recording.
    Reproduced,
    /// The strategy does something else than the library did in the recording.
    Differs,
    /// No strategy is known that corresponds to the library's configuration.
    NoPreset,
    /// The pair of scenario and configuration cannot be replayed.
    Skipped,
}

#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct CheckDifference {
    /// Quantity that differs between a recording and a strategy, such as `attempts` or `delay 2`.
    pub what: String,
    pub recorded: String,
    /// Value of the differing quantity with the strategy.
    pub here: String,
}
