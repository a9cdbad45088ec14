//! Record of the runs that were missing when shards were merged.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct Incomplete {
    /// Number of shards of the plan; 1 if no shards were merged.
    pub shards: u32,
    pub missing_shards: Vec<u32>,
    /// Number of runs that were planned, including runs that are missing.
    pub tasks: u64,
    pub missing_tasks: u64,
}
