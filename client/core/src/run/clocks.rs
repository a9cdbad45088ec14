//! Clocks of a run beside those of its dispatcher: arrivals, the end of the drain phase, and the limit after which a run without progress
//! counts as stalled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tailback::Due;
use vocabulary::Instant;

use super::RunConfig;
use crate::arrivals::Arrivals;
use crate::workload::ArrivalProcess;

/// Due event of a run. Of several events at the same instant, arrivals are processed first, then those of the dispatcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    Arrival,
    Dispatch(Due),
    DrainOver,
    Stall,
}

pub(super) struct Clocks {
    pub arriving: Arriving,
    drain_over: Option<Instant>,
    /// Instant before which no rare event is due. Rare events are the end of the drain phase and a stall.
    rare_not_before: Instant,
    /// Instant before which no event is due, except those of the dispatcher.
    pub quiet_until: Instant,
}

impl Clocks {
    pub(super) fn new(config: &RunConfig) -> Self {
        let ends = config.workload.duration.zip(config.drain);
        Self {
            arriving: Arriving::new(config),
            drain_over: ends.map(|(duration, drain)| Instant::ORIGIN + duration + drain),
            rare_not_before: Instant::ORIGIN,
            quiet_until: Instant::ORIGIN,
        }
    }

    /// Returns the next event of the run and its instant. `dispatched` is the next event of the dispatcher, and `stalls_at` returns the
    /// instant at which the run is stalled.
    pub(super) fn next(
        &mut self,
        dispatched: Option<(Instant, Due)>,
        stalls_at: impl FnOnce() -> Option<Instant>,
    ) -> Option<(Instant, Event)> {
        let arrival = self.arriving.next();
        let mut next = arrival.map(|at| (at, Event::Arrival));
        sooner(&mut next, dispatched.map(|(at, due)| (at, Event::Dispatch(due))));
        // Fast path: skips the search for the next rare event, unless a rare event may be the next event of all.
        if next.is_none_or(|(at, _)| at >= self.rare_not_before) {
            let mut rare = self.drain_over.map(|at| (at, Event::DrainOver));
            sooner(&mut rare, stalls_at().map(|at| (at, Event::Stall)));
            self.rare_not_before = rare.map_or(Instant::FAR_FUTURE, |(at, _)| at);
            sooner(&mut next, rare);
        }
        self.quiet_until = arrival.map_or(self.rare_not_before, |at| at.min(self.rare_not_before));
        next
    }

    /// Returns the instant of the next arrival if it is the next event. `dispatcher_quiet_until` is an instant before which the dispatcher
    /// has no event.
    #[inline]
    pub(super) fn next_arrival(&mut self, dispatcher_quiet_until: Instant) -> Option<Instant> {
        let is_next = |at: &Instant| *at <= dispatcher_quiet_until && *at < self.rare_not_before;
        let at = self.arriving.next().filter(is_next)?;
        self.quiet_until = at;
        Some(at)
    }

    pub(super) fn free_place(&mut self, at: Instant) {
        if self.arriving.free_place(at) {
            self.quiet_until = self.quiet_until.min(at);
        }
    }

    pub(super) fn rare_at(&mut self, at: Instant) {
        self.rare_not_before = self.rare_not_before.min(at);
        self.quiet_until = self.quiet_until.min(at);
    }
}

fn sooner(next: &mut Option<(Instant, Event)>, other: Option<(Instant, Event)>) {
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
