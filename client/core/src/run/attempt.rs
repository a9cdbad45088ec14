//! State of an attempt in flight.

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
    /// Set until the server is known to have had enough free to start the attempt.
    pub(super) undecided: Option<Undecided>,
}

/// Attempt that is not counted yet, because it does not count if the server has too little free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undecided {
    /// Time that a deferral costs.
    pub(super) cost: Duration,
    /// Attempts of all clients in flight when it was sent, itself included and deferred ones excluded.
    pub(super) in_flight: u64,
}
