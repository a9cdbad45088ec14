//! Timers of a run: queues of future events, and the instant of the earliest event.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use slab::Slab;
use vocabulary::Instant;

use super::arriving::Arriving;
use super::instance::{Instance, InstanceId};
use crate::cancellable::LazyCancelQueue;
use crate::op::{Op, OpId, OpSlot};
use crate::sleepers::TimerQueue;
use crate::workload::RunConfig;

/// Kind of a due event. Of several events at the same instant, arrivals are processed first, then retries, then all
/// other timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    Arrival,
    Wake,
    Poll,
    Copy,
    Timeout,
    Deadline,
    DrainOver,
    Stall,
}

pub(super) struct Timers {
    pub(super) arriving: Arriving,
    wakes: TimerQueue,
    /// Next polls of strategy instances, ordered by instant. An instance may have several entries, but only the entry
    /// for the instant in [`Instance::armed`] is valid.
    polls: LazyCancelQueue<BinaryHeap<Reverse<(Instant, InstanceId)>>>,
    /// Ops in the order of their deadlines, which is also the order of their arrival.
    deadlines: LazyCancelQueue<VecDeque<(Instant, OpSlot, OpId)>>,
    /// Instant before which no rare event is due. Rare events are deadlines, timeouts, hedged copies, the end of the
    /// drain phase, and the limit after which a run without progress counts as stalled.
    rare_not_before: Instant,
    /// Instant before which no event of the run is due.
    next_deadline: Instant,
    /// Kind of the event that is due at `next_deadline`. `None` if the kind is unknown or the event can be cancelled.
    foreseen: Option<Due>,
}

impl Timers {
    pub(super) fn new(config: &RunConfig) -> Self {
        Self {
            arriving: Arriving::new(config),
            wakes: TimerQueue::default(),
            polls: LazyCancelQueue::default(),
            deadlines: LazyCancelQueue::default(),
            rare_not_before: Instant::ORIGIN,
            next_deadline: Instant::ORIGIN,
            foreseen: None,
        }
    }

    /// Returns the next event and its instant. `others` returns the next events of the queues outside of [`Timers`].
    pub(super) fn next(
        &mut self,
        others: impl FnOnce() -> [Option<(Instant, Due)>; 4],
    ) -> Option<(Instant, Due)> {
        let mut next = self.arriving.next().map(|at| (at, Due::Arrival));
        sooner(&mut next, self.wakes.next().map(|at| (at, Due::Wake)));
        sooner(&mut next, self.polls.peek().map(|(at, _)| (at, Due::Poll)));
        // Fast path: skips the search for the next rare event, unless a rare event may be the next event of all. The
        // search costs more than this comparison of instants.
        if next.is_none_or(|(at, _)| at >= self.rare_not_before) {
            let mut rare = self.deadlines.peek().map(|(at, ..)| (at, Due::Deadline));
            for other in others() {
                sooner(&mut rare, other);
            }
            self.rare_not_before = rare.map_or(Instant::FAR_FUTURE, |(at, _)| at);
            sooner(&mut next, rare);
        }
        next
    }

    /// Schedules the deadline of an op. If the op ends before its deadline, the deadline is ignored.
    pub(super) fn expire(&mut self, at: Instant, slot: OpSlot, op: OpId, ops: &Slab<Op>) {
        self.deadlines.push((at, slot, op));
        self.rare_at(at);
        // The queue may still contain deadlines of ops that have ended.
        self.deadlines.sweep(ops.len(), |(_, slot, id)| ops.get(slot.index()).is_some_and(|op| op.id == id));
    }

    pub(super) fn expired(&mut self) -> Option<(OpSlot, OpId)> {
        self.deadlines.pop().map(|(_, slot, op)| (slot, op))
    }

    pub(super) fn wake(&mut self, at: Instant, op: OpSlot) {
        self.wakes.push(at, op);
        self.due_at(at);
    }

    pub(super) fn next_wake(&self) -> Option<Instant> {
        self.wakes.next()
    }

    pub(super) fn woken(&mut self) -> Option<OpSlot> {
        self.wakes.pop()
    }

    /// Schedules the next poll of a strategy instance and cancels the poll that was scheduled before.
    pub(super) fn poll(&mut self, at: Instant, id: InstanceId, instance: &mut Instance) {
        if instance.armed != Some(at) {
            instance.armed = Some(at);
            self.polls.push((at, id));
            self.due_at(at);
        }
    }

    /// Removes the poll that is due, and returns its strategy instance. The removed poll may be outdated, so the caller
    /// must check whether another poll has replaced it.
    pub(super) fn polled(&mut self) -> Option<InstanceId> {
        self.polls.pop().map(|(_, id)| id)
    }

    pub(super) fn free_place(&mut self, at: Instant) {
        if self.arriving.free_place(at) {
            self.due_at(at);
        }
    }

    pub(super) fn rare_at(&mut self, at: Instant) {
        self.rare_not_before = self.rare_not_before.min(at);
        self.due_at(at);
    }

    #[inline]
    fn due_at(&mut self, at: Instant) {
        if at <= self.next_deadline {
            (self.next_deadline, self.foreseen) = (at, None);
        }
    }

    /// Records the earliest event that is known at present: an event of the kind `due` at the instant `at`.
    pub(super) fn is_quiet_until(&mut self, at: Instant, due: Due) {
        self.next_deadline = at;
        self.foreseen = matches!(due, Due::Arrival | Due::Wake).then_some(due);
    }

    #[inline]
    pub(super) fn take_foreseen(&mut self) -> Option<Due> {
        self.foreseen.take()
    }

    pub(super) fn next_deadline(&self) -> Instant {
        self.next_deadline
    }
}

fn sooner(next: &mut Option<(Instant, Due)>, other: Option<(Instant, Due)>) {
    if let Some(other) = other
        && next.is_none_or(|next| other < next)
    {
        *next = Some(other);
    }
}
