//! Client shards: this program runs one part of a run's clients while other programs run the rest. All shards start
//! together.

use std::fmt;
use std::time::{Duration, SystemTime};

use loadgen_core::ClientShard;
use loadgen_http::MockServer;
use vocabulary::wire::RunId;

#[derive(Clone, Debug)]
pub struct Sharded {
    /// Shard of the clients that this program runs. Client `c` belongs to shard `c` mod N of N shards.
    pub shard: ClientShard,
    pub start: StartChoice,
}

#[derive(Clone, Debug)]
pub enum StartChoice {
    Barrier(Box<BarrierChoice>),
    /// Start at a calendar time, with a run id that all shards use.
    At(SystemTime, RunId),
}

#[derive(Clone, Debug)]
pub struct BarrierChoice {
    pub server: MockServer,
    pub url: String,
    pub patience: Duration,
    /// Id that distinguishes the shards of this run from the shards of other runs.
    pub name: Option<RunId>,
    /// Fingerprint of the planned runs, set once all runs are planned. The barrier rejects a shard with another fingerprint.
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
