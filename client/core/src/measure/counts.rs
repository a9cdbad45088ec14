//! Counts of a run's ops (client operations) and of their attempts, by outcome such as succeeded or rejected.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpCounts {
    pub arrived: u64,
    pub succeeded: u64,
    pub given_up: u64,
    /// Number of times that an op was deferred: the server did not start its attempt, because too few slots were free.
    pub deferred: u64,
    /// Number of given-up ops whose last attempt was refused permanently or found no server.
    pub failed_for_good: u64,
}

impl OpCounts {
    pub const fn unfinished(&self) -> u64 {
        self.arrived - self.succeeded - self.given_up
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct AttemptCounts {
    /// Number of attempts that the client sent.
    pub total: u64,
    #[serde(default)]
    pub succeeded: u64,
    #[serde(default)]
    pub rejected: u64,
    /// Number of attempts without a usable answer.
    #[serde(default)]
    pub failed: u64,
    /// Number of attempts that the client withdrew.
    #[serde(default)]
    pub cancelled: u64,
    /// Number of attempts that were not sent, because a budget refused them. They are not included in `total`.
    #[serde(default)]
    pub shed: u64,
    /// Number of attempts answered by a gateway or proxy between the client and the recognised mockserver. 0 in virtual time.
    #[serde(default)]
    pub by_gateway: u64,
    /// Number of attempts sent while another attempt of the same op was in flight. They duplicate work, because only one of an op's
    /// attempts is useful.
    #[serde(default)]
    pub duplicates: u64,
    /// Number of attempts sent although the op's previous attempt had been refused permanently (3xx, most 4xx). After such a refusal no
    /// retry can succeed.
    #[serde(default)]
    pub after_final: u64,
}
