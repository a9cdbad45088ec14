//! A shard of a run's clients, while other programs run the rest, and the common start of all shards.

use std::fmt;
use std::time::{Duration, SystemTime};

use loadgen_core::ClientShard;
use loadgen_http::MockServer;
use vocabulary::wire::RunId;

/// The share of the clients that this process runs.
#[derive(Clone, Debug)]
pub struct Sharded {
    /// Client c belongs to shard c mod N.
    pub shard: ClientShard,
    pub start: StartChoice,
}

/// Method by which all shards start at the same time.
#[derive(Clone, Debug)]
pub enum StartChoice {
    /// The shards wait for one another at a mockserver.
    Barrier(Box<BarrierChoice>),
    /// The shards start at this calendar time, and share this run id.
    At(SystemTime, RunId),
}

/// Barrier at which shards wait for one another.
#[derive(Clone, Debug)]
pub struct BarrierChoice {
    /// Mockserver that releases the shards.
    pub server: MockServer,
    /// Address of the mockserver, as errors and announcements show it.
    pub url: String,
    /// Maximum time to wait.
    pub patience: Duration,
    /// Id that distinguishes these shards from those of other runs.
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
