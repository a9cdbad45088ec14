//! Record of the runs that were missing when shards were merged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is missing: when shards were merged (loadgen merge --partial), or since a run could not be done. Of several strategies only blocks
/// count of which every run was there.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Incomplete {
    /// How many shards there are to be; 1 where none were merged.
    pub shards: u32,
    /// Those that were not there, from 0.
    pub missing_shards: Vec<u32>,
    /// How many runs there are to be.
    pub tasks: u64,
    /// Runs that nobody did.
    pub missing_tasks: u64,
}
