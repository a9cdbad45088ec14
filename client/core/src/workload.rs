//! What a run is to do: how many ops, arriving how, under which limits.

use std::sync::Arc;
use std::time::Duration;

use tailback::Outcome;
use vocabulary::Instant;

use crate::client_shard::ClientShard;
use crate::downtime::PlannedOutages;
use crate::rejected_when::RejectedWhen;
use crate::requests::Requests;

/// When ops arrive.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrivalProcess {
    /// Open loop: independent arrivals, this many a second on average.
    Poisson {
        /// Mean arrivals per second, above 0.
        rate_per_s: f64,
    },
    /// Open loop: evenly spaced.
    Uniform {
        /// Arrivals per second, above 0.
        rate_per_s: f64,
    },
    /// Open loop: all at the origin.
    Burst,
    /// Open loop: groups of ops, each scattered over a stretch of time: a spike on a steady background, say.
    Scattered(Arc<[Group]>),
    /// Open loop: at these instants, in order.
    Listed(Arc<[Instant]>),
    /// Closed loop: an op arrives when a place frees. Hides waiting: what is slow is asked less.
    Closed {
        /// Most ops unfinished at once, at least 1.
        in_flight: u32,
    },
}

/// Ops that arrive at independent instants, uniform between `from` (included) and `to` (excluded).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// How many.
    pub ops: u64,
    /// Since the origin.
    pub from: Duration,
    /// Since the origin; later than `from`.
    pub to: Duration,
    /// Instants are whole multiples of this after `from`; zero for no grid.
    pub grid: Duration,
}

/// What one attempt does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OperationKind {
    /// One request.
    #[default]
    Request,
    /// A read, then at once a write that counts only if nobody wrote in between (optimistic concurrency control).
    ReadModifyWrite,
}

/// Which ops arrive, and until when. Arrivals end at whichever limit comes first; at least one is set, unless the
/// arrivals themselves are finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// When ops arrive.
    pub arrivals: ArrivalProcess,
    /// How many.
    pub ops: Option<u64>,
    /// For how long.
    pub duration: Option<Duration>,
}

/// Everything that the client side of a run is told.
#[derive(Clone, Debug, PartialEq)]
pub struct RunConfig {
    /// Keys arrivals and every other draw.
    pub seed: u64,
    /// What is to be done.
    pub workload: Workload,
    /// What one attempt does; carried out by the driver.
    pub kind: OperationKind,
    /// What requests ask for, where that differs by op; carried out by the driver.
    pub requests: Requests,
    /// What else the client takes for a rejection.
    pub rejected_when: RejectedWhen,
    /// Independent clients; op i belongs to client i mod `clients`.
    pub clients: u32,
    /// Which of these clients are taken here; ops of all others are passed over. It needs an open loop, and clients that share nothing.
    pub shard: ClientShard,
    /// Whether all clients share one strategy instance, and with it one queue.
    pub share_strategy: bool,
    /// An attempt without an answer after this long has failed.
    pub timeout: Duration,
    /// An op that cannot start its next attempt within this long of its arrival gives up.
    pub deadline: Option<Duration>,
    /// Ops that succeed within this long of their arrival are those counted as done in time; without it the deadline is
    /// the limit. It changes nothing but that count.
    pub within: Option<Duration>,
    /// Ops that arrive earlier than this, and attempts that are sent earlier, are counted but not part of latencies.
    pub warm_up: Duration,
    /// How long the run goes on after a limited duration, to finish what has arrived.
    pub drain: Option<Duration>,
    /// How long a closed loop's client rests after each op; zero for no longer than it must.
    pub pause: Duration,
    /// Whether an op may try again after a failure (it always may after a rejection).
    pub retry_failed: bool,
    /// How long an attempt takes when nothing is in its way; bounds the patience with a run that stalls.
    pub undisturbed_attempt: Duration,
    /// How long service takes on average, where that is known: what the machine adds to attempts is judged by it.
    pub mean_service: Option<Duration>,
    /// Minimum time without a success before a run counts as stalled; one minute by default.
    pub patience: Duration,
    /// Attempts per op of the workload after which a run counts as stalled, whatever succeeds; `None` for no such limit.
    pub max_attempts_per_op: Option<u32>,
    /// Outages that the server has planned: such time does not count against the run's patience.
    pub outages: PlannedOutages,
    /// Whether to keep every latency of ops and attempts, up to [`EXACT_LATENCIES`](crate::EXACT_LATENCIES) of a kind, for
    /// exact percentiles.
    pub exact_latencies: bool,
    /// The width of the bins in which every call is counted, if that is wanted.
    pub bins: Option<Duration>,
}

impl Default for Workload {
    fn default() -> Self {
        Self { arrivals: ArrivalProcess::Poisson { rate_per_s: 1000.0 }, ops: Some(2000), duration: None }
    }
}

impl RunConfig {
    /// Whether ops try again after failures; `outcome` knows the op's method, if methods differ.
    pub(crate) fn retries_failed(&self, outcome: &Outcome) -> bool {
        self.retry_failed && (!self.requests.unsafe_fail_once || outcome.method.is_idempotent())
    }
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            workload: Workload::default(),
            kind: OperationKind::default(),
            requests: Requests::default(),
            rejected_when: RejectedWhen::default(),
            clients: 1,
            shard: ClientShard::WHOLE,
            share_strategy: false,
            timeout: Duration::from_secs(30),
            deadline: None,
            within: None,
            warm_up: Duration::ZERO,
            drain: None,
            pause: Duration::ZERO,
            retry_failed: true,
            undisturbed_attempt: Duration::from_millis(600),
            mean_service: None,
            patience: Duration::from_mins(1),
            max_attempts_per_op: None,
            outages: PlannedOutages::default(),
            exact_latencies: false,
            bins: None,
        }
    }
}
