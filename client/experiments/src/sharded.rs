//! Client shards: several programs run one part of a run's clients each. All shards start together.

use std::fmt;
use std::time::{Duration, SystemTime};

use loadgen_core::ClientShard;
use loadgen_http::MockServer;
use vocabulary::wire::RunId;

#[derive(Clone, Debug)]
pub struct Sharded {
    /// Shard whose clients this program runs. With N shards, client `c` belongs to shard `c` mod N.
    pub shard: ClientShard,
    pub start: StartChoice,
}

#[derive(Clone, Debug)]
pub enum StartChoice {
    Barrier(Box<BarrierChoice>),
    /// The shards start at the given calendar time, and all use the given run id.
    At(SystemTime, RunId),
}

#[derive(Clone, Debug)]
pub struct BarrierChoice {
    pub server: MockServer,
    pub url: String,
    pub patience: Duration,
    /// Id that distinguishes the shards of this run from shards of other runs at the same barrier.
    pub name: Option<RunId>,
    /// Fingerprint of the planned runs, set after all runs have been planned. All shards must have the same fingerprint, because the
    /// barrier rejects any other.
    pub plan: String,
}

impl fmt::Display for Sharded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shard {} of the clients, ", self.shard)?;
        match &self.start {
            StartChoice::Barrier(barrier) => {
                write!(f, "started with all other shards by the barrier at {}", barrier.url)
            }
            StartChoice::At(time, _) => write!(f, "from {} on", humantime::format_rfc3339_millis(*time)),
        }
    }
}
