//! Configuration of a run: the number of its ops, their arrivals and their limits.

use std::sync::Arc;
use std::time::Duration;

use tailback::Outcome;
use vocabulary::Instant;

use crate::arrival_rate::RateStage;
use crate::classify::SuccessStatuses;
use crate::rejected_when::RejectedWhen;
use crate::requests::Requests;
use crate::stall::PlannedOutages;

#[derive(Clone, Debug, PartialEq)]
pub enum ArrivalProcess {
    Poisson {
        /// Mean number of arrivals per second, above 0.
        rate_per_s: f64,
    },
    Uniform {
        /// Number of ops that arrive per second, at equal intervals; above 0.
        rate_per_s: f64,
    },
    /// Open loop whose rate changes over time.
    Staged {
        stages: Arc<[RateStage]>,
        /// Whether the ops arrive at equal steps of the integral of the rate, and not at random.
        is_uniform: bool,
    },
    /// Open loop in which all ops arrive at the origin of the run.
    Burst,
    /// Open loop with groups of ops, such as a spike on a steady background. The ops of a group arrive at random
    /// instants of the group's interval.
    Scattered(Arc<[Group]>),
    /// Open loop with arrivals at the listed instants, which are in ascending order.
    Listed(Arc<[Instant]>),
    /// Closed loop: a new op arrives whenever a place is free. An op that ends frees its place. A closed loop hides
    /// waiting times, because a slow server receives fewer requests.
    Closed {
        /// Maximum number of unfinished ops at any time in a closed loop, at least 1.
        in_flight: u32,
    },
}

/// Ops that arrive at independent, uniformly distributed instants between `from` (included) and `to` (excluded).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    pub ops: u64,
    /// Start of the interval, as time since the origin of the run.
    pub from: Duration,
    /// End of the interval, as time since the origin of the run; later than `from`.
    pub to: Duration,
    /// Step of the arrival instants: each is a whole multiple of `grid` after `from`. Zero permits any instant.
    pub grid: Duration,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OperationKind {
    #[default]
    Request,
    /// A read that is immediately followed by a write. The write takes effect only if no other write happened in
    /// between (optimistic concurrency control).
    ReadModifyWrite,
}

/// Ops of a run, and the limits at which arrivals end. Arrivals end when the first of the limits is reached. Unless the
/// arrivals are finite by themselves, at least one limit is set.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    pub arrivals: ArrivalProcess,
    pub ops: Option<u64>,
    /// Length of the period during which ops arrive; `None` if no time limits the arrivals.
    pub duration: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RunConfig {
    pub seed: u64,
    pub workload: Workload,
    pub kind: OperationKind,
    /// Request settings that differ between ops. The driver applies them.
    pub requests: Requests,
    pub rejected_when: RejectedWhen,
    pub success: SuccessStatuses,
    /// Number of independent clients; op i belongs to client i mod `clients`.
    pub clients: u32,
    /// Whether all clients share one strategy instance, and thus one queue.
    pub share_strategy: bool,
    pub timeout: Duration,
    /// Maximum time from an op's arrival to the start of an attempt. At the end of this time, an op without success is
    /// given up, unless it has an attempt in flight.
    pub deadline: Option<Duration>,
    /// Maximum time from an op's arrival to its success for the op to count as done in time. `None` means the deadline.
    /// The setting only affects the number of ops done in time.
    pub within: Option<Duration>,
    /// Length of the warm-up. Ops that arrive during the warm-up are counted, and so are attempts that are sent during
    /// it. But their latencies are excluded.
    pub warm_up: Duration,
    /// Maximum time for which the run continues after the end of `duration`, to finish the ops that have arrived.
    pub drain: Option<Duration>,
    /// Pause of a closed-loop client after each op. Zero means the shortest possible pause.
    pub pause: Duration,
    /// Whether an op may be retried after a failure. A rejected op may always be retried.
    pub retry_failed: bool,
    /// Duration of an attempt that nothing delays. The time without progress after which a run counts as stalled is at
    /// least 100 times as long.
    pub undisturbed_attempt: Duration,
    /// Mean service time of the server, if known. The excess time of attempts is compared with this time.
    pub mean_service: Option<Duration>,
    /// Minimum time without a success before a run counts as stalled; one minute by default.
    pub patience: Duration,
    /// Maximum number of attempts, as a multiple of the number of ops in the workload. With more attempts, the run
    /// counts as stalled even if some attempts succeed. `None` for no limit.
    pub max_attempts_per_op: Option<u32>,
    pub outages: PlannedOutages,
    /// Whether to store every latency of ops and attempts for exact percentiles, up to
    /// [`EXACT_LATENCIES`](crate::EXACT_LATENCIES) of each kind.
    pub exact_latencies: bool,
    pub bins: Option<Duration>,
}

impl Default for Workload {
    fn default() -> Self {
        Self { arrivals: ArrivalProcess::Poisson { rate_per_s: 1000.0 }, ops: Some(2000), duration: None }
    }
}

impl RunConfig {
    /// Returns whether the deadline of an op that arrived at `arrived` has passed at `at`.
    pub(crate) fn is_late(&self, arrived: Instant, at: Instant) -> bool {
        self.deadline.is_some_and(|deadline| at >= arrived + deadline)
    }

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
            success: SuccessStatuses::default(),
            clients: 1,
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
