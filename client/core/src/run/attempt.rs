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
    /// Data of an attempt with carrier sense; `None` for other attempts, and once it is known that the server had
    /// enough free capacity and started the attempt.
    pub(super) undecided: Option<Undecided>,
}

/// Data of an attempt that is not counted yet. The attempt is never counted if the server has too little free capacity
/// and defers it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undecided {
    /// Time that the op loses if its attempt is deferred.
    pub(super) cost: Duration,
    /// Number of attempts of all clients in flight when the attempt was sent, including the attempt and excluding
    /// deferred ones.
    pub(super) in_flight: u64,
}
