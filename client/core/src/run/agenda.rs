//! What is to happen when: the run's queues, and which of them comes next.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use slab::Slab;
use vocabulary::Instant;

use super::arriving::Arriving;
use super::instance::{Instance, InstanceId};
use crate::cancellable::Cancellable;
use crate::op::{Op, OpId, OpSlot};
use crate::sleepers::Sleepers;
use crate::workload::RunConfig;

/// What is due next. At the same instant fresh arrivals come before retries, and those before other timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    Arrival,
    Wake,
    Poll,
    /// A copy of an attempt.
    Copy,
    Timeout,
    Deadline,
    DrainOver,
    Stall,
}

/// When each thing is due.
pub(super) struct Agenda {
    /// The stream of an open loop and the free places of a closed one.
    pub(super) arriving: Arriving,
    /// Ops whose back-off ends.
    wakes: Sleepers,
    /// Instances that want to be polled; each has one entry that counts, see [`Instance::armed`].
    polls: Cancellable<BinaryHeap<Reverse<(Instant, InstanceId)>>>,
    /// Ops in the order of their deadlines, which is the order in which they arrived.
    deadlines: Cancellable<VecDeque<(Instant, OpSlot, OpId)>>,
    /// No deadline, timeout or end of patience comes before this.
    rare_not_before: Instant,
    /// Nothing at all is due before this.
    quiet_until: Instant,
    /// What is due then, where that is known and cannot be called off.
    foreseen: Option<Due>,
}

impl Agenda {
    pub(super) fn new(config: &RunConfig) -> Self {
        Self {
            arriving: Arriving::new(config),
            wakes: Sleepers::default(),
            polls: Cancellable::default(),
            deadlines: Cancellable::default(),
            rare_not_before: Instant::ORIGIN,
            quiet_until: Instant::ORIGIN,
            foreseen: None,
        }
    }

    /// What is due next, and when. `others` are the things of which others keep the instants.
    pub(super) fn next(
        &mut self,
        others: impl FnOnce() -> [Option<(Instant, Due)>; 4],
    ) -> Option<(Instant, Due)> {
        let mut next = self.arriving.next().map(|at| (at, Due::Arrival));
        sooner(&mut next, self.wakes.next().map(|at| (at, Due::Wake)));
        sooner(&mut next, self.polls.peek().map(|(at, _)| (at, Due::Poll)));
        // The rest hardly ever comes, and looking at all of it costs more than looking at one instant.
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

    /// An op gives up at `at`, unless it ends before.
    pub(super) fn expire(&mut self, at: Instant, slot: OpSlot, op: OpId, ops: &Slab<Op>) {
        self.deadlines.push((at, slot, op));
        self.rare_at(at);
        // Ops that ended leave their deadlines behind.
        self.deadlines.sweep(ops.len(), |(_, slot, id)| ops.get(slot.index()).is_some_and(|op| op.id == id));
    }

    /// The op whose deadline is now.
    pub(super) fn expired(&mut self) -> Option<(OpSlot, OpId)> {
        self.deadlines.pop().map(|(_, slot, op)| (slot, op))
    }

    /// An op sleeps until `at`.
    pub(super) fn wake(&mut self, at: Instant, op: OpSlot) {
        self.wakes.push(at, op);
        self.due_at(at);
    }

    /// When the next sleeping op wakes.
    pub(super) fn next_wake(&self) -> Option<Instant> {
        self.wakes.next()
    }

    /// The op that wakes now.
    pub(super) fn woken(&mut self) -> Option<OpSlot> {
        self.wakes.pop()
    }

    /// An instance wants to be polled at `at`, and not before.
    pub(super) fn poll(&mut self, at: Instant, id: InstanceId, instance: &mut Instance) {
        if instance.armed != Some(at) {
            instance.armed = Some(at);
            self.polls.push((at, id));
            self.due_at(at);
        }
    }

    /// The instance that wanted to be polled now, whether or not it still does.
    pub(super) fn polled(&mut self) -> Option<InstanceId> {
        self.polls.pop().map(|(_, id)| id)
    }

    /// In a closed loop a place is free from `at` on.
    pub(super) fn free_place(&mut self, at: Instant) {
        if self.arriving.free_place(at) {
            self.due_at(at);
        }
    }

    /// Something rare was set for `at`.
    pub(super) fn rare_at(&mut self, at: Instant) {
        self.rare_not_before = self.rare_not_before.min(at);
        self.due_at(at);
    }

    /// Something was set for `at`.
    #[inline]
    fn due_at(&mut self, at: Instant) {
        if at <= self.quiet_until {
            (self.quiet_until, self.foreseen) = (at, None);
        }
    }

    /// Nothing is due before this is, at `at`, for all that is known now.
    pub(super) fn is_quiet_until(&mut self, at: Instant, due: Due) {
        self.quiet_until = at;
        self.foreseen = matches!(due, Due::Arrival | Due::Wake).then_some(due);
    }

    /// What is due when it is quiet no longer, if that was known before; it is no longer foreseen then.
    #[inline]
    pub(super) fn take_foreseen(&mut self) -> Option<Due> {
        self.foreseen.take()
    }

    /// Nothing is due before this.
    pub(super) fn quiet_until(&self) -> Instant {
        self.quiet_until
    }
}

/// Takes `other` when it comes before `next`.
fn sooner(next: &mut Option<(Instant, Due)>, other: Option<(Instant, Due)>) {
    if let Some(other) = other
        && next.is_none_or(|next| other < next)
    {
        *next = Some(other);
    }
}
