//! What `loadgen` and `mockserver` say to one another: header names and the server's counts.

use serde::{Deserialize, Serialize};

/// Request header: the run's id, 16 hexadecimal digits, so that a shared server counts per run.
pub const RUN: &str = "x-tailback-run";
/// Request header: the run's seed, decimal; keys the server's draws.
pub const SEED: &str = "x-tailback-seed";
/// Request header: the op's number, from 0, decimal.
pub const OP: &str = "x-tailback-op";
/// Request header: which attempt of the op this is, from 1, decimal.
pub const ATTEMPT: &str = "x-tailback-attempt";
/// Request header: the client's number, from 0, decimal.
pub const CLIENT: &str = "x-tailback-client";
/// Request header: which shard of the run's clients sent it, from 0, decimal: a shared server counts each of them apart.
pub const SHARD: &str = "x-tailback-shard";
/// Request header: which half of a conditional write this is. The only value is [`STEP_READ`]; a write is known by its
/// `If-Match`.
pub const STEP: &str = "x-tailback-step";
/// The value of [`STEP`] for the read that precedes a conditional write.
pub const STEP_READ: &str = "read";
/// Request header: what must be free at the server (slots, places, descriptors) for it to start this attempt, decimal.
pub const LEAST_FREE: &str = "x-tailback-least-free";
/// Request header: what the request costs where the server's policy asks this header, decimal.
pub const COST: &str = "x-tailback-cost";
/// Request header: what it turns out to have cost when it is answered, decimal: a server may give the rest of [`COST`] back.
pub const USED: &str = "x-tailback-used";
/// Response header: the server looked, had less free than [`LEAST_FREE`] and started nothing. Such an attempt counts on
/// neither side.
pub const DEFERRED: &str = "x-tailback-deferred";
/// Response header: experiment time, in nanoseconds, from the request's arrival to the instant at which its answer was due, decimal.
/// What the client measures beyond that is the machine's.
pub const TOOK: &str = "x-tailback-took-ns";
/// Response header: slots busy when the server answered, decimal.
pub const BUSY: &str = "x-tailback-busy";
/// Response header: the server's cap when it answered, decimal.
pub const CAP: &str = "x-tailback-cap";
/// Response header: where the limits of a stack of policies stand for the request, as [`LimitsTold`](crate::LimitsTold) has it.
pub const LIMITS: &str = "x-tailback-limits";
/// Response header: experiment time since the server's start, in nanoseconds, at which the answer was due, decimal. Dates that it tells a run
/// are read as at this moment.
pub const AT: &str = "x-tailback-at-ns";
/// Response header: what the server made of the request, whatever the status says: one of [`VERDICTS`].
pub const VERDICT: &str = "x-tailback-verdict";
/// What [`VERDICT`] can be: served, turned away, or gone wrong.
pub const VERDICTS: [&str; 3] = ["accepted", "rejected", "failed"];
/// Response header: experiment time, in nanoseconds, after which a rejected request would be accepted if nothing else came, decimal. Only where
/// the server is not told in what form to advise.
pub const WAIT: &str = "x-tailback-wait-ns";
/// Response header by which a mockserver is recognised; its value is the version of this protocol.
pub const MOCK: &str = "x-tailback-mock";
/// The value of [`MOCK`].
pub const MOCK_VERSION: &str = "1";
/// Where a mockserver listens unless told otherwise.
pub const DEFAULT_ADDRESS: &str = "127.0.0.1:8503";

/// A run's id on the wire.
pub type RunId = u64;

/// `GET /_mock/capacity`: what a carrier sense looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capacity {
    /// Slots, places or descriptors that are free.
    pub free: u64,
}

/// `GET /_mock/config`, and the answer to a change: how the server is configured, and what else a client must know of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerDescription<C> {
    /// The configuration, key by key.
    #[serde(flatten)]
    pub config: C,
    /// What is no part of it.
    #[serde(flatten)]
    pub state: ServerState,
}

/// What a client must know of a server besides its configuration. Earlier versions do not say all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerState {
    /// How many times faster than real time it runs.
    pub time_scale: Option<f64>,
    /// See [`ServerStats::instance`].
    pub instance: Option<u64>,
    /// Changes of the configuration since it started: one that was taken back again shows in nothing else.
    pub changes: Option<u64>,
    /// See [`ServerStats::epoch`].
    pub epoch: Option<u64>,
    /// The calendar when it started, in milliseconds since 1970: dates that it tells a run go on from there with the experiment's time.
    pub anchor_unix_ms: Option<u64>,
    /// Requests that it takes at once on a connection of HTTP/2.
    pub http2_max_streams: Option<u32>,
}

/// `PATCH /_mock/config` with one thing changed; all else stays as it is, also the preset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ConfigChange {
    /// Another cap.
    Cap {
        /// Slots from now on.
        max_busy: u64,
    },
    /// Another value of one parameter of a policy.
    Parameter {
        /// The policy, the parameter and its value: `primary.limit=90`.
        set: String,
    },
}

/// Why an endpoint did not do what it was asked to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// In words.
    pub error: String,
    /// The host of the request, where it is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

impl Refusal {
    /// Creates a refusal for another reason than the host.
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
    /// Requests that it decided about.
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
    /// The same as counts of a run.
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

/// The most shards of a run: a server counts no more apart, and has no more at a barrier.
pub const MOST_SHARDS: u32 = 1024;

/// The answer to `POST /_mock/barrier`, when all are there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Released {
    /// The id that all of them are to send as [`RUN`], 16 hexadecimal digits.
    pub run: String,
    /// How many they are.
    pub of: u32,
    /// Real time from this answer to the common start, in milliseconds: time to get ready.
    pub start_in_ms: u64,
    /// See [`ServerStats::instance`].
    pub instance: u64,
    /// See [`ServerStats::epoch`]; the counts began anew with the release.
    pub epoch: u64,
}

/// Why a barrier lets nobody go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotReleased {
    /// In words.
    pub error: String,
    /// How many had come, who was told this included; nothing where it was not let in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came: Option<u32>,
    /// Which of them had not come, where they said which they are.
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
