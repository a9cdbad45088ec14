//! Arrivals of ops, from the stream of an open loop or as places of a closed one free.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use vocabulary::Instant;

use crate::arrivals::Arrivals;
use crate::client_shard::ClientShard;
use crate::workload::{ArrivalProcess, RunConfig};

#[derive(Clone)]
pub(super) struct Arriving {
    arrivals: Arrivals,
    /// Next arrival in an open loop, already taken from the stream.
    next_in_stream: Option<Instant>,
    closed: bool,
    free_places: BinaryHeap<Reverse<Instant>>,
    /// Arrival of the latest op, which no later op precedes.
    last: Instant,
    /// Number of the next op in the whole run.
    next_op: u64,
    shard: ClientShard,
    clients: u32,
}

impl Arriving {
    pub(super) fn new(config: &RunConfig) -> Self {
        let mut free_places = BinaryHeap::new();
        if let ArrivalProcess::Closed { in_flight } = config.workload.arrivals {
            free_places.extend((0..in_flight).map(|_| Reverse(Instant::ORIGIN)));
        }
        let mut arriving = Self {
            arrivals: Arrivals::new(config.workload.clone(), config.seed),
            next_in_stream: None,
            closed: matches!(config.workload.arrivals, ArrivalProcess::Closed { .. }),
            free_places,
            last: Instant::ORIGIN,
            next_op: 0,
            shard: config.shard,
            clients: config.clients,
        };
        arriving.go_on();
        arriving
    }

    pub(super) fn next(&self) -> Option<Instant> {
        self.next_in_stream.or_else(|| {
            let Reverse(free) = *self.free_places.peek()?;
            // Over HTTP answers may come out of order, but ops are numbered in the order of arrival.
            let free = free.max(self.last);
            self.arrivals.allows(self.next_op, free).then_some(free)
        })
    }

    /// Records the arrival of the next op at `at`, the result of [`Self::next`]. Returns its number in the whole run.
    pub(super) fn arrive(&mut self, at: Instant) -> u64 {
        let op = self.next_op;
        self.last = at;
        self.next_op += 1;
        if self.closed {
            self.free_places.pop();
        }
        self.go_on();
        op
    }

    /// Advances to the next op that is executed here.
    #[inline]
    fn go_on(&mut self) {
        if self.shard.of() > 1 {
            self.pass_over_others();
        } else if !self.closed {
            self.next_in_stream = self.arrivals.next();
        }
    }

    /// Sharded variant of `go_on`: skips ops of other shards, which are fewer than there are clients.
    fn pass_over_others(&mut self) {
        let clients = u64::from(self.clients.max(1));
        let shard = self.shard;
        let is_own = |op: u64| u32::try_from(op % clients).is_ok_and(|client| shard.has(client));
        if !self.closed {
            self.next_in_stream = self.arrivals.next();
        }
        while !is_own(self.next_op) && (self.closed || self.next_in_stream.is_some()) {
            self.next_op += 1;
            if !self.closed {
                self.next_in_stream = self.arrivals.next();
            }
        }
    }

    /// Frees a place from `at` on. Returns false for an open loop, which has no places.
    pub(super) fn free_place(&mut self, at: Instant) -> bool {
        if self.closed {
            self.free_places.push(Reverse(at));
        }
        self.closed
    }

    pub(super) fn goes_on(&self, now: Instant) -> bool {
        self.next_in_stream.is_some() || self.closed && self.arrivals.allows(self.next_op, now)
    }

    /// Returns the number of ops of this shard that an open loop has yet to produce; `None` if they are more than
    /// `most`.
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

    /// Returns all remaining arrivals of the stream, those of other shards included.
    pub(super) fn rest(&self) -> impl Iterator<Item = Instant> {
        self.next_in_stream.into_iter().chain(self.arrivals.clone())
    }
}
