//! Data of a single run that a plot of a scenario needs: parts of the run's result, and data recorded for the plot.

use loadgen_core::{AttemptCounts, LatencyFigures};
use serde::{Deserialize, Serialize};

use crate::{Mode, OpsResult, SchemaVersion};

/// Run that represents a cell (one strategy at one point of an experiment) in a plot, because it has the median
/// makespan of the cell. The record contains the parts of the run's result that plots need, and data recorded for the
/// plot.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DrawnRun {
    pub label: String,
    pub schema_version: SchemaVersion,
    pub mode: Mode,
    pub strategy: String,
    pub seed: u64,
    pub ops: OpsResult,
    pub attempts: AttemptCounts,
    pub amplification: Option<f64>,
    pub efficiency: Option<f64>,
    pub makespan_s: Option<f64>,
    pub makespan_complete: bool,
    pub optimal_makespan_s: Option<f64>,
    pub stalled_at_s: Option<f64>,
    #[serde(default)]
    pub op_latency_ms: LatencyFigures,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<Columns>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<Calls>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clients: Option<Clients>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Steps>,
    /// Statistics of the waits of ops before a retry. The list has one entry for the first retry of ops, one for the
    /// second, and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<Vec<Wait>>,
}

/// Time series of a run as columns, with one value per time step. A gauge whose value was never known has no column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Columns {
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    #[serde(deserialize_with = "crate::document::fields::above_zero")]
    pub step_s: f64,
    #[serde(default)]
    pub sent: Vec<u64>,
    #[serde(default)]
    pub succeeded: Vec<u64>,
    #[serde(default)]
    pub rejected: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<Vec<Option<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Vec<Option<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssthresh: Option<Vec<Option<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_cap: Option<Vec<Option<f64>>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gauges: Vec<GaugeColumn>,
}

/// Gauge with its name, its unit, and one value for every time step. It is defined by the strategy or by the server's rate limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GaugeColumn {
    pub name: String,
    pub unit: String,
    #[serde(default)]
    pub values: Vec<Option<f64>>,
}

/// Send times of attempts, in ascending order, and the op of each attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Calls {
    /// Spacing of the recorded ops: attempts were recorded only for ops whose number is a multiple of `every`.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub every: u64,
    /// Whether the recording ended early, because a single op had more attempts than may be recorded.
    #[serde(default)]
    pub full: bool,
    #[serde(default)]
    pub t_s: Vec<f64>,
    #[serde(default)]
    pub op: Vec<u64>,
}

/// Latency and number of attempts of each client of a run, sorted by latency. If the run has only one client, its ops are listed instead of
/// clients.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Clients {
    /// Whether the entries of the lists are ops instead of clients.
    pub by_op: bool,
    /// Number of all clients or ops of the run. If there are many, the lists contain only some of them.
    pub of: u64,
    /// Rank of each listed client or op by latency, from 1.
    pub rank: Vec<u64>,
    /// Mean latency of the ops of each listed client, or latency of each listed op. Null if no op succeeded.
    pub latency_s: Vec<Option<f64>>,
    pub attempts: Vec<u64>,
}

/// Counts of events in each time step of a run, from its start. All time steps have the same width.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Steps {
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    #[serde(deserialize_with = "crate::document::fields::above_zero")]
    pub step_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<Vec<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turned_away: Option<Vec<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Vec<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub succeeded: Option<Vec<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued: Option<Vec<i64>>,
}

/// Statistics over ops of the wait before the retry with the number `retry`, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wait {
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub retry: u64,
    #[serde(default)]
    pub count: u64,
    pub mean_s: f64,
    pub min_s: Option<f64>,
    pub p5_s: Option<f64>,
    pub p95_s: Option<f64>,
    pub max_s: Option<f64>,
}
