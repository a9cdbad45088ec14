//! Timers of a dispatcher: queues of future events, and the instant of the earliest event.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use slab::Slab;

use super::instance::{Instance, InstanceId};
use super::op::{Op, OpSlot};
use super::wakes::Wakes;
use crate::Instant;

/// Cancelling an event costs nothing, because its entry stays in its queue. The outdated entries of a queue are removed
/// only if they outnumber the valid ones by more than this. So few entries fit into the nearest processor cache.
pub(super) const FEW_OUTDATED: usize = 256;

/// Kind of a due event. Of several events at one instant, retries are processed first, then all others in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// The backoff of an op is over.
    Wake,
    /// A strategy is to be polled.
    Poll,
    /// A hedged copy is to be sent.
    Copy,
    /// An attempt has timed out.
    Timeout,
    /// The deadline of an op has passed.
    Deadline,
}

#[derive(Debug)]
pub(super) struct Timers {
    pub wakes: Wakes,
    /// Next polls of strategy instances, ordered by instant. An instance may have several entries, but only the entry
    /// for the instant in [`Instance::armed`] is valid.
    polls: BinaryHeap<Reverse<(Instant, InstanceId)>>,
    /// Deadlines with the number and slot of their ops.
    deadlines: BinaryHeap<Reverse<(Instant, u32, u32)>>,
    /// Instant before which no rare event is due. Rare events are deadlines, timeouts and hedged copies.
    rare_not_before: Instant,
    /// Instant before which no event is due.
    pub quiet_until: Instant,
    /// Kind of the event that is due at `quiet_until`. `None` if the kind is unknown or the event can be cancelled.
    pub foreseen: Option<Due>,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            wakes: Wakes::default(),
            polls: BinaryHeap::new(),
            deadlines: BinaryHeap::new(),
            rare_not_before: Instant::FAR_FUTURE,
            quiet_until: Instant::FAR_FUTURE,
            foreseen: None,
        }
    }
}

impl Timers {
    /// Returns the next event and its instant. `others` returns the next events of the queues outside of [`Timers`].
    pub(super) fn next(
        &mut self,
        others: impl FnOnce() -> [Option<(Instant, Due)>; 2],
    ) -> Option<(Instant, Due)> {
        let mut next = self.wakes.next().map(|at| (at, Due::Wake));
        sooner(&mut next, self.polls.peek().map(|Reverse((at, _))| (*at, Due::Poll)));
        // Fast path: skips the search for the next rare event, unless a rare event may be the next event of all. The
        // search costs more than this comparison of instants.
        if next.is_none_or(|(at, _)| at >= self.rare_not_before) {
            let mut rare = self.deadlines.peek().map(|Reverse((at, ..))| (*at, Due::Deadline));
            for other in others() {
                sooner(&mut rare, other);
            }
            self.rare_not_before = rare.map_or(Instant::FAR_FUTURE, |(at, _)| at);
            sooner(&mut next, rare);
        }
        self.quiet_until = next.map_or(Instant::FAR_FUTURE, |(at, _)| at);
        self.foreseen = next.map(|(_, due)| due).filter(|due| *due == Due::Wake);
        next
    }

    /// Schedules the deadline of an op. If the op ends before its deadline, the deadline is ignored.
    pub(super) fn expire<D>(&mut self, at: Instant, slot: OpSlot, op: u32, ops: &Slab<Op<D>>) {
        self.deadlines.push(Reverse((at, op, slot.0)));
        self.rare_at(at);
        // The queue may still contain deadlines of ops that have ended.
        if self.deadlines.len() > 2 * ops.len() + FEW_OUTDATED {
            let is_open = |slot: u32, id: u32| ops.get(slot as usize).is_some_and(|op| op.id == id);
            self.deadlines.retain(|Reverse((_, id, slot))| is_open(*slot, *id));
        }
    }

    /// Removes the deadline that is due, and returns the slot and the number of its op.
    pub(super) fn expired(&mut self) -> Option<(OpSlot, u32)> {
        self.deadlines.pop().map(|Reverse((_, op, slot))| (OpSlot(slot), op))
    }

    #[inline]
    pub(super) fn wake(&mut self, at: Instant, op: OpSlot) {
        self.wakes.push(at, op);
        self.due_at(at);
    }

    /// Schedules the next poll of a strategy instance and cancels the poll that was scheduled before.
    #[inline]
    pub(super) fn poll(&mut self, at: Instant, id: InstanceId, instance: &mut Instance) {
        if instance.armed != Some(at) {
            instance.armed = Some(at);
            self.polls.push(Reverse((at, id)));
            self.due_at(at);
        }
    }

    /// Removes the poll that is due, and returns its strategy instance. The removed poll may be outdated, so the caller
    /// must check whether another poll has replaced it.
    pub(super) fn polled(&mut self) -> Option<InstanceId> {
        self.polls.pop().map(|Reverse((_, id))| id)
    }

    #[inline]
    pub(super) fn rare_at(&mut self, at: Instant) {
        self.rare_not_before = self.rare_not_before.min(at);
        self.due_at(at);
    }

    #[inline]
    fn due_at(&mut self, at: Instant) {
        if at <= self.quiet_until {
            (self.quiet_until, self.foreseen) = (at, None);
        }
    }
}

fn sooner(next: &mut Option<(Instant, Due)>, other: Option<(Instant, Due)>) {
    if let Some(other) = other
        && next.is_none_or(|next| other < next)
    {
        *next = Some(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_of_ended_ops_do_not_pile_up() {
        let mut timers = Timers::default();
        let mut ops = Slab::new();
        for id in 0..100_000 {
            let slot = ops.insert(Op::new(id, Instant::ORIGIN, ()));
            timers.expire(Instant::from_millis(id.into()), OpSlot(u32::try_from(slot).unwrap()), id, &ops);
            assert!(
                timers.deadlines.len() < 300,
                "the first op stays, so that nothing is dropped at the front"
            );
            if id > 0 {
                ops.remove(slot);
            }
        }
        assert_eq!(timers.expired(), Some((OpSlot(0), 0)));
    }
}
