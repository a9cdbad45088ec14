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
    /// Id of a sharded run at a barrier. Several runs may use the same barrier, and the id distinguishes their shards.
    pub name: Option<RunId>,
    /// Fingerprint of the runs that a shard has planned; set after planning. All shards of a run must have the same fingerprint, because
    /// the barrier rejects a shard with a different one.
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
