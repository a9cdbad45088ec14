//! One op that has been tried and not ended: 32 bytes in a slab. One that only waits is 16 bytes in a queue.

use tailback::{Failure, Opinion, RetryState, Status};
use vocabulary::Instant;

/// An op's number within the run, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpId(pub(crate) u32);

/// Where an op is kept that has been tried; used again once it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpSlot(pub(crate) u32);

impl OpSlot {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<OpId> for u64 {
    fn from(id: OpId) -> Self {
        Self::from(id.0)
    }
}

/// An op that has arrived and not ended, once more is known of it than its arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) arrived: Instant,
    /// The retry policy's own memory.
    pub(crate) retry_state: RetryState,
    pub(crate) id: OpId,
    /// Attempts sent.
    pub(crate) attempts: u32,
    /// Tries that failed, sheds included.
    pub(crate) failures: u32,
    /// How the last try ended.
    pub(crate) last: Option<Status>,
    /// What its strategy makes of its last attempt, if that failed.
    pub(crate) last_opinion: Opinion,
    /// What its last attempt says of further ones.
    pub(crate) prospect: Prospect,
    pub(crate) place: Place,
}

/// What an attempt's end says of further ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prospect {
    /// Another may succeed.
    Open,
    /// An answer that no retry changes.
    Refused,
    /// Nobody answers.
    Unreachable,
}

impl Prospect {
    /// After an attempt that ended so; one that was withdrawn says nothing, as if it had not been.
    pub(crate) const fn after(self, status: Status) -> Self {
        match status {
            Status::Cancelled => self,
            Status::Failed(Failure::Fatal) => Self::Refused,
            Status::Failed(Failure::Transport) => Self::Unreachable,
            _ => Self::Open,
        }
    }
}

/// Where an op is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In its client's queue.
    Ready,
    /// Until its back-off is over.
    Sleeping,
    /// Until it is given up: its client waits before it says so.
    Leaving,
    /// An attempt is under way.
    InFlight,
    /// Ended while it was queued or asleep; whoever finds its slot next drops it.
    Dead,
}

/// An op in its client's queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) arrived: Instant,
    pub(crate) id: OpId,
    /// Where it is kept, or [`FRESH`].
    slot: OpSlot,
}

/// The slot of ops that are kept nowhere yet.
const FRESH: OpSlot = OpSlot(u32::MAX);

impl Waiting {
    /// An op of which nothing is known but its arrival.
    pub(crate) fn fresh(id: OpId, arrived: Instant) -> Self {
        Self { arrived, id, slot: FRESH }
    }

    /// An op that is kept in this slot.
    pub(crate) fn kept(slot: OpSlot, op: &Op) -> Self {
        Self { arrived: op.arrived, id: op.id, slot }
    }

    /// Where it is kept, if anywhere.
    pub(crate) fn slot(self) -> Option<OpSlot> {
        (self.slot != FRESH).then_some(self.slot)
    }
}

impl Op {
    /// Whether its last attempt failed in a way that says: this is not to be had, and not only not now.
    pub(crate) fn failed_for_good(&self) -> bool {
        self.prospect != Prospect::Open
    }

    /// Whether a retry of it was allowed and has not been sent: asleep, in its queue, or refused by a budget there.
    pub(crate) fn awaits_retry(&self) -> bool {
        let waits = matches!(self.place, Place::Ready | Place::Sleeping);
        self.attempts > 0 && (waits || matches!(self.last, Some(Status::Shed | Status::Deferred)))
    }

    /// An op that has just arrived.
    pub(crate) fn new(id: OpId, arrived: Instant) -> Self {
        Self {
            arrived,
            retry_state: RetryState::default(),
            id,
            attempts: 0,
            failures: 0,
            last: None,
            last_opinion: Opinion::Done,
            prospect: Prospect::Open,
            place: Place::Ready,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_that_was_withdrawn_says_nothing_of_further_ones() {
        let refused = Prospect::Open.after(Status::Failed(Failure::Fatal));
        assert_eq!((refused, refused.after(Status::Cancelled)), (Prospect::Refused, Prospect::Refused));
        assert_eq!(refused.after(Status::Failed(Failure::Transport)), Prospect::Unreachable);
        assert_eq!(refused.after(Status::Failed(Failure::Timeout)), Prospect::Open);
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
            (op(1, Place::Sleeping, Status::Rejected), true),
            (op(1, Place::Ready, Status::Rejected), true),
            (op(1, Place::InFlight, Status::Rejected), false),
            (op(1, Place::Leaving, Status::Rejected), false),
            // Nothing had been sent when a budget refused it.
            (op(0, Place::Sleeping, Status::Shed), false),
            (op(1, Place::Leaving, Status::Shed), true),
            (op(1, Place::InFlight, Status::Deferred), true),
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
