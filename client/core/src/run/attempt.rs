//! State that the client keeps for one attempt of an op (operation) while the attempt is in flight.

use std::time::Duration;

use tailback::Permits;
use vocabulary::Instant;

use super::instance::InstanceId;
use crate::op::OpSlot;

#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    pub(super) op: OpSlot,
    pub(super) instance: InstanceId,
    pub(super) serial: u64,
    pub(super) seq: u64,
    pub(super) due: Instant,
    pub(super) in_flight_when_sent: u32,
    pub(super) ordinal: u32,
    pub(super) permits: Permits,
    /// Additional data of an attempt with carrier sense, which the server starts only if enough slots are free. `None`
    /// for other attempts, and for attempts whose start is already known.
    pub(super) undecided: Option<Undecided>,
    /// True if the attempt waits for a connection, so that it is not sent yet.
    pub(super) waits: bool,
}

/// Data of an attempt that is not counted yet, because the server may still defer it. The server defers it if too few
/// slots are free, and then it is never counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undecided {
    /// Time that the op loses if the server defers its attempt.
    pub(super) cost: Duration,
    /// Number of attempts of all clients in flight when the attempt was sent. It includes this attempt, but no deferred
    /// attempts.
    pub(super) in_flight: u64,
}
