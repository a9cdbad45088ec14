//! State machine of the whole server: network delays, admission and counts.

mod changing;
mod passage;
mod taken_back;

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use vocabulary::{Instant, WallTime};
use wire::{RunId, ServerStats};

use crate::agenda::{Agenda, Lane};
use crate::early_retries::EarlyRetries;
use crate::ledger::{Ledger, Of};
use crate::policies::{Released, Stages};
use crate::schedule::InForce;
use crate::slot::{Place, Slot};
use crate::{
    Account, Answer, Config, FieldSelection, Input, Key, LimitStatus, Output, Request, RequestFields,
    RequestId, ServerLog, ServiceModel,
};

#[derive(Debug)]
pub struct Server {
    config: Config,
    /// Calendar time at the server's start.
    anchor: WallTime,
    /// True if answers need neither templates nor faults, and report no limits of a policy stack. The value is cached, because every answer
    /// depends on it.
    is_plain: bool,
    has_facts: bool,
    service: ServiceModel,
    /// Schedule during the run; `None` if the configured schedule is empty.
    schedule: Option<InForce>,
    /// Instant of the next change of the number of slots by the setting `caps`. All earlier changes have been applied to the policy.
    next_cap: Option<Instant>,
    /// Instant of the next change by `schedule` or `caps`; [`Instant::FAR_FUTURE`] if nothing changes any more.
    next_change: Instant,
    clock: RunClock,
    policy: Stages,
    ledger: Ledger,
    /// Number of resets of the counts so far. Requests that arrived before the latest reset are not counted in the new counts.
    epoch: u64,
    /// Version of the one object on the server that conditional writes change.
    version: u64,
    agenda: Agenda,
    /// Instant of the next event that is not in the agenda: an event of the policies, or a change for which a queued request waits.
    rare_at: Instant,
    /// State of each request, and its answer, by request id.
    slots: Vec<Slot>,
    /// Requests whose answers are due and were not taken yet. The answers are in the requests' slots.
    answers: VecDeque<RequestId>,
    early_retries: Option<EarlyRetries>,
    log: Option<Box<ServerLog>>,
}

impl Server {
    /// Creates a server without requests. Its calendar starts at 2026-01-01, 00:00:00 UTC, which is the start of virtual time. The
    /// configuration should have passed [`Config::validate`].
    pub fn new(config: Config) -> Self {
        Self::starting(config, WallTime::VIRTUAL_START)
    }

    /// Creates a server that starts at the calendar time `anchor`. The server's calendar advances with the experiment's time.
    pub fn starting(config: Config, anchor: WallTime) -> Self {
        let schedule = InForce::new(&config, anchor, None, Instant::ORIGIN);
        let policies = schedule.as_ref().map_or(&config.policy, InForce::policies);
        let mut ledger = Ledger::default();
        ledger.policies.set(policies.labels());
        let policy = config.admission(policies, anchor);
        let mut server = Self {
            anchor,
            is_plain: true,
            has_facts: false,
            policy,
            schedule,
            next_cap: config.caps.next_after(Instant::ORIGIN),
            next_change: Instant::ORIGIN,
            clock: RunClock::default(),
            service: config.service_model(),
            config,
            ledger,
            epoch: 0,
            version: 0,
            agenda: Agenda::default(),
            rare_at: Instant::FAR_FUTURE,
            slots: Vec::new(),
            answers: VecDeque::new(),
            early_retries: None,
            log: None,
        };
        server.look_at_answers();
        server.look_at_changes();
        server
    }

    /// Stores facts on which every answer depends, so that they need not be computed for each answer. The computation compares
    /// configurations, which takes longer than all other work for an answer.
    fn look_at_answers(&mut self) {
        self.has_facts = self.policy.has_facts() || !self.config.answers.is_empty();
        self.is_plain = !self.has_facts && self.config.fault.is_empty();
        self.early_retries = EarlyRetries::new(&self.config, self.anchor, self.early_retries.take());
    }

    pub fn handle(&mut self, now: Instant, input: Input) {
        if let Some(log) = &mut self.log {
            log.on_input(now, &input);
        }
        self.advance(now);
        match input {
            Input::Arrive { request, least, details } => self.meet(now, &request, least, details),
            Input::Cancel(id) => {
                self.follow_schedule(now);
                self.cancel(now, id);
            }
            Input::Configure(config) => {
                self.follow_schedule(now);
                self.configure(now, *config);
            }
            Input::Reset => {
                self.follow_schedule(now);
                self.epoch += 1;
                self.version = 0;
                self.ledger.reset();
                self.forget_clock(now);
            }
        }
        self.look_at_rare();
    }

    /// Variant of [`handle`](Self::handle) for [`Input::Arrive`], which is by far the most frequent input.
    #[inline]
    pub fn receive(
        &mut self,
        now: Instant,
        request: &Request,
        least: u32,
        details: Option<Arc<RequestFields>>,
    ) {
        if let Some(log) = &mut self.log {
            log.on_input(now, &Input::Arrive { request: *request, least, details: details.clone() });
        }
        self.advance(now);
        self.meet(now, request, least, details);
        self.look_at_rare();
    }

    /// Returns the next output. The caller repeats the call until the output is [`Output::WaitUntil`] or [`Output::Idle`].
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Output {
        self.ledger.on_time(now);
        let Some(id) = self.next_answer(now) else {
            return match self.next_event() {
                Instant::FAR_FUTURE => Output::Idle,
                at => Output::WaitUntil(at),
            };
        };
        Output::Answer(std::mem::take(&mut self.slots[id.0 as usize].answer))
    }

    /// Returns the instant of the next answer that can be taken. If no answer can be taken, returns the instant of the next event. Returns
    /// [`Instant::FAR_FUTURE`] if there is no event either.
    #[inline]
    pub fn next_at(&self) -> Instant {
        self.answers.front().map_or_else(|| self.next_event(), |id| self.slots[id.0 as usize].answer.at)
    }

    /// Returns the instant of the next event, or an earlier instant; [`Instant::FAR_FUTURE`] if no event is pending.
    #[inline]
    fn next_event(&self) -> Instant {
        self.agenda.first().at().min(self.rare_at)
    }

    /// Takes the next answer that is due by `until`, and returns the id of its request. Processes all events before this answer, each at its
    /// own instant, but no later events. This method is meant for callers whose time advances in jumps, such as the simulator.
    #[inline]
    pub fn next_answer(&mut self, until: Instant) -> Option<RequestId> {
        // Fast path: nothing is due.
        if self.answers.is_empty() && self.next_event() > until {
            return None;
        }
        let id = self.answers.pop_front().or_else(|| self.process_until(until))?;
        if let Some(log) = &mut self.log {
            log.on_answer(&self.slots[id.0 as usize].answer);
        }
        Some(id)
    }

    /// Returns a request whose answer was taken, and the answer. Both remain until another request with this id arrives.
    #[inline]
    pub fn answered(&self, id: RequestId) -> (&Request, &Answer) {
        let Slot { request, answer, .. } = &self.slots[id.0 as usize];
        (request, answer)
    }

    /// Processes events until an answer is due, and returns its request.
    #[inline(never)]
    fn process_until(&mut self, until: Instant) -> Option<RequestId> {
        loop {
            let at = self.next_event();
            if at > until || at == Instant::FAR_FUTURE {
                return None;
            }
            if let Some(id) = self.process(at) {
                return Some(id);
            }
        }
    }

    /// Starts a log of all inputs and answers. No request may be in flight. The log grows without limit, so it is meant for comparisons of
    /// shells (the HTTP server and the simulator) and not for long runs.
    pub fn record_log(&mut self) {
        self.log = Some(Box::new(ServerLog {
            config: self.config.clone(),
            anchor: self.anchor,
            events: Vec::new(),
            until: Instant::ORIGIN,
            stats: ServerStats::default(),
        }));
    }

    /// Ends the log and returns it as of `now`. Returns `None` if no log was recorded. The shell must first have taken every answer that is
    /// due.
    pub fn take_log(&mut self, now: Instant) -> Option<ServerLog> {
        let log = self.log.take()?;
        Some(ServerLog { until: now, stats: self.stats(now, None), ..*log })
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the parts of requests that the current policy uses. Callers pass these parts with [`Input::Arrive`].
    pub fn wants(&self) -> FieldSelection {
        let mut wants = self.config.policy.wants();
        if self.early_retries.is_some() {
            EarlyRetries::want(&mut wants);
        }
        wants
    }

    /// True if answers may advise clients when to retry. Only then are [early retries](ServerStats::retried_too_early) counted.
    pub fn advises(&self) -> bool {
        self.early_retries.is_some()
    }

    /// Returns the name and the status of each limit of the stack. For a limit that distinguishes clients, the status is for the client of
    /// the latest request with HTTP properties, or for a new client if no such request has arrived.
    pub fn limits(&mut self, now: Instant) -> Vec<(String, LimitStatus)> {
        self.advance(now);
        let limit_statuses = self.policy.limit_statuses(now, &self.service);
        let of_newcomer = |index: usize| {
            let mut stage = self.policies().stage(index, self.anchor)?;
            stage.gate.limit_status(now, Key::default(), &self.service)
        };
        let limits = self.policies().labels().into_iter().zip(limit_statuses).enumerate();
        limits
            .filter_map(|(index, (label, limit_status))| {
                Some((label, limit_status.or_else(|| of_newcomer(index))?))
            })
            .collect()
    }

    /// Returns the number of keys that policies have evicted to make room for other keys, since the current policies took effect. An
    /// evicted key starts with a fresh limit when it is used again.
    pub fn evicted_keys(&self) -> u64 {
        self.policy.evicted_keys()
    }

    /// Returns the number of busy slots, outstanding requests or descriptors, depending on the policy. Busy slots include slots that are
    /// held by rejections.
    pub fn busy(&self) -> u32 {
        self.policy.busy()
    }

    pub fn capacity(&self, now: Instant) -> Option<u32> {
        self.policy.capacity(now, &self.service)
    }

    /// Returns the number of free slots, places or descriptors, depending on the policy. A request with carrier sense starts only if this
    /// number is large enough.
    pub fn free(&self, now: Instant) -> u64 {
        u64::from(self.policy.free(now, &self.service))
    }

    /// Returns the counts since the last reset, for one run or for all requests. The shell fills in its uptime and its instance.
    pub fn stats(&mut self, now: Instant, run: Option<RunId>) -> ServerStats {
        self.advance(now);
        let account = self.ledger.account(run);
        ServerStats {
            counts: account.counts,
            busy: u64::from(self.busy()),
            served_ms: Some(account.served.as_secs_f64() * 1e3),
            wasted_ms: account.wasted.as_secs_f64() * 1e3,
            epoch: self.epoch,
            retried_too_early: account.early,
            forgotten_until_s: run.and_then(|run| self.ledger.forgotten_until(run)).map(Instant::as_secs_f64),
            ..ServerStats::default()
        }
    }

    pub fn lifetime(&mut self, now: Instant) -> Account {
        self.advance(now);
        self.ledger.lifetime()
    }

    /// Processes all events that are due by `now`, each at its own instant. Fast path: usually no event is due.
    #[inline]
    fn advance(&mut self, now: Instant) {
        self.ledger.on_time(now);
        if self.next_event() <= now {
            self.catch_up(now);
        }
    }

    /// Slow path of `advance`, for calls with events that are due.
    #[inline(never)]
    fn catch_up(&mut self, now: Instant) {
        while let Some(id) = self.process_until(now) {
            self.answers.push_back(id);
        }
    }

    /// Processes the next event, which is due at `at`. Returns the request whose answer is due now, if there is one. Changes come before all
    /// events. Of several events at one instant, those of policies come after the ends of services and rejections, and before requests and
    /// answers that arrive.
    #[inline]
    fn process(&mut self, at: Instant) -> Option<RequestId> {
        if self.next_change <= at {
            self.follow_schedule(at);
            self.look_at_rare();
            return None;
        }
        let first = self.agenda.first();
        // Fast path: nothing is due but the first event of the agenda.
        if self.rare_at > at || (first.at() == at && first.lane() == Lane::Rejections) {
            return self.step(at);
        }
        let Self { policy, slots, agenda, config, service, .. } = self;
        let released = policy.advance(at, slots, agenda, config.seed, service);
        let id = released.and_then(|released| self.end(at, released));
        self.look_at_rare();
        id
    }

    /// Processes the first event of the agenda.
    #[inline]
    fn step(&mut self, at: Instant) -> Option<RequestId> {
        let event = self.agenda.pop();
        let slot = &mut self.slots[event.item() as usize];
        // The event of a cancelled request is ignored.
        if slot.event != event.order() {
            return None;
        }
        let id = RequestId(event.item());
        let answered = match event.lane() {
            Lane::Services | Lane::Rejections => {
                let released = self.policy.release(at, slot, &self.service);
                self.end(at, released)
            }
            Lane::Coming => self.admit(at, id),
            Lane::Going => {
                slot.end(Place::Gone);
                slot.answer.at = at;
                return Some(id);
            }
        };
        self.look_at_rare();
        answered
    }

    /// Answers a request that the policies have released.
    #[inline]
    fn end(&mut self, at: Instant, mut released: Released) -> Option<RequestId> {
        if self.slots[released.id.0 as usize].is_open {
            self.count_policies(released.id, released.verdict);
            self.decide(&mut released);
        }
        self.answer(at, &released)
    }

    /// Updates the instant of the next event that is not in the agenda, after the policies may have changed.
    #[inline]
    fn look_at_rare(&mut self) {
        self.rare_at = self.policy.next();
        if self.next_change < self.rare_at && self.policy.is_awaited() {
            self.rare_at = self.next_change;
        }
    }

    fn of(&self, slot: &Slot) -> Of {
        if slot.epoch == self.epoch { Of::ThisEpoch(slot.request.run) } else { Of::Earlier }
    }
}

/// Clock of a run.
///
/// The clock starts with the first request since the server's start or its latest reset. The clock restarts with the first request of a new
/// run, but only if no other request is in flight. Concurrent runs therefore share the clock of the first of them. A request that belongs
/// to no run starts the clock only if the clock is not running.
#[derive(Debug, Default)]
pub(crate) struct RunClock {
    pub(crate) began: Option<Instant>,
    /// Run of the latest request that belonged to a run.
    latest: Option<RunId>,
    met: BTreeSet<RunId>,
}

/// Maximum number of runs that the clock remembers in order to recognize new runs. When this number is reached, all remembered runs are
/// forgotten.
const MAX_MET: usize = 10_000;

impl RunClock {
    /// Fast check: returns true only if a request of this run certainly does not start the clock. `run` is `None` for a request that
    /// belongs to no run.
    #[inline]
    pub(crate) fn goes_on_with(&self, run: Option<RunId>) -> bool {
        self.began.is_some() && (run.is_none() || run == self.latest)
    }

    /// Records the arrival of a request, and returns whether the run's clock starts with this request. `run` is the run to which the
    /// request belongs, if any. `is_idle` returns whether no other request is in flight. It is called only if its result matters.
    pub(crate) fn on_arrival(
        &mut self,
        now: Instant,
        run: Option<RunId>,
        is_idle: impl FnOnce() -> bool,
    ) -> bool {
        if self.goes_on_with(run) {
            return false;
        }
        if self.met.len() == MAX_MET {
            self.met.clear();
        }
        let is_new = run.is_some_and(|run| self.met.insert(run));
        self.latest = run.or(self.latest);
        let begins = self.began.is_none() || (is_new && is_idle());
        if begins {
            self.began = Some(now);
        }
        begins
    }
}
