//! One attempt as it is written down: for those who want every attempt, not only figures.

use tailback::Status;
use vocabulary::Instant;

use crate::cause::Cause;

/// An attempt that has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The op's number, from 0.
    pub op: u64,
    /// Which attempt of the op, from 1.
    pub attempt: u32,
    /// Which client, from 0.
    pub client: u32,
    /// The attempt's number within the run, in order of sending, from 0. No two samples share one; over HTTP, those of
    /// deferred attempts may be missing.
    pub serial: u64,
    /// When the op arrived.
    pub arrived: Instant,
    /// When the attempt should have been sent.
    pub due: Instant,
    /// When it was sent.
    pub sent: Instant,
    /// When it ended.
    pub ended: Instant,
    /// How it ended.
    pub status: Status,
    /// What it came to on the wire, where that is known.
    pub cause: Option<Cause>,
    /// Whether the answer came from somebody between the client and the server that was recognised.
    pub by_gateway: bool,
    /// The window just after that, where the strategy has one.
    pub window: Option<f64>,
}

/// Takes every attempt as it ends. It is called on the hot path: it must not wait.
pub type SampleSink = Box<dyn FnMut(&Sample) + Send>;
