//! Client shards: this program runs one part of a run's clients while other programs run the rest. All shards start
//! together.

use std::fmt;
use std::time::{Duration, SystemTime};

use loadgen_core::ClientShard;
use loadgen_http::MockServer;
use vocabulary::wire::RunId;

#[derive(Clone, Debug)]
pub struct Sharded {
    /// Client c belongs to shard c mod N.
    pub shard: ClientShard,
    pub start: StartChoice,
}

#[derive(Clone, Debug)]
pub enum StartChoice {
    Barrier(Box<BarrierChoice>),
    /// Start at this calendar time. All shards use this run id.
    At(SystemTime, RunId),
}

#[derive(Clone, Debug)]
pub struct BarrierChoice {
    pub server: MockServer,
    pub url: String,
    pub patience: Duration,
    /// Id that distinguishes these shards from the shards of other runs.
    pub name: Option<RunId>,
    /// Fingerprint of the planned runs, set once everything is planned. A shard with another fingerprint is rejected.
    pub plan: String,
}

impl fmt::Display for Sharded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shard {} of the clients, ", self.shard)?;
        match &self.start {
            StartChoice::Barrier(barrier) => {
                write!(f, "with all others from the barrier at {} on", barrier.url)
            }
            StartChoice::At(time, _) => write!(f, "from {} on", humantime::format_rfc3339_millis(*time)),
        }
    }
}
