//! Document that `loadgen parity` writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::config::ServerModel;
use crate::document::version::SchemaVersion;
use crate::figures::over_runs::OverRuns;

/// Comparison of real runs over HTTP with simulated runs, figure by figure (loadgen parity).
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Parity {
    #[serde(default)]
    pub schema_version: SchemaVersion,
    pub pairings: Vec<Pairing>,
}

/// Comparison of real and simulated runs of one strategy with one workload and server.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Pairing {
    pub name: String,
    /// Strategy as given on the command line.
    pub strategy: String,
    pub workload: String,
    pub server: ServerModel,
    pub figures: Vec<ParityFigure>,
    /// Whether the load generator itself was the bottleneck of the real run.
    pub bottleneck: bool,
    /// Number of completed real runs over HTTP.
    #[schemars(range(min = 1))]
    pub http_runs: u64,
}

#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct ParityFigure {
    /// Name of the figure that is compared between real and simulated runs.
    pub figure: String,
    pub simulated: OverRuns,
    /// Value of the figure in the real run. If there were several real runs, it is their median.
    pub http: f64,
    /// Largest allowed difference between the real value and the simulated mean.
    pub band: f64,
    /// Whether the real value differs from the simulated mean by at most `band`.
    pub agrees: bool,
}
