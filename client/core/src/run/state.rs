//! Fields of [`Run`], the client state machine, and its constructor.

use std::collections::VecDeque;
use std::sync::Arc;

use slab::Slab;
use tailback::{Method, ResponseParser, Strategy};
use vocabulary::{AdvertisedLimits, Instant};

use super::advised::Advised;
use super::agenda::Timers;
use super::exchange::Output;
use super::in_flight::InFlight;
use super::instance::{Instance, InstanceId};
use super::log::RunLog;
use super::rounds::Rounds;
use crate::lower_bound::{LeastCosts, LowerBound};
use crate::measure::Measurements;
use crate::op::{Op, OpId};
use crate::rejected_when::RejectedWhen;
use crate::requests::Requests;
use crate::run::instance::Drawn;
use crate::sample::SampleSink;
use crate::stall::StallWatch;
use crate::workload::RunConfig;

pub struct Run {
    pub(super) config: RunConfig,
    pub(super) agenda: Timers,
    pub(super) instances: Vec<Instance>,
    pub(super) ops: Slab<Op>,
    pub(super) advised: Advised,
    pub(super) attempts: InFlight,
    pub(super) hedges: bool,
    pub(super) rounds: Rounds,
    /// Number of attempts for which it is not known yet whether the server started them. These attempts use carrier
    /// sense, so the server starts them only if enough slots are free.
    pub(super) undecided: usize,
    /// Number of attempts in flight that wait for a connection.
    pub(super) waiting: usize,
    /// Number of attempts launched, which is also the serial number of the next attempt.
    pub(super) next_serial: u64,
    pub(super) outbox: VecDeque<Output>,
    pub(super) measured: Measurements,
    pub(super) stall: StallWatch,
    pub(super) stalled_at: Option<Instant>,
    pub(super) stopping: bool,
    pub(super) server: Option<Slots>,
    pub(super) limits: AdvertisedLimits,
    pub(super) cap_changed: bool,
    /// Sum of the windows of all instances, updated at every change.
    pub(super) window: f64,
    pub(super) ssthresh: f64,
    pub(super) drawn: Drawn,
    /// Lower bound on the makespan of the ops that have arrived. `None` once the server turns out to differ from the
    /// server for which the bound was proven.
    pub(super) lower_bound: Option<LowerBound>,
    /// Number of consecutive attempts, up to the latest, that found no server.
    pub(super) silent_attempts: u64,
    /// Number of ops that had been given up without a failure when the first of `silent_attempts` ended.
    pub(super) given_up_before_silence: u64,
    /// Number of consecutive attempts, up to the latest, that failed.
    pub(super) failed_attempts: u64,
    pub(super) samples: Option<SampleSink>,
    pub(super) log: Option<Box<RunLog>>,
}

#[derive(Clone, Copy)]
pub(super) struct Slots {
    pub(super) busy: u32,
    pub(super) cap: Option<u32>,
}

impl Run {
    /// Creates a run. `strategy` is called once per strategy instance, with the number of its client. `costs` are the
    /// minimum costs of a successful op at the server. If they are given, the run may report a [lower
    /// bound](LowerBound) on the makespan.
    ///
    /// # Errors
    /// Returns the error of `strategy`.
    pub fn new<E>(
        config: RunConfig,
        mut strategy: impl FnMut(u32) -> Result<Strategy, E>,
        costs: Option<Arc<dyn LeastCosts>>,
    ) -> Result<Self, E> {
        let count = if config.share_strategy { 1 } else { config.clients.max(1) };
        let instances =
            (0..count).map(|client| strategy(client).map(Instance::new)).collect::<Result<Vec<_>, E>>()?;
        let mut run = Self {
            agenda: Timers::new(&config),
            hedges: instances.iter().any(|instance| instance.strategy.hedges()),
            instances,
            ops: Slab::new(),
            attempts: InFlight::new(),
            rounds: Rounds::default(),
            advised: Advised::default(),
            undecided: 0,
            waiting: 0,
            next_serial: 0,
            outbox: VecDeque::new(),
            measured: Measurements::new(&config),
            stall: StallWatch::new(config.undisturbed_attempt, config.patience),
            stalled_at: None,
            stopping: false,
            server: None,
            limits: AdvertisedLimits::default(),
            cap_changed: false,
            window: 0.0,
            ssthresh: 0.0,
            drawn: Drawn::default(),
            lower_bound: costs.and_then(|costs| LowerBound::new(&config, costs)),
            silent_attempts: 0,
            given_up_before_silence: 0,
            failed_attempts: 0,
            samples: None,
            log: None,
            config,
        };
        for instance in 0..count {
            run.note_gauges(InstanceId(instance), Instant::ORIGIN);
        }
        Ok(run)
    }

    /// Returns the parser for the parts of answers that the strategies use. All strategy instances use the same parser.
    pub fn reading(&self) -> Arc<ResponseParser> {
        self.instances.first().map_or_else(Arc::default, |instance| instance.strategy.reading().clone())
    }

    pub fn rejected_when(&self) -> &RejectedWhen {
        &self.config.rejected_when
    }

    pub fn requests(&self) -> &Requests {
        &self.config.requests
    }

    #[inline]
    pub(super) fn method_of(&self, op: OpId) -> Option<Method> {
        self.config.requests.method_of(self.config.seed, op.into())
    }

    pub(super) fn instance_of(&self, id: OpId) -> InstanceId {
        // Fast path: skips computing the strategy instance of the op if there is only one instance, the usual case.
        if self.instances.len() == 1 {
            return InstanceId(0);
        }
        InstanceId(share_of(id, self.config.clients))
    }

    pub(super) fn client_of(&self, id: OpId) -> u32 {
        share_of(id, self.config.clients)
    }

    pub(super) fn in_flight(&self) -> u64 {
        self.attempts.len() as u64
    }

    pub(super) fn is_over(&self) -> bool {
        if self.stopping {
            return self.attempts.is_empty();
        }
        self.measured.ops.unfinished() == 0 && self.agenda.arriving.next().is_none()
    }
}

/// Returns the client, out of `count` clients, to which op `id` belongs. Clients are numbered from 0, and ops are
/// assigned to them in turn. Fast path: skips the division if there is one client, the usual case. A division takes
/// longer than the comparison of `count` with 1.
#[inline]
fn share_of(id: OpId, count: u32) -> u32 {
    if count > 1 { id.0 % count } else { 0 }
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
