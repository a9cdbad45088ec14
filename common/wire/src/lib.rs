//! Protocol between `loadgen` and `mockserver`: header names and the server's counts.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod advertised_limits;

use serde::{Deserialize, Serialize};

pub use advertised_limits::{AdvertisedLimits, AdvertisedLimitsError, AdvertisedRate, AdvertisedSlots};

/// Request header: the run's id as 16 hexadecimal digits. A server that several runs share uses the id to count each
/// run separately.
pub const RUN: &str = "x-tailback-run";
/// Request header: the run's seed as a decimal number. The server's random draws depend on this seed.
pub const SEED: &str = "x-tailback-seed";
/// Request header: the op's number, counted from 0, decimal.
pub const OP: &str = "x-tailback-op";
/// Request header: number of the attempt within its op, counted from 1, decimal.
pub const ATTEMPT: &str = "x-tailback-attempt";
/// Request header: the client's number, counted from 0, decimal.
pub const CLIENT: &str = "x-tailback-client";
/// Request header: phase of a conditional write. The only value is [`STEP_READ`], for the read that precedes the write.
/// The write itself is recognised by its `If-Match` header.
pub const STEP: &str = "x-tailback-step";
pub const STEP_READ: &str = "read";
/// Request header: free capacity that the server must at least have to start this attempt, in slots, places or
/// descriptors, decimal.
pub const MIN_FREE: &str = "x-tailback-least-free";
/// Request header: cost of the request, for policies that read the cost from this header, decimal.
pub const COST: &str = "x-tailback-cost";
/// Request header: actual cost of the request, which is known after the answer, decimal. A server may refund the
/// difference between this cost and [`COST`].
pub const USED: &str = "x-tailback-used";
/// Response header: the server did not start the attempt, because it had less free capacity than the request's
/// [`MIN_FREE`]. Neither the client nor the server counts an attempt that was not started.
pub const DEFERRED: &str = "x-tailback-deferred";
/// Response header: experiment time from the request's arrival until its answer was due, in nanoseconds, decimal. If
/// the client measures a longer time, the difference is overhead of the machine.
pub const TOOK: &str = "x-tailback-took-ns";
/// Response header: number of busy slots at the time of the answer, decimal.
pub const BUSY: &str = "x-tailback-busy";
/// Response header: the server's concurrency cap at the time of the answer, decimal.
pub const CAP: &str = "x-tailback-cap";
/// Response header: state of the limits that apply to this request, if the server has a stack of policies. The format
/// is that of [`AdvertisedLimits`].
pub const LIMITS: &str = "x-tailback-limits";
/// Response header: experiment time since the server's start at which the answer was due, in nanoseconds, decimal. The
/// client evaluates dates in the answer relative to this moment.
pub const AT: &str = "x-tailback-at-ns";
/// Response header: outcome of the request at the server, independent of the status code. The value is one of
/// [`VERDICTS`].
pub const VERDICT: &str = "x-tailback-verdict";
pub const VERDICTS: [&str; 3] = ["accepted", "rejected", "failed"];
/// Response header: experiment time after which a rejected request would be accepted if no other requests arrived, in
/// nanoseconds, decimal. The header is sent only if no form of retry advice is configured.
pub const WAIT: &str = "x-tailback-wait-ns";
/// Response header that identifies a mockserver. Its value is the version of this protocol.
pub const MOCK: &str = "x-tailback-mock";
pub const MOCK_VERSION: &str = "1";
pub const DEFAULT_ADDRESS: &str = "127.0.0.1:8503";
/// Port of `DEFAULT_ADDRESS`.
pub const DEFAULT_PORT: u16 = 8503;

pub type RunId = u64;

/// Answer to `GET /_mock/capacity`: the free capacity. Clients with carrier sense query it before they send a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capacity {
    /// Number of free slots of the server, or of free places or descriptors, depending on its policy.
    pub free: u64,
}

/// Answer to `GET /_mock/config`, and to a request that changes the configuration. It contains the configuration and
/// further state of the server that a client needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerDescription<C> {
    #[serde(flatten)]
    pub config: C,
    #[serde(flatten)]
    pub state: ServerState,
}

/// State of a server that a client needs in addition to the server's configuration. Older versions of the server send
/// only some of the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerState {
    /// Time scale of the server: real seconds per second of the experiment.
    pub time_scale: Option<f64>,
    pub instance: Option<u64>,
    /// Number of changes of the configuration since the server's start. If a change was later reverted, only this
    /// number reveals that there was a change.
    pub changes: Option<u64>,
    pub epoch: Option<u64>,
    /// Calendar time of the server's start, in milliseconds since 1970. Dates in the server's answers start at this
    /// time and advance with experiment time.
    pub anchor_unix_ms: Option<u64>,
    pub http2_max_streams: Option<u32>,
}

/// Body of `PATCH /_mock/config`: one change of the configuration. All other settings, including the preset, keep their
/// values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ConfigChange {
    Cap {
        max_busy: u64,
    },
    Parameter {
        /// Changed parameter of a policy with its new value, such as `primary.limit=90`.
        set: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub error: String,
    /// `Host` header of the refused request. It is present only if this header is the reason for the refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

impl Refusal {
    pub fn new(error: impl Into<String>) -> Self {
        Self { error: error.into(), host: None }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct ServerCounts {
    pub received: u64,
    #[serde(default)]
    pub reads: u64,
    #[serde(default)]
    pub reads_rejected: u64,
    pub accepted: u64,
    pub rejected: u64,
    #[serde(default)]
    pub failed: u64,
    pub max_busy_seen: u64,
    #[serde(default)]
    pub max_accepted_seen: u64,
    #[serde(default)]
    pub crashes: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_policy: Vec<PolicyCounts>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct PolicyCounts {
    pub name: String,
    pub accepted: u64,
    pub rejected: u64,
}

impl PolicyCounts {
    pub fn total(&self) -> u64 {
        self.accepted + self.rejected
    }
}

/// Answer to `GET /_mock/stats`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct ServerStats {
    /// Counts of the requested run, or of all runs since the last reset.
    #[serde(flatten)]
    pub counts: ServerCounts,
    /// Number of slots that are busy now.
    pub busy: u64,
    /// Server time in milliseconds spent on attempts that were accepted and completed. Null if the server does not
    /// report this time.
    #[serde(default)]
    pub served_ms: Option<f64>,
    /// Server time in milliseconds that was wasted on attempts that were rejected, or that were abandoned by their
    /// client.
    pub wasted_ms: f64,
    /// Experiment time since the server started, in seconds.
    pub uptime_s: f64,
    /// Number that differs for every start of a mockserver. It distinguishes a restarted server from a server that kept
    /// running.
    pub instance: u64,
    /// Number of resets of the counts since the server started. Counts of different epochs must not be combined.
    #[serde(default)]
    pub epoch: u64,
    /// Number of requests that arrived too early, before the time that the server had advised to their client in
    /// `Retry-After`. A client is identified by its `Authorization` header, or by its address. 0 from servers that do
    /// not count such requests.
    #[serde(default)]
    pub retried_too_early: u64,
    /// Number of preflight requests of browsers, which are not in `received`. Missing if the server does not answer
    /// preflight requests (`--cors`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preflights: Option<u64>,
    /// Time of the latest activity that may be missing from the counts of the requested run, in seconds of experiment
    /// time since the server started. Activity may be missing if too many runs were counted at once. Null if no
    /// activity can be missing.
    #[serde(default)]
    pub forgotten_until_s: Option<f64>,
}
