//! When ops arrive: from the stream of an open loop, or as places of a closed one free.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use vocabulary::Instant;

use crate::arrivals::Arrivals;
use crate::client_shard::ClientShard;
use crate::workload::{ArrivalProcess, RunConfig};

/// Arrivals to come.
#[derive(Clone)]
pub(super) struct Arriving {
    arrivals: Arrivals,
    /// The next op's arrival in an open loop, already taken from the stream.
    next_in_stream: Option<Instant>,
    closed: bool,
    /// In a closed loop, the instants from which places are free.
    free_places: BinaryHeap<Reverse<Instant>>,
    /// The latest op's arrival; none is before it.
    last: Instant,
    /// The next op's number in the whole run.
    next_op: u64,
    /// Whose ops are taken, of how many clients.
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

    /// When the next op arrives, as far as that is known now.
    pub(super) fn next(&self) -> Option<Instant> {
        self.next_in_stream.or_else(|| {
            let Reverse(free) = *self.free_places.peek()?;
            // Over HTTP answers may come out of order; ops are numbered as they arrive all the same.
            let free = free.max(self.last);
            self.arrivals.allows(self.next_op, free).then_some(free)
        })
    }

    /// The next op arrives at `at`, as [`Self::next`] told: its number in the whole run.
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

    /// Goes on to the next op that is taken here.
    #[inline]
    fn go_on(&mut self) {
        if self.shard.of() > 1 {
            self.pass_over_others();
        } else if !self.closed {
            self.next_in_stream = self.arrivals.next();
        }
    }

    /// The same where others do the rest; it passes over fewer ops than there are clients.
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

    /// A place is free from `at` on. Whether that matters: an open loop has no places.
    pub(super) fn free_place(&mut self, at: Instant) -> bool {
        if self.closed {
            self.free_places.push(Reverse(at));
        }
        self.closed
    }

    /// Whether more ops may come after `now`.
    pub(super) fn goes_on(&self, now: Instant) -> bool {
        self.next_in_stream.is_some() || self.closed && self.arrivals.allows(self.next_op, now)
    }

    /// Ops of this shard that an open loop still has to come. `None` if they are more than `most`.
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

    /// All arrivals of the stream that are still to come, of other shards, too.
    pub(super) fn rest(&self) -> impl Iterator<Item = Instant> {
        self.next_in_stream.into_iter().chain(self.arrivals.clone())
    }
}
