//! Counts of ops and of attempts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counts of ops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpCounts {
    /// Ops that arrived.
    pub arrived: u64,
    /// Ops whose work was done.
    pub succeeded: u64,
    /// Ops that ended without success.
    pub given_up: u64,
    /// Times that an op was put off because the server, when asked, had too little free.
    pub deferred: u64,
    /// Of those given up: the ones whose last attempt was refused for good, or found nobody who answers.
    pub failed_for_good: u64,
}

impl OpCounts {
    /// Ops that arrived and did not end.
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
