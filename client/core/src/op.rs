//! One op that has arrived and not ended: 40 bytes in a slab.

use tailback::{RetryState, Status};
use vocabulary::Instant;

/// An op that has arrived and not ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) arrived: Instant,
    /// The retry policy's own memory.
    pub(crate) retry_state: RetryState,
    /// Number within the run, from 0.
    pub(crate) id: u64,
    /// Attempts sent.
    pub(crate) attempts: u32,
    /// Tries that failed, sheds included.
    pub(crate) failures: u32,
    /// How the last try ended.
    pub(crate) last: Option<Status>,
    pub(crate) place: Place,
}

/// Where an op is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In its client's queue.
    Ready,
    /// Until its back-off is over.
    Sleeping,
    /// An attempt is under way.
    InFlight,
    /// Ended while it was queued or asleep; whoever holds its index next drops it.
    Dead,
}
