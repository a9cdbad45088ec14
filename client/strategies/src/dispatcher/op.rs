//! Unfinished ops. A stored op takes 32 bytes in a slab, without the data of its host. An op that has only waited takes 16 bytes in a queue.

use std::ops::{Index, IndexMut};

use slab::Slab;

use crate::{Classification, Instant, RetryState, Status};

/// Slab index of a stored op. The index is reused after the op has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpSlot(pub u32);

impl OpSlot {
    #[inline]
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl<D> Index<OpSlot> for Slab<Op<D>> {
    type Output = Op<D>;

    #[inline]
    fn index(&self, slot: OpSlot) -> &Op<D> {
        &self[slot.index()]
    }
}

impl<D> IndexMut<OpSlot> for Slab<Op<D>> {
    #[inline]
    fn index_mut(&mut self, slot: OpSlot) -> &mut Op<D> {
        &mut self[slot.index()]
    }
}

/// Unfinished op with the data of its host.
#[derive(Clone, Copy, Debug)]
pub struct Op<D> {
    /// Instant at which the op arrived.
    pub arrived: Instant,
    pub(super) retry_state: RetryState,
    /// Number of the op, as the driver passed it.
    pub id: u32,
    /// Number of attempts sent so far.
    pub attempts: u32,
    /// Number of failed tries of the op. A launch that a budget refused also counts as a failed try.
    pub failures: u32,
    /// Status of the op's last try; `None` before its first.
    pub last: Option<Status>,
    /// Strategy's classification of the op's last attempt, if that attempt failed.
    pub(super) last_classification: Classification,
    pub(super) state: OpState,
    /// Data of the host.
    pub data: D,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpState {
    Ready,
    Sleeping,
    /// The op has failed, but its failure is reported later, because the client delays the reports of failures.
    Leaving,
    InFlight,
    /// The op ended while it was queued or asleep. A queue still refers to the op's slab slot. The slot is freed when
    /// the queue next reaches it.
    Dead,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub arrived: Instant,
    pub id: u32,
    slot: OpSlot,
}

/// Slot value of ops that are not stored in the slab yet.
const FRESH: OpSlot = OpSlot(u32::MAX);

impl Waiting {
    #[inline]
    pub(super) fn fresh(id: u32, arrived: Instant) -> Self {
        Self { arrived, id, slot: FRESH }
    }

    #[inline]
    pub(super) fn stored<D>(slot: OpSlot, op: &Op<D>) -> Self {
        Self { arrived: op.arrived, id: op.id, slot }
    }

    #[inline]
    pub(super) fn slot(self) -> Option<OpSlot> {
        (self.slot != FRESH).then_some(self.slot)
    }
}

impl<D> Op<D> {
    /// Returns whether the strategy permitted a retry of the op that has not been sent. Such an op sleeps or is queued,
    /// or it was shed or deferred when it left the queue.
    #[inline]
    pub(super) fn awaits_retry(&self) -> bool {
        let waits = matches!(self.state, OpState::Ready | OpState::Sleeping);
        self.attempts > 0 && (waits || matches!(self.last, Some(Status::Shed | Status::Deferred)))
    }

    #[inline]
    pub(super) fn new(id: u32, arrived: Instant, data: D) -> Self {
        Self {
            arrived,
            retry_state: RetryState::default(),
            id,
            attempts: 0,
            failures: 0,
            last: None,
            last_classification: Classification::Done,
            state: OpState::Ready,
            data,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_is_awaited_from_its_permission_until_it_is_sent() {
        let op = |attempts, state, last| Op {
            attempts,
            state,
            last: Some(last),
            ..Op::new(0, Instant::ORIGIN, ())
        };
        for (op, awaits) in [
            (op(1, OpState::Sleeping, Status::Rejected), true),
            (op(1, OpState::Ready, Status::Rejected), true),
            (op(1, OpState::InFlight, Status::Rejected), false),
            (op(1, OpState::Leaving, Status::Rejected), false),
            // Shed before any attempt was sent.
            (op(0, OpState::Sleeping, Status::Shed), false),
            (op(1, OpState::Leaving, Status::Shed), true),
            (op(1, OpState::InFlight, Status::Deferred), true),
        ] {
            assert_eq!(op.awaits_retry(), awaits, "{op:?}");
        }
    }

    #[test]
    fn ops_stay_small_because_there_may_be_ten_million_of_them() {
        assert_eq!(size_of::<Waiting>(), 16);
        assert_eq!(size_of::<Option<Op<u8>>>(), 32);
    }
}
