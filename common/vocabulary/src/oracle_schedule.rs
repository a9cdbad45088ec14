//! Optimal schedule of an oracle. An oracle is a client that knows the server's configuration, unlike a real client.
//! The schedule is computed op by op, in the order in which the ops arrive.

use crate::Instant;

pub struct OracleSchedule(Box<dyn FnMut(u64, Instant) -> Instant + Send>);

impl OracleSchedule {
    /// Creates a schedule from a function that returns the send time of an op. The function receives the op's number
    /// and the instant at which the op is ready. An op that has failed is scheduled again, after all other ops.
    pub fn new(send_at: impl FnMut(u64, Instant) -> Instant + Send + 'static) -> Self {
        Self(Box::new(send_at))
    }

    /// Returns the send time of an op that is ready at `from`. The op is scheduled after all ops that were ready before
    /// it.
    pub fn send_at(&mut self, op: u64, from: Instant) -> Instant {
        (self.0)(op, from)
    }
}
