//! Record of the runs that were missing when shards were merged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Planned runs that are missing, because shards were missing in a merge (loadgen merge --partial) or because runs could not be executed.
/// With several strategies, a block (one run of every strategy, all with the same seed) counts only if all of its runs exist.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Incomplete {
    /// Number of shards of the plan; 1 if no shards were merged.
    pub shards: u32,
    /// Indexes of the shards that were missing in the merge, from 0.
    pub missing_shards: Vec<u32>,
    /// Number of runs that were planned, including runs that are missing.
    pub tasks: u64,
    pub missing_tasks: u64,
}
