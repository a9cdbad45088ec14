//! Unfinished ops. An op that has had an attempt takes 32 bytes in a slab. An op that has only waited takes 16 bytes in
//! a queue.

use std::ops::{Index, IndexMut};

use slab::Slab;
use tailback::{Classification, Failure, RetryState, Status};
use vocabulary::Instant;

/// Number of an op within the run, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpId(pub u32);

/// Slab index of an op that has had an attempt. The index is reused after the op has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpSlot(pub u32);

impl OpSlot {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Index<OpSlot> for Slab<Op> {
    type Output = Op;

    #[inline]
    fn index(&self, slot: OpSlot) -> &Op {
        &self[slot.index()]
    }
}

impl IndexMut<OpSlot> for Slab<Op> {
    #[inline]
    fn index_mut(&mut self, slot: OpSlot) -> &mut Op {
        &mut self[slot.index()]
    }
}

impl From<OpId> for u64 {
    fn from(id: OpId) -> Self {
        Self::from(id.0)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub arrived: Instant,
    pub retry_state: RetryState,
    pub id: OpId,
    pub attempts: u32,
    /// Number of failed tries of the op. A launch that a budget refused also counts as a failed try.
    pub failures: u32,
    pub last: Option<Status>,
    /// Strategy's classification of the op's last attempt, if that attempt failed.
    pub last_classification: Classification,
    pub outlook: RetryOutlook,
    pub place: OpState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryOutlook {
    Open,
    /// The last attempt failed, but a retry may succeed: no answer arrived, or the server answered with 5xx.
    Failed,
    /// The server answered with a status that no retry can change.
    Refused,
}

impl RetryOutlook {
    /// Returns the outlook after an attempt that ended with `status`: whether a retry of the op can still succeed. A
    /// withdrawn attempt does not change the outlook.
    pub(crate) const fn after(self, status: Status) -> Self {
        match status {
            Status::Cancelled => self,
            Status::Failed(Failure::Fatal) => Self::Refused,
            Status::Failed(_) => Self::Failed,
            _ => Self::Open,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpState {
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
pub(crate) struct Waiting {
    pub arrived: Instant,
    pub id: OpId,
    slot: OpSlot,
}

/// Slot value of ops that are not stored in the slab yet.
const FRESH: OpSlot = OpSlot(u32::MAX);

impl Waiting {
    pub(crate) fn fresh(id: OpId, arrived: Instant) -> Self {
        Self { arrived, id, slot: FRESH }
    }

    pub(crate) fn kept(slot: OpSlot, op: &Op) -> Self {
        Self { arrived: op.arrived, id: op.id, slot }
    }

    pub(crate) fn slot(self) -> Option<OpSlot> {
        (self.slot != FRESH).then_some(self.slot)
    }
}

impl Op {
    pub(crate) fn failed_for_good(&self) -> bool {
        self.outlook == RetryOutlook::Refused
    }

    /// Returns whether the strategy permitted a retry of the op that has not been sent. Such an op sleeps or is queued,
    /// or it was shed or deferred when it left the queue.
    pub(crate) fn awaits_retry(&self) -> bool {
        let waits = matches!(self.place, OpState::Ready | OpState::Sleeping);
        self.attempts > 0 && (waits || matches!(self.last, Some(Status::Shed | Status::Deferred)))
    }

    pub(crate) fn new(id: OpId, arrived: Instant) -> Self {
        Self {
            arrived,
            retry_state: RetryState::default(),
            id,
            attempts: 0,
            failures: 0,
            last: None,
            last_classification: Classification::Done,
            outlook: RetryOutlook::Open,
            place: OpState::Ready,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_attempt_does_not_change_the_retry_outlook() {
        let refused = RetryOutlook::Open.after(Status::Failed(Failure::Fatal));
        assert_eq!(
            (refused, refused.after(Status::Cancelled)),
            (RetryOutlook::Refused, RetryOutlook::Refused)
        );
        assert_eq!(refused.after(Status::Rejected), RetryOutlook::Open);
        for failure in [Failure::Transport, Failure::Timeout, Failure::Server] {
            assert_eq!(refused.after(Status::Failed(failure)), RetryOutlook::Failed);
        }
    }

    #[test]
    fn a_retry_is_awaited_from_its_permission_until_it_is_sent() {
        let op = |attempts, place, last| Op {
            attempts,
            place,
            last: Some(last),
            ..Op::new(OpId(0), Instant::ORIGIN)
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
        assert_eq!(size_of::<Option<Op>>(), 32);
    }
}
