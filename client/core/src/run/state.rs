//! What the client state machine remembers.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use slab::Slab;
use tailback::{Permits, Strategy};
use vocabulary::Instant;

use super::{Output, RunLog, ServerSeen};
use crate::arrivals::Arrivals;
use crate::lower_bound::{LeastCosts, LowerBound};
use crate::measure::Measurements;
use crate::op::{Op, Waiting};
use crate::sample::SampleSink;
use crate::sleepers::Sleepers;
use crate::stall::StallWatch;
use crate::workload::{ArrivalProcess, RunConfig};

/// The client side of one run.
pub struct Run {
    pub(super) config: RunConfig,
    pub(super) arrivals: Arrivals,
    /// The next op's arrival in an open loop, already taken from the stream.
    pub(super) next_in_stream: Option<Instant>,
    /// In a closed loop, the instants from which places are free.
    pub(super) free_places: BinaryHeap<Reverse<Instant>>,
    /// The latest op's arrival; none is before it.
    pub(super) last_arrival: Instant,
    /// One per strategy instance: per client, or one for all that share.
    pub(super) stations: Vec<Station>,
    pub(super) ops: Slab<Op>,
    pub(super) attempts: Slab<Attempt>,
    /// Of these: the ones of which it is not known yet whether they started.
    pub(super) undecided: usize,
    /// Attempts sent so far: the next one's serial.
    pub(super) next_serial: u64,
    /// Ops whose back-off ends.
    pub(super) sleeping: Sleepers,
    /// No deadline, timeout or end of patience comes before this.
    pub(super) rare_not_before: Instant,
    /// Nothing at all is due before this.
    pub(super) quiet_until: Instant,
    /// Instants at which stations want to be polled; stale ones are skipped.
    pub(super) station_timers: BinaryHeap<Reverse<(Instant, u32)>>,
    /// Attempts in the order in which they time out, which is the order in which they were sent.
    pub(super) timeouts: VecDeque<(Instant, super::AttemptKey)>,
    /// Ops in the order of their deadlines, which is the order in which they arrived.
    pub(super) deadlines: VecDeque<(Instant, u32, u32)>,
    pub(super) outbox: VecDeque<Output>,
    pub(super) measured: Measurements,
    pub(super) stall: StallWatch,
    pub(super) stalled_at: Option<Instant>,
    pub(super) stopping: bool,
    pub(super) server: Option<ServerSeen>,
    pub(super) cap_changed: bool,
    /// Sums over stations, kept as they change.
    pub(super) window: f64,
    pub(super) ssthresh: f64,
    /// How long the ops that have arrived take at least, while the server is the one for which that is known.
    pub(super) lower_bound: Option<LowerBound>,
    /// Attempts in a row that found nobody who answers.
    pub(super) silent_attempts: u64,
    /// Who wants every attempt.
    pub(super) samples: Option<SampleSink>,
    /// What is kept of it to be played again, if it is recorded.
    pub(super) log: Option<Box<RunLog>>,
}

/// One strategy instance with its queue.
pub(super) struct Station {
    pub(super) strategy: Strategy,
    /// Ops that may be sent, first come first served.
    pub(super) ready: VecDeque<Waiting>,
    pub(super) sleeping: u64,
    pub(super) in_flight: u32,
    /// Attempts sent by this station: the next one's number.
    pub(super) next_seq: u64,
    /// The earliest instant in `station_timers` that still counts.
    pub(super) armed: Option<Instant>,
    pub(super) window: Option<f64>,
    pub(super) ssthresh: Option<f64>,
    /// Whether its strategy has a window at all.
    pub(super) windowed: bool,
}

/// An attempt in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    pub(super) op: u32,
    pub(super) station: u32,
    pub(super) serial: u64,
    pub(super) seq: u64,
    pub(super) due: Instant,
    pub(super) in_flight_when_sent: u32,
    pub(super) permits: Permits,
    /// Until it is known that the server had enough free to start it.
    pub(super) undecided: Option<Undecided>,
}

/// An attempt that is none if the server has too little free: so it is not counted yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undecided {
    /// What a deferral costs.
    pub(super) cost: Duration,
    /// Attempts of all clients in flight when it was sent, itself included, without those that turned out to be none.
    pub(super) in_flight: u64,
}

impl Run {
    /// A run of this workload. `strategy` is called once per strategy instance, with the client's number; with `costs`,
    /// what success costs at the server at least, there may be a [lower bound](LowerBound) on the makespan.
    ///
    /// # Errors
    /// What `strategy` returns.
    pub fn new<E>(
        config: RunConfig,
        mut strategy: impl FnMut(u32) -> Result<Strategy, E>,
        costs: Option<Arc<dyn LeastCosts>>,
    ) -> Result<Self, E> {
        let count = if config.share_strategy { 1 } else { config.clients.max(1) };
        let stations =
            (0..count).map(|client| strategy(client).map(Station::new)).collect::<Result<Vec<_>, E>>()?;
        let mut arrivals = Arrivals::new(config.workload.clone(), config.seed);
        let mut run = Self {
            next_in_stream: arrivals.next(),
            free_places: BinaryHeap::new(),
            last_arrival: Instant::ORIGIN,
            arrivals,
            stations,
            ops: Slab::new(),
            attempts: Slab::new(),
            undecided: 0,
            next_serial: 0,
            sleeping: Sleepers::default(),
            rare_not_before: Instant::ORIGIN,
            quiet_until: Instant::ORIGIN,
            station_timers: BinaryHeap::new(),
            timeouts: VecDeque::new(),
            deadlines: VecDeque::new(),
            outbox: VecDeque::new(),
            measured: Measurements::new(&config),
            stall: StallWatch::new(config.undisturbed_attempt, config.patience),
            stalled_at: None,
            stopping: false,
            server: None,
            cap_changed: false,
            window: 0.0,
            ssthresh: 0.0,
            lower_bound: costs.and_then(|costs| LowerBound::new(&config, costs)),
            silent_attempts: 0,
            samples: None,
            log: None,
            config,
        };
        for station in 0..run.stations.len() {
            run.note_gauges(station, Instant::ORIGIN);
        }
        if let ArrivalProcess::Closed { in_flight } = run.config.workload.arrivals {
            run.free_places.extend((0..in_flight).map(|_| Reverse(Instant::ORIGIN)));
        }
        Ok(run)
    }

    /// The station that op `id` belongs to.
    pub(super) fn station_of(&self, id: u32) -> usize {
        id as usize % self.stations.len()
    }

    /// The client that op `id` belongs to.
    pub(super) fn client_of(&self, id: u32) -> u32 {
        id % self.config.clients.max(1)
    }

    pub(super) fn in_flight(&self) -> u64 {
        self.attempts.len() as u64
    }

    /// No op can come any more, and none is left (or none is to be finished).
    pub(super) fn is_over(&self) -> bool {
        if self.stopping {
            return self.attempts.is_empty();
        }
        self.measured.ops.unfinished() == 0 && self.next_arrival().is_none()
    }

    /// The longest that an attempt may be out.
    pub(super) fn timeout(&self) -> Duration {
        self.config.timeout
    }
}

impl Station {
    fn new(strategy: Strategy) -> Self {
        Self {
            windowed: strategy.gauges().window.is_some(),
            strategy,
            ready: VecDeque::new(),
            sleeping: 0,
            in_flight: 0,
            next_seq: 0,
            armed: None,
            window: None,
            ssthresh: None,
        }
    }
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("ops", &self.measured.ops)
            .field("attempts", &self.measured.attempts)
            .field("in_flight", &self.attempts.len())
            .finish_non_exhaustive()
    }
}
