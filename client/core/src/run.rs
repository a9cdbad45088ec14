//! Client state machine of a whole run: arrivals, clients with their strategies, attempts, measurements.
//!
//! The real-time driver and the virtual-time driver use the state machine in the same way. They call
//! [`Run::poll_output`] until it returns the instant of the next call. Then they wait until that instant or until an
//! answer arrives. They pass an answer to [`Run::handle_input`], and call [`Run::poll_output`] again.
//!
//! Every event is processed at its own scheduled instant, however late the driver calls. The consequences of an event
//! are *due* at that instant. So a late driver causes send lag and latency, but never changes a decision.

mod advised;
mod agenda;
mod ending;
mod exchange;
mod hedging;
mod in_flight;
mod instance;
mod launching;
mod log;
mod report;
mod rounds;
mod timers;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use slab::Slab;
use tailback::{Method, ResponseParser, Strategy};
use vocabulary::{AdvertisedLimits, Instant};

use crate::lower_bound::{LeastCosts, LowerBound};
use crate::measure::{Measurements, RateLaw};
use crate::op::{Op, OpId, OpSlot, OpState, RetryOutlook, Waiting};
use crate::rejected_when::RejectedWhen;
use crate::requests::Requests;
use crate::stall::StallWatch;
use crate::workload::{OperationKind, RunConfig};

pub use advised::AdvisedWait;
pub use exchange::{
    AttemptKey, AttemptResult, Completion, Input, Output, SentAttempt, ServerSeen, ServerVerdict,
};
pub use log::{Refusal, RunLog, Sample, SampleSink};

use advised::{Advised, AskedToWait, Caller};
use agenda::Timers;
use in_flight::InFlight;
use instance::{Drawn, Instance, InstanceId};
use rounds::Rounds;

/// Maximum number of timers that fire in one poll. This limit lets the driver do its other work even when very many ops
/// arrive at once.
const TIMERS_AT_ONCE: u32 = 1024;

pub struct Run {
    config: RunConfig,
    agenda: Timers,
    instances: Vec<Instance>,
    ops: Slab<Op>,
    advised: Advised,
    asked_to_wait: AskedToWait,
    attempts: InFlight,
    hedges: bool,
    rounds: Rounds,
    /// Number of attempts for which it is not known yet whether the server started them. These attempts use carrier
    /// sense, so the server starts them only if enough slots are free.
    undecided: usize,
    /// Number of attempts in flight that wait for a connection.
    waiting: usize,
    /// Number of attempts launched, which is also the serial number of the next attempt.
    next_serial: u64,
    outbox: VecDeque<Output>,
    measured: Measurements,
    stall: StallWatch,
    stalled_at: Option<Instant>,
    stopping: bool,
    server: Option<Slots>,
    limits: AdvertisedLimits,
    cap_changed: bool,
    /// Sum of the windows of all instances, updated at every change.
    window: f64,
    ssthresh: f64,
    drawn: Drawn,
    /// Lower bound on the makespan of the ops that have arrived. `None` once the server turns out to differ from the
    /// server for which the bound was proven.
    lower_bound: Option<LowerBound>,
    /// Number of consecutive attempts, up to the latest, that found no server.
    silent_attempts: u64,
    /// Number of ops that had been given up without a failure when the first of `silent_attempts` ended.
    given_up_before_silence: u64,
    /// Number of consecutive attempts, up to the latest, that failed.
    failed_attempts: u64,
    samples: Option<SampleSink>,
    log: Option<Box<RunLog>>,
}

#[derive(Clone, Copy)]
struct Slots {
    busy: u32,
    cap: Option<u32>,
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
            asked_to_wait: AskedToWait::default(),
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

    /// Returns whether an attempt has neither ended nor been taken back.
    pub fn is_in_flight(&self, attempt: AttemptKey) -> bool {
        self.attempts.get(attempt).is_some()
    }

    pub fn rejected_when(&self) -> &RejectedWhen {
        &self.config.rejected_when
    }

    pub fn requests(&self) -> &Requests {
        &self.config.requests
    }

    #[inline]
    fn method_of(&self, op: OpId) -> Option<Method> {
        self.config.requests.method_of(self.config.seed, op.into())
    }

    fn instance_of(&self, id: OpId) -> InstanceId {
        // Fast path: skips computing the strategy instance of the op if there is only one instance, the usual case.
        if self.instances.len() == 1 {
            return InstanceId(0);
        }
        InstanceId(share_of(id, self.config.clients))
    }

    fn client_of(&self, id: OpId) -> u32 {
        share_of(id, self.config.clients)
    }

    fn caller_of(&self, slot: OpSlot) -> Caller {
        let id = self.ops[slot].id;
        (self.instance_of(id), self.config.requests.api_key_of(self.config.seed, id.into()))
    }

    /// Returns whether an attempt of the op at this instant is sent although the server has asked its caller to wait.
    #[inline]
    fn is_early(&self, slot: OpSlot, at: Instant) -> bool {
        // Fast path: most servers give no advice.
        !self.asked_to_wait.is_empty() && self.asked_to_wait.is_early(self.caller_of(slot), at)
    }

    fn in_flight(&self) -> u64 {
        self.attempts.len() as u64
    }

    fn is_over(&self) -> bool {
        if self.stopping {
            return self.attempts.is_empty();
        }
        self.measured.ops.unfinished() == 0 && self.agenda.arriving.next().is_none()
    }

    /// Processes an input that occurred at `now`. This instant may be earlier than an event that was already processed,
    /// because answers may arrive out of order.
    #[inline]
    pub fn handle_input(&mut self, now: Instant, input: Input) {
        self.handle(now, &input);
    }

    /// Variant of [`handle_input`](Self::handle_input) that borrows the input, for drivers that use the input again.
    /// This variant saves copying a large value for each attempt.
    #[inline]
    pub fn handle(&mut self, now: Instant, input: &Input) {
        if let Some(log) = &mut self.log {
            log.on_input(now, input);
        }
        self.advance(now);
        match input {
            Input::AttemptEnd(completion) => self.on_ended(now, completion),
            Input::Started(attempt) => self.on_started(*attempt),
            Input::Waiting(attempt) => self.on_waiting(*attempt),
            Input::Connected(attempt) => self.on_connected(now, *attempt),
            // Outputs that are already queued are still returned to the driver, because strategies and counts already
            // include them.
            Input::Stop => self.stopping = true,
            Input::Abort => self.abort(now),
        }
        self.note_waiting(now);
    }

    /// Returns the next output of the run. The driver calls this function until it returns [`Output::WaitUntil`],
    /// [`Output::Idle`] or [`Output::Done`].
    ///
    /// If many timers fire without an output, the result is `WaitUntil` with an instant that is not after `now`. The
    /// driver then checks for other work and calls again at once.
    #[inline]
    pub fn poll_output(&mut self, now: Instant) -> Output {
        if !self.outbox.is_empty()
            && let Some(output) = self.take_output()
        {
            return output;
        }
        // Fast path: after most answers no event is due at once. The previous poll has stored the instant before which
        // no event is due.
        let next_deadline = self.agenda.next_deadline;
        if next_deadline > now && self.continues() {
            return Output::WaitUntil(next_deadline);
        }
        self.next_output(now)
    }

    #[inline]
    fn take_output(&mut self) -> Option<Output> {
        // The output is logged before it is removed from the queue. If the log referred to the removed output, the
        // compiler would copy it, even in runs without a log.
        if let (Some(log), Some(output)) = (&mut self.log, self.outbox.front()) {
            log.on_output(output);
        }
        self.outbox.pop_front()
    }

    fn next_output(&mut self, now: Instant) -> Output {
        for _ in 0..TIMERS_AT_ONCE {
            if let Some(output) = self.take_output() {
                return output;
            }
            if self.is_over() {
                self.measured.sort_latencies();
                return Output::Done;
            }
            // Fast path: the instant of the next event is usually known from before the input, because the input
            // scheduled nothing sooner.
            let next_deadline = self.agenda.next_deadline;
            if self.continues() {
                if next_deadline > now {
                    return Output::WaitUntil(next_deadline);
                }
                if let Some(due) = self.agenda.foreseen.take() {
                    self.on_timer(next_deadline, due);
                    continue;
                }
            }
            match self.next_due() {
                Some((at, due)) if at <= now => self.on_timer(at, due),
                Some((at, due)) => {
                    self.agenda.is_quiet_until(at, due);
                    return Output::WaitUntil(at);
                }
                None => return Output::Idle,
            }
        }
        Output::WaitUntil(now)
    }

    /// Sets the rate limit that the server is known to have. From now on, attempts are compared with this rate limit.
    /// `None` ends the comparison.
    pub fn follow_law(&mut self, law: Option<RateLaw>) {
        // Conditional writes are not compared with the rate limit, because the server also charges the reads that
        // precede them.
        let law = law.filter(|_| self.config.kind == OperationKind::Request);
        self.measured.follow(law, self.config.undisturbed_attempt);
    }

    pub fn record_samples(&mut self, sink: SampleSink) {
        self.samples = Some(sink);
    }

    /// Records all inputs and decisions from now on. The log grows without bound, so it is meant for comparisons of
    /// drivers, not for long runs.
    pub fn record_log(&mut self) {
        self.log = Some(Box::default());
    }

    pub fn take_log(&mut self) -> Option<RunLog> {
        self.log.take().map(|log| *log)
    }

    pub fn measurements(&self) -> &Measurements {
        &self.measured
    }

    #[inline]
    fn continues(&self) -> bool {
        !self.stopping && self.measured.ops.unfinished() > 0 && self.stalled().is_none()
    }

    /// Fires every timer that is due before `now`, in order and each at its own instant. A timer that is due exactly at
    /// `now` fires only after the input that arrived at `now`. So an answer that arrives at the instant of its timeout
    /// counts as an answer.
    fn advance(&mut self, now: Instant) {
        if now <= self.agenda.next_deadline {
            return;
        }
        while let Some((at, due)) = self.next_due().filter(|(at, _)| *at < now)
            && !self.is_over()
        {
            self.on_timer(at, due);
        }
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
