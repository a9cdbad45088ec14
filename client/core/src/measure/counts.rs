//! Counts of a run's ops (client operations) and of their attempts, by outcome such as succeeded or rejected.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpCounts {
    pub arrived: u64,
    pub succeeded: u64,
    pub given_up: u64,
    /// Number of times that an op was deferred: the server did not start its attempt, because too few slots were free.
    pub deferred: u64,
    /// Number of ops that were given up after a failure, except those ended by their deadline.
    pub failed: u64,
    /// Number of given-up ops whose last attempt was refused permanently.
    pub failed_for_good: u64,
}

impl OpCounts {
    pub const fn unfinished(&self) -> u64 {
        self.arrived - self.succeeded - self.given_up
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct AttemptCounts {
    pub total: u64,
    #[serde(default)]
    pub succeeded: u64,
    #[serde(default)]
    pub rejected: u64,
    #[serde(default)]
    pub failed: u64,
    #[serde(default)]
    pub cancelled: u64,
    #[serde(default)]
    pub shed: u64,
    #[serde(default)]
    pub by_gateway: u64,
    #[serde(default)]
    pub duplicates: u64,
    #[serde(default)]
    pub after_final: u64,
    /// Number of attempts that were withdrawn or timed out while they waited for a connection. They are not part of `total`.
    #[serde(default)]
    pub unsent: u64,
}
