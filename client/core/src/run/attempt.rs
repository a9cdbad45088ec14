//! An attempt in flight, as the run remembers it.

use std::time::Duration;

use tailback::Permits;
use vocabulary::Instant;

use super::instance::InstanceId;
use crate::op::OpSlot;

/// An attempt in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    pub(super) op: OpSlot,
    pub(super) instance: InstanceId,
    pub(super) serial: u64,
    pub(super) seq: u64,
    pub(super) due: Instant,
    pub(super) in_flight_when_sent: u32,
    /// Which attempt of the op, from 1.
    pub(super) ordinal: u32,
    pub(super) permits: Permits,
    /// Until it is known that the server had enough free to start it.
    pub(super) undecided: Option<Undecided>,
}

/// An attempt that is none if the server has too little free: so it is not counted yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undecided {
    /// What a deferral costs.
    pub(super) cost: Duration,
    /// Attempts of all clients in flight when it was sent, itself included, without those that turned out to be none.
    pub(super) in_flight: u64,
}
