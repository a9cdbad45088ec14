//! Record of the runs that were missing when shards were merged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Runs that are missing, because shards were missing in a merge (loadgen merge --partial) or because a run could not be done. With several
/// strategies, only blocks with all of their runs count. A block runs every strategy with the same seed.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Incomplete {
    /// Number of shards of the plan; 1 if no shards were merged.
    pub shards: u32,
    /// Indexes of the missing shards, from 0.
    pub missing_shards: Vec<u32>,
    /// Number of planned runs.
    pub tasks: u64,
    /// Number of planned runs that were not executed.
    pub missing_tasks: u64,
}
