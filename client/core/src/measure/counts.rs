//! Counts of ops and of attempts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpCounts {
    pub arrived: u64,
    pub succeeded: u64,
    pub given_up: u64,
    /// Number of times that an op was deferred, because the server had too little free.
    pub deferred: u64,
    /// Given-up ops whose last attempt was refused permanently or found no server.
    pub failed_for_good: u64,
}

impl OpCounts {
    pub const fn unfinished(&self) -> u64 {
        self.arrived - self.succeeded - self.given_up
    }
}

/// Counts of attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct AttemptCounts {
    /// Attempts sent.
    pub total: u64,
    /// … whose work was done.
    #[serde(default)]
    pub succeeded: u64,
    /// … that the server turned away.
    #[serde(default)]
    pub rejected: u64,
    /// … that got no usable answer.
    #[serde(default)]
    pub failed: u64,
    /// … that the client withdrew.
    #[serde(default)]
    pub cancelled: u64,
    /// Launches that a budget refused; nothing was sent, so they are not in `total`.
    #[serde(default)]
    pub shed: u64,
    /// Of the answered: those that somebody between the client and the recognised mockserver answered (a gateway, a
    /// proxy). 0 when simulated.
    #[serde(default)]
    pub by_gateway: u64,
    /// Of those sent: those for an op of which another attempt was under way. The work of all but one of them is for
    /// nothing.
    #[serde(default)]
    pub duplicates: u64,
    /// Of those sent: those for an op whose attempt before was refused for good (3xx, most 4xx), which no retry changes.
    #[serde(default)]
    pub after_final: u64,
}
