//! File format of recordings: one JSON file per library. The README in the folder of recordings documents it.

use std::collections::BTreeMap;

use mockserver_core::WrittenStep;
use serde::Deserialize;

use crate::series::SeriesScripts;

#[derive(Debug, Deserialize)]
#[serde(expecting = "an object")]
pub(crate) struct RawFile {
    pub(crate) library: String,
    pub(crate) version: String,
    pub(crate) language: String,
    pub(crate) interception: String,
    #[serde(default)]
    pub(crate) series: SeriesScripts,
    /// Scenarios of a recording. They are parsed one by one, so that an invalid scenario does not prevent the other scenarios from being
    /// parsed.
    pub(crate) scenarios: Vec<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "an object")]
pub(crate) struct RawScenario {
    pub(crate) id: String,
    pub(crate) config: String,
    pub(crate) kind: Option<RawKind>,
    pub(crate) method: Option<String>,
    pub(crate) steps: Option<Vec<WrittenStep>>,
    pub(crate) n: Option<usize>,
    pub(crate) samples: Option<Vec<Vec<f64>>>,
    pub(crate) attempts: Option<OneOrMany<u32>>,
    pub(crate) outcome: Option<RawOutcome>,
    pub(crate) outcomes: Option<RawOutcomes>,
    pub(crate) sleep_before_first: Option<OneOrMany<f64>>,
    pub(crate) sleep_after_last: Option<OneOrMany<f64>>,
    pub(crate) ops: Option<usize>,
    pub(crate) attempts_per_op: Option<Vec<u32>>,
    pub(crate) waits_per_op: Option<Vec<Vec<f64>>>,
    pub(crate) outcomes_per_op: Option<Vec<(String, usize)>>,
    pub(crate) retries_granted_after_each_100: Option<Vec<u64>>,
}

/// Kind of a scenario. A scenario without a kind consists of independent ops.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawKind {
    Series,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a number, or a list of numbers")]
pub(crate) enum OneOrMany<T> {
    One(T),
    Each(Vec<T>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "an object")]
pub(crate) struct RawOutcome {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) status: Option<u16>,
    pub(crate) code: Option<RawCode>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a name or a number")]
pub(crate) enum RawCode {
    Exit(i64),
    Name(String),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "an object of counts, or a list")]
pub(crate) enum RawOutcomes {
    /// Number of ops for each outcome. The key is the outcome as JSON text.
    Counted(BTreeMap<String, usize>),
    /// Names of the result types or exception types with which recorded ops ended.
    Named(Vec<String>),
}
