//! Protocol between `loadgen` and `mockserver`: header names and the server's counts.

use serde::{Deserialize, Serialize};

/// Request header: the run's id, 16 hexadecimal digits, so that a shared server counts per run.
pub const RUN: &str = "x-tailback-run";
/// Request header: the run's seed, decimal. It is part of the key of the server's random draws.
pub const SEED: &str = "x-tailback-seed";
/// Request header: the op's number, from 0, decimal.
pub const OP: &str = "x-tailback-op";
/// Request header: number of the attempt within its op, from 1, decimal.
pub const ATTEMPT: &str = "x-tailback-attempt";
/// Request header: the client's number, from 0, decimal.
pub const CLIENT: &str = "x-tailback-client";
/// Request header: the shard of the run's clients that sent the request, from 0, decimal. A shared server counts each shard separately.
pub const SHARD: &str = "x-tailback-shard";
/// Request header: phase of a conditional write. The only value is [`STEP_READ`], because a write is recognised by its `If-Match`.
pub const STEP: &str = "x-tailback-step";
pub const STEP_READ: &str = "read";
/// Request header: minimum free capacity (slots, places, descriptors) for the server to start this attempt, decimal.
pub const MIN_FREE: &str = "x-tailback-least-free";
/// Request header: cost of the request, for policies that read the cost from this header, decimal.
pub const COST: &str = "x-tailback-cost";
/// Request header: actual cost of the request, which is known after the answer, decimal. A server may refund the
/// difference to [`COST`].
pub const USED: &str = "x-tailback-used";
/// Response header: the server had less free capacity than [`MIN_FREE`] and did not start the attempt. Neither client
/// nor server counts such an attempt.
pub const DEFERRED: &str = "x-tailback-deferred";
/// Response header: experiment time from the request's arrival until its answer was due, in nanoseconds, decimal. If
/// the client measures a longer time, the difference is overhead of the machine.
pub const TOOK: &str = "x-tailback-took-ns";
/// Response header: busy slots at the time of the answer, decimal.
pub const BUSY: &str = "x-tailback-busy";
/// Response header: the server's concurrency cap at the time of the answer, decimal.
pub const CAP: &str = "x-tailback-cap";
/// Response header: state of the limits of a stack of policies for the request, in the format of [`AdvertisedLimits`](crate::AdvertisedLimits).
pub const LIMITS: &str = "x-tailback-limits";
/// Response header: experiment time since the server's start at which the answer was due, in nanoseconds, decimal.
/// A run's client evaluates dates in the answer relative to this moment.
pub const AT: &str = "x-tailback-at-ns";
/// Response header: outcome of the request at the server, whatever its status code: one of [`VERDICTS`].
pub const VERDICT: &str = "x-tailback-verdict";
pub const VERDICTS: [&str; 3] = ["accepted", "rejected", "failed"];
/// Response header: experiment time, in nanoseconds, after which a rejected request would be accepted without further
/// traffic, decimal. Sent only if no form of advice is configured.
pub const WAIT: &str = "x-tailback-wait-ns";
/// Response header that identifies a mockserver. Its value is the version of this protocol.
pub const MOCK: &str = "x-tailback-mock";
pub const MOCK_VERSION: &str = "1";
pub const DEFAULT_ADDRESS: &str = "127.0.0.1:8503";

pub type RunId = u64;

/// Answer to `GET /_mock/capacity`: the free capacity, which clients with carrier sense query before they send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capacity {
    /// Free slots, places or descriptors.
    pub free: u64,
}

/// Answer to `GET /_mock/config` and to a change: the server's configuration, and further state that a client needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerDescription<C> {
    #[serde(flatten)]
    pub config: C,
    #[serde(flatten)]
    pub state: ServerState,
}

/// State of a server, besides its configuration, that a client needs. Earlier versions send only some of the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerState {
    /// Real seconds per second of the experiment.
    pub time_scale: Option<f64>,
    pub instance: Option<u64>,
    /// Number of changes of the configuration since the server's start. Only this number shows a change that was
    /// reverted.
    pub changes: Option<u64>,
    pub epoch: Option<u64>,
    /// Calendar time of the server's start, in milliseconds since 1970. Dates in the server's answers start at this
    /// time and advance with experiment time.
    pub anchor_unix_ms: Option<u64>,
    pub http2_max_streams: Option<u32>,
}

/// Body of `PATCH /_mock/config`, with one change. All other settings remain unchanged, including the preset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ConfigChange {
    Cap {
        max_busy: u64,
    },
    Parameter {
        /// Policy, parameter and value: `primary.limit=90`.
        set: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub error: String,
    /// `Host` of the request, if the server refused the request because of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

impl Refusal {
    pub fn new(error: impl Into<String>) -> Self {
        Self { error: error.into(), host: None }
    }
}

/// What the server counted for one run, the `server` object of the result JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct ServerCounts {
    /// Attempts that reached admission (for conditional writes: the writes).
    pub received: u64,
    /// Reads that preceded conditional writes.
    #[serde(default)]
    pub reads: u64,
    /// … of which were turned away, or failed on purpose, so that no write followed.
    #[serde(default)]
    pub reads_rejected: u64,
    /// Attempts that got a slot.
    pub accepted: u64,
    /// Attempts turned away.
    pub rejected: u64,
    /// Attempts that failed on purpose before anything was done for them.
    #[serde(default)]
    pub failed: u64,
    /// Most slots busy at once, rejections that hold a slot included.
    pub max_busy_seen: u64,
    /// Most accepted attempts in service at once.
    #[serde(default)]
    pub max_accepted_seen: u64,
    /// Times that the service broke down under its load.
    #[serde(default)]
    pub crashes: u64,
    /// By policy, where several are in force: those in force in their order, then earlier ones of which something was counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_policy: Vec<PolicyCounts>,
}

/// What one policy of a stack did with requests, those of reads among them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct PolicyCounts {
    /// What the policy is called.
    pub name: String,
    /// Requests that it let pass, whatever became of them behind it.
    pub accepted: u64,
    /// Requests that it turned away; policies behind it never saw them.
    pub rejected: u64,
}

impl PolicyCounts {
    pub fn total(&self) -> u64 {
        self.accepted + self.rejected
    }
}

/// What the server counted for one shard of a run's clients: rows add up to the run's counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct ShardRow {
    /// Which shard, from 0.
    pub shard: u32,
    /// See [`ServerCounts::received`].
    pub received: u64,
    /// See [`ServerCounts::reads`].
    pub reads: u64,
    /// See [`ServerCounts::reads_rejected`].
    pub reads_rejected: u64,
    /// See [`ServerCounts::accepted`].
    pub accepted: u64,
    /// See [`ServerCounts::rejected`].
    pub rejected: u64,
    /// See [`ServerCounts::failed`].
    pub failed: u64,
}

impl ShardRow {
    pub fn counts(&self) -> ServerCounts {
        let Self { shard: _, received, reads, reads_rejected, accepted, rejected, failed } = *self;
        ServerCounts {
            received,
            reads,
            reads_rejected,
            accepted,
            rejected,
            failed,
            ..ServerCounts::default()
        }
    }
}

/// Maximum number of shards of a run, both for separate counts and at a barrier.
pub const MAX_SHARDS: u32 = 1024;

/// Answer to `POST /_mock/barrier`, sent when all participants (shards of a run) have arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Released {
    /// Id of the run, which all participants send as [`RUN`]: 16 hexadecimal digits.
    pub run: String,
    pub of: u32,
    /// Real time from this answer to the common start, in milliseconds. Participants use it for preparations.
    pub start_in_ms: u64,
    pub instance: u64,
    /// See [`ServerStats::epoch`]. Each release of the barrier resets the counts and thus begins a new epoch.
    pub epoch: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotReleased {
    pub error: String,
    /// Number of participants that had arrived, the receiver included. Absent if the receiver was not admitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came: Option<u32>,
    /// Numbers of the missing participants, if participants reported their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<u32>,
}

/// `GET /_mock/stats`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct ServerStats {
    /// The counts asked for (of one run, or of all since the last reset).
    #[serde(flatten)]
    pub counts: ServerCounts,
    /// Slots busy now.
    pub busy: u64,
    /// Server time spent on attempts that were accepted and done; null from servers that do not tell.
    #[serde(default)]
    pub served_ms: Option<f64>,
    /// Server time spent on attempts that came to nothing: rejected, or abandoned by their client.
    pub wasted_ms: f64,
    /// Experiment time since the server started.
    pub uptime_s: f64,
    /// Differs from every other start of a mockserver: tells a restarted server from one that went on.
    pub instance: u64,
    /// Resets since it started: counts of different epochs do not belong together.
    #[serde(default)]
    pub epoch: u64,
    /// Requests that came before the time that the server advised to their client in `Retry-After`; a client is an `Authorization`
    /// header, or an address. 0 from servers that do not count them.
    #[serde(default)]
    pub retried_too_early: u64,
    /// The latest activity that may belong to the run asked for and is not in its counts, because too many runs were
    /// counted at once; in experiment time since the server started. Null when nothing of it can be missing.
    #[serde(default)]
    pub forgotten_until_s: Option<f64>,
    /// Of a run whose clients come in shards: a row for each, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shards: Vec<ShardRow>,
}
