//! Record of one ended attempt, for exports that list every attempt.

use tailback::Status;
use vocabulary::Instant;

use crate::cause::Cause;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Number of the attempt's op within the run, from 0.
    pub op: u64,
    /// Ordinal of the attempt within its op, from 1.
    pub attempt: u32,
    /// Number of the client that sent the attempt, from 0.
    pub client: u32,
    /// Number of the attempt within the run, from 0, in the order of sending. No number occurs twice. Over
    /// HTTP, numbers of deferred attempts may be missing.
    pub serial: u64,
    pub arrived: Instant,
    pub due: Instant,
    pub sent: Instant,
    /// False if the attempt was withdrawn while it waited for a connection. `sent` is then the instant at which it was due.
    pub is_sent: bool,
    pub ended: Instant,
    pub status: Status,
    pub cause: Option<Cause>,
    pub by_gateway: bool,
    /// Window of the strategy just after the end of the attempt; `None` if the strategy has no window.
    pub window: Option<f64>,
}

/// Callback for every ended attempt. It is called on the hot path, so it must not block.
pub type SampleSink = Box<dyn FnMut(&Sample) + Send>;
