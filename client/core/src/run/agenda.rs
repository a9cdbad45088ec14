//! Timers of a run: queues of future events, and the instant of the earliest event.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use slab::Slab;
use vocabulary::Instant;

use super::{Instance, InstanceId, Op, OpId, OpSlot, RunConfig};
use crate::arrivals::Arrivals;
use crate::sleepers::TimerQueue;
use crate::workload::ArrivalProcess;

/// Cancelling an event costs nothing, because its entry stays in its queue. The outdated entries of a queue are removed
/// only if they outnumber the valid ones by more than this. So few entries fit into the nearest processor cache.
pub(super) const FEW_OUTDATED: usize = 256;

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
    pub arriving: Arriving,
    pub wakes: TimerQueue,
    /// Next polls of strategy instances, ordered by instant. An instance may have several entries, but only the entry
    /// for the instant in [`Instance::armed`] is valid.
    polls: BinaryHeap<Reverse<(Instant, InstanceId)>>,
    /// Ops in the order of their deadlines, which is also the order of their arrival.
    deadlines: VecDeque<(Instant, OpSlot, OpId)>,
    /// Instant before which no rare event is due. Rare events are deadlines, timeouts, hedged copies, the end of the
    /// drain phase, and the limit after which a run without progress counts as stalled.
    rare_not_before: Instant,
    /// Instant before which no event of the run is due.
    pub next_deadline: Instant,
    /// Kind of the event that is due at `next_deadline`. `None` if the kind is unknown or the event can be cancelled.
    pub foreseen: Option<Due>,
}

impl Timers {
    pub(super) fn new(config: &RunConfig) -> Self {
        Self {
            arriving: Arriving::new(config),
            wakes: TimerQueue::default(),
            polls: BinaryHeap::new(),
            deadlines: VecDeque::new(),
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
        sooner(&mut next, self.polls.peek().map(|Reverse((at, _))| (*at, Due::Poll)));
        // Fast path: skips the search for the next rare event, unless a rare event may be the next event of all. The
        // search costs more than this comparison of instants.
        if next.is_none_or(|(at, _)| at >= self.rare_not_before) {
            let mut rare = self.deadlines.front().map(|(at, ..)| (*at, Due::Deadline));
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
        self.deadlines.push_back((at, slot, op));
        self.rare_at(at);
        // The queue may still contain deadlines of ops that have ended.
        if self.deadlines.len() > 2 * ops.len() + FEW_OUTDATED {
            self.deadlines.retain(|(_, slot, id)| ops.get(slot.index()).is_some_and(|op| op.id == *id));
        }
    }

    pub(super) fn expired(&mut self) -> Option<(OpSlot, OpId)> {
        self.deadlines.pop_front().map(|(_, slot, op)| (slot, op))
    }

    pub(super) fn wake(&mut self, at: Instant, op: OpSlot) {
        self.wakes.push(at, op);
        self.due_at(at);
    }

    /// Schedules the next poll of a strategy instance and cancels the poll that was scheduled before.
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
}

fn sooner(next: &mut Option<(Instant, Due)>, other: Option<(Instant, Due)>) {
    if let Some(other) = other
        && next.is_none_or(|next| other < next)
    {
        *next = Some(other);
    }
}

/// Arrivals of ops. In an open loop, ops arrive at the instants of a stream. In a closed loop, an op arrives whenever a
/// place is free. All places are free at the start, and a place becomes free again after its op has ended.
#[derive(Clone)]
pub(super) struct Arriving {
    arrivals: Arrivals,
    /// Next arrival in an open loop, which has already been taken from the stream of arrivals.
    next_in_stream: Option<Instant>,
    closed: bool,
    free_slots: BinaryHeap<Reverse<Instant>>,
    /// Arrival of the latest op. No later op arrives before it.
    last: Instant,
    /// Number of the op that arrives next.
    next_op: u64,
}

impl Arriving {
    pub(super) fn new(config: &RunConfig) -> Self {
        let mut free_slots = BinaryHeap::new();
        if let ArrivalProcess::Closed { in_flight } = config.workload.arrivals {
            free_slots.extend((0..in_flight).map(|_| Reverse(Instant::ORIGIN)));
        }
        let mut arriving = Self {
            arrivals: Arrivals::new(config.workload.clone(), config.seed),
            next_in_stream: None,
            closed: matches!(config.workload.arrivals, ArrivalProcess::Closed { .. }),
            free_slots,
            last: Instant::ORIGIN,
            next_op: 0,
        };
        arriving.go_on();
        arriving
    }

    pub(super) fn next(&self) -> Option<Instant> {
        self.next_in_stream.or_else(|| {
            let Reverse(free) = *self.free_slots.peek()?;
            // Over HTTP, answers may be processed out of order, so a place may become free before the latest arrival.
            // Ops are numbered in the order of arrival, so no op may arrive before the latest one.
            let free = free.max(self.last);
            self.arrivals.allows(self.next_op, free).then_some(free)
        })
    }

    /// Records the arrival of the next op at `at`, which must be the result of [`Self::next`]. Returns the op's number.
    pub(super) fn arrive(&mut self, at: Instant) -> u64 {
        let op = self.next_op;
        self.last = at;
        self.next_op += 1;
        if self.closed {
            self.free_slots.pop();
        }
        self.go_on();
        op
    }

    /// In an open loop, advances to the next arrival.
    #[inline]
    fn go_on(&mut self) {
        if !self.closed {
            self.next_in_stream = self.arrivals.next();
        }
    }

    /// Frees a place of a closed loop, so that a new op may arrive at `at` or later. Returns whether the run is a
    /// closed loop. An open loop has no places.
    pub(super) fn free_place(&mut self, at: Instant) -> bool {
        if self.closed {
            self.free_slots.push(Reverse(at));
        }
        self.closed
    }

    pub(super) fn continues(&self, now: Instant) -> bool {
        self.next_in_stream.is_some() || self.closed && self.arrivals.allows(self.next_op, now)
    }

    /// Returns how many ops have not arrived yet in an open loop. `None` if there are more than `most` of them.
    pub(super) fn count_rest(&self, most: u64) -> Option<u64> {
        let mut rest = self.clone();
        let mut count = 0;
        while let Some(at) = rest.next_in_stream {
            rest.arrive(at);
            count += 1;
            if count > most {
                return None;
            }
        }
        Some(count)
    }

    /// Returns all remaining arrivals of an open loop.
    pub(super) fn rest(&self) -> impl Iterator<Item = Instant> {
        self.next_in_stream.into_iter().chain(self.arrivals.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_of_ended_ops_do_not_pile_up() {
        let mut timers = Timers::new(&RunConfig::default());
        let mut ops = Slab::new();
        for id in 0..100_000 {
            let slot = ops.insert(Op::new(OpId(id), Instant::ORIGIN));
            timers.expire(
                Instant::from_millis(id.into()),
                OpSlot(u32::try_from(slot).unwrap()),
                OpId(id),
                &ops,
            );
            assert!(
                timers.deadlines.len() < 300,
                "the first op stays, so that nothing is dropped at the front"
            );
            if id > 0 {
                ops.remove(slot);
            }
        }
        assert_eq!(timers.expired(), Some((OpSlot(0), OpId(0))));
    }
}
