//! Document that `loadgen parity` writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::config::ServerModel;
use crate::document::version::SchemaVersion;
use crate::figures::over_runs::OverRuns;

/// The same through both drivers, figure by figure (loadgen parity).
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Parity {
    /// Of this form.
    #[serde(default)]
    pub schema_version: SchemaVersion,
    /// What was compared.
    pub pairings: Vec<Pairing>,
}

/// One strategy, workload and server through both drivers.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Pairing {
    /// Which one.
    pub name: String,
    /// As typed.
    pub strategy: String,
    /// In words.
    pub workload: String,
    /// The mockserver's configuration.
    pub server: ServerModel,
    /// Figure by figure.
    pub figures: Vec<ParityFigure>,
    /// Whether the generator was the bottleneck of the real run.
    pub bottleneck: bool,
    /// Real runs that were done.
    #[schemars(range(min = 1))]
    pub http_runs: u64,
}

/// One figure of both.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct ParityFigure {
    /// Its name.
    pub figure: String,
    /// Of many simulated runs.
    pub simulated: OverRuns,
    /// Of the real run; of several, the median.
    pub http: f64,
    /// How far apart they may be.
    pub band: f64,
    /// Whether they are no further apart.
    pub agrees: bool,
}
