//! What an oracle knows and no real client can: the server's cap, times and delays.

use crate::Instant;

/// Plans ops in the order in which they arrive, with perfect knowledge of the server.
pub trait Foreknowledge: Send {
    /// The plan for this op, which is asked for once, after all ops that arrived before it.
    fn plan(&mut self, op: u64, arrived: Instant) -> Plan;
}

/// When to send an op, and when its success comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The instant to send it at: it reaches the server just when a slot frees.
    pub send_at: Instant,
    /// The instant of its success.
    pub finish: Instant,
}
