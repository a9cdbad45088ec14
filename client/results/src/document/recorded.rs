//! Single run in the form that a plot of a scenario needs: parts of its result, and data recorded for that plot.

use loadgen_core::{AttemptCounts, LatencyFigures};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::run::{Mode, OpsResult};
use crate::document::version::SchemaVersion;

/// The run of a cell in the middle by makespan: of its result what figures need, and what was kept of it for this figure.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
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
    /// How long ops waited before each retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<Vec<Wait>>,
}

/// The series by columns; gauges that were never known are missing.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Columns {
    #[schemars(extend("exclusiveMinimum" = 0))]
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
    /// What else the strategy has drawn over time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gauges: Vec<GaugeColumn>,
}

/// A gauge of a strategy under its own name: a value for every step.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct GaugeColumn {
    pub name: String,
    pub unit: String,
    #[serde(default)]
    pub values: Vec<Option<f64>>,
}

/// When attempts were sent, in that order, and of which op.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Calls {
    /// Only ops that are multiples of it were kept.
    #[schemars(range(min = 1))]
    pub every: u64,
    /// Whether later calls were not kept, because one op alone had too many.
    #[serde(default)]
    pub full: bool,
    /// Instants of sending.
    #[serde(default)]
    pub t_s: Vec<f64>,
    /// Ops.
    #[serde(default)]
    pub op: Vec<u64>,
}

/// Clients, or ops when there is one client, sorted by latency.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
pub struct Clients {
    /// Whether an op stands for a client.
    pub by_op: bool,
    /// How many there are; not every one is written when there are many.
    pub of: u64,
    /// Their places, from 1.
    pub rank: Vec<u64>,
    /// Mean over its ops; null without any success.
    pub latency_s: Vec<Option<f64>>,
    /// Attempts of each.
    pub attempts: Vec<u64>,
}

/// Counts in steps of one width, from the start on.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Steps {
    #[schemars(extend("exclusiveMinimum" = 0))]
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
    /// Accepted and not yet answered, at the end of the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued: Option<Vec<i64>>,
}

/// How long ops waited before their n-th retry, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Wait {
    #[schemars(range(min = 1))]
    pub retry: u64,
    #[serde(default)]
    pub count: u64,
    pub mean_s: f64,
    pub min_s: Option<f64>,
    pub p5_s: Option<f64>,
    pub p95_s: Option<f64>,
    pub max_s: Option<f64>,
}
