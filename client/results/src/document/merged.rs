//! Records of shards and of merges in documents.

use serde::{Deserialize, Serialize};

/// Shard of a command: with N shards, shard I has the blocks I, I + N, and so on. A block is all strategies at one point with one seed.
/// Blocks are numbered by point, then by seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShardRecord {
    pub index: u32,
    pub of: u32,
    /// Number of blocks of the whole command.
    pub blocks: u64,
}

/// Maximum number of missing blocks or shards that are named, and that are counted.
const NAMED: usize = 10;
pub(crate) const COUNTED: usize = 10_000;

impl ShardRecord {
    /// Returns the number of blocks of this shard.
    pub fn own(&self) -> u64 {
        self.blocks.saturating_sub(self.index.into()).div_ceil(self.of.into())
    }

    /// Returns which blocks are missing if the shard has only its first `done` blocks, such as "blocks 3, 5".
    pub fn lacking(&self, done: u64) -> Option<String> {
        let number = |place| u64::from(self.index) + place * u64::from(self.of);
        listed("block", (done..self.own()).map(number))
    }
}

/// Lists numbers after a noun, such as "shards 1, 2"; `None` if there are none.
pub(crate) fn listed<N: ToString>(noun: &str, numbers: impl Iterator<Item = N>) -> Option<String> {
    let mut numbers = numbers.take(COUNTED);
    let named: Vec<String> = numbers.by_ref().take(NAMED).map(|number| number.to_string()).collect();
    let plural = if named.len() == 1 { "" } else { "s" };
    let more = numbers.count();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    (!named.is_empty()).then(|| format!("{noun}{plural} {}{more}", named.join(", ")))
}

/// Run that was added to others which sent their load to the same target at the same time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MergedLoad {
    pub seed: u64,
    pub started_at: Option<String>,
    pub wall_s: Option<f64>,
    pub ops: u64,
    pub attempts: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Incomplete {
    /// Number of shards of the plan; 1 if no shards were merged.
    pub shards: u32,
    pub missing_shards: Vec<u32>,
    /// Number of runs that were planned, including runs that are missing.
    pub tasks: u64,
    pub missing_tasks: u64,
}
