//! Arrivals of ops. In an open loop, ops arrive at the instants of a stream. In a closed loop, an op arrives whenever a
//! place is free. All places are free at the start, and a place becomes free again after its op has ended.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use vocabulary::Instant;

use crate::arrivals::Arrivals;
use crate::workload::{ArrivalProcess, RunConfig};

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
