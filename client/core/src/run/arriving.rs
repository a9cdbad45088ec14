//! When ops arrive: from the stream of an open loop, or as places of a closed one free.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use vocabulary::Instant;

use crate::arrivals::Arrivals;
use crate::workload::{ArrivalProcess, Workload};

/// Arrivals to come.
pub(super) struct Arriving {
    arrivals: Arrivals,
    /// The next op's arrival in an open loop, already taken from the stream.
    next_in_stream: Option<Instant>,
    closed: bool,
    /// In a closed loop, the instants from which places are free.
    free_places: BinaryHeap<Reverse<Instant>>,
    /// The latest op's arrival; none is before it.
    last: Instant,
    /// Ops that have arrived.
    arrived: u64,
}

impl Arriving {
    pub(super) fn new(workload: &Workload, seed: u64) -> Self {
        let mut arrivals = Arrivals::new(workload.clone(), seed);
        let mut free_places = BinaryHeap::new();
        if let ArrivalProcess::Closed { in_flight } = workload.arrivals {
            free_places.extend((0..in_flight).map(|_| Reverse(Instant::ORIGIN)));
        }
        Self {
            next_in_stream: arrivals.next(),
            closed: matches!(workload.arrivals, ArrivalProcess::Closed { .. }),
            arrivals,
            free_places,
            last: Instant::ORIGIN,
            arrived: 0,
        }
    }

    /// When the next op arrives, as far as that is known now.
    pub(super) fn next(&self) -> Option<Instant> {
        self.next_in_stream.or_else(|| {
            let Reverse(free) = *self.free_places.peek()?;
            // Over HTTP answers may come out of order; ops are numbered as they arrive all the same.
            let free = free.max(self.last);
            self.arrivals.allows(self.arrived, free).then_some(free)
        })
    }

    /// The next op arrives at `at`, as [`Self::next`] told.
    pub(super) fn arrive(&mut self, at: Instant) {
        if self.next_in_stream.is_some() {
            self.next_in_stream = self.arrivals.next();
        } else {
            self.free_places.pop();
        }
        self.last = at;
        self.arrived += 1;
    }

    /// A place is free from `at` on. Whether that matters: an open loop has no places.
    pub(super) fn free_place(&mut self, at: Instant) -> bool {
        if self.closed {
            self.free_places.push(Reverse(at));
        }
        self.closed
    }

    /// Whether more ops may come after `now`.
    pub(super) fn goes_on(&self, now: Instant) -> bool {
        self.next_in_stream.is_some() || self.closed && self.arrivals.allows(self.arrived, now)
    }

    /// All arrivals of the stream that are still to come.
    pub(super) fn rest(&self) -> impl Iterator<Item = Instant> {
        self.next_in_stream.into_iter().chain(self.arrivals.clone())
    }
}
