//! A share of a run's clients, where other programs take the rest: which share, and how all of them start together.

use std::fmt;
use std::time::{Duration, SystemTime};

use loadgen_core::ClientShard;
use loadgen_http::MockServer;
use vocabulary::wire::RunId;

/// Which share of the clients is taken here.
#[derive(Clone, Debug)]
pub struct Sharded {
    /// Client c belongs to shard c mod N.
    pub shard: ClientShard,
    /// How all shards start at once.
    pub start: StartChoice,
}

/// How shards start at once.
#[derive(Clone, Debug)]
pub enum StartChoice {
    /// They wait for one another at a mockserver.
    Barrier(Box<BarrierChoice>),
    /// At this time of the calendar, as this run.
    At(SystemTime, RunId),
}

/// Where shards wait for one another.
#[derive(Clone, Debug)]
pub struct BarrierChoice {
    /// Who lets them go.
    pub server: MockServer,
    /// Where that is, as errors and announcements name it.
    pub url: String,
    /// How long they wait.
    pub patience: Duration,
    /// What tells these shards from those of other runs.
    pub name: Option<RunId>,
    /// A fingerprint of what all of them are to do: whoever comes with another one is refused. Known once all is planned.
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
