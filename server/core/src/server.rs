//! State machine of the whole server: network legs, admission and ledger.

mod changing;
mod passage;
mod run_clock;
mod taken_back;

use std::collections::VecDeque;
use std::sync::Arc;

use vocabulary::wire::{RunId, ServerStats};
use vocabulary::{Instant, WallTime};

use crate::account::Account;
use crate::config::Config;
use crate::details::{Details, Wants};
use crate::early_retries::EarlyRetries;
use crate::events::{Answer, Extras, Input, Output};
use crate::ledger::{Ledger, Of};
use crate::log::ServerLog;
use crate::policies::{Key, Stages};
use crate::request::{Request, RequestId};
use crate::schedule::InForce;
use crate::service::ServiceModel;
use crate::standing::Standing;
use crate::timeline::Timeline;

use run_clock::RunClock;

#[derive(Debug)]
pub struct Server {
    config: Config,
    /// Calendar time of the server's start.
    anchor: WallTime,
    /// True if answers have no templates, no faults and no limits of a stack. Cached, because every answer checks it.
    is_plain: bool,
    has_facts: bool,
    service: ServiceModel,
    /// Changes on the run's clock; `None` if the schedule is empty.
    schedule: Option<InForce>,
    /// Instant of the next of the `caps` that has not been applied to the policy.
    next_cap: Option<Instant>,
    clock: RunClock,
    policy: Stages,
    ledger: Ledger,
    /// Incremented by every reset. Requests of an earlier epoch are not counted.
    epoch: u64,
    /// Version of the single object that conditional writes change.
    version: u64,
    /// Requests in flight to admission.
    coming: Timeline<RequestId>,
    /// HTTP properties of those requests by request id, for the policy that admits them. Empty if no request has had any.
    details: Vec<Option<Arc<Details>>>,
    /// Answers in flight to the client.
    going: Timeline<Answer>,
    /// Number of messages so far. It breaks ties and identifies the current message of a request.
    messages: u64,
    /// By request id; `None` once answered or cancelled.
    requests: Vec<Option<Held>>,
    answers: VecDeque<Answer>,
    /// Extras of an earlier answer. The next one reuses their memory.
    spare: Option<Box<Extras>>,
    /// No event happens before this instant; [`Instant::FAR_FUTURE`] if none is pending. Cached, because it is checked far more often than
    /// events happen.
    next_at: Instant,
    early_retries: Option<EarlyRetries>,
    log: Option<Box<ServerLog>>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    request: Request,
    epoch: u64,
    /// Number of its current message. It is needed because ids are reused.
    message: u64,
    /// Whether admission left the verdict open. It is then counted when the request is released.
    is_open: bool,
}

impl Server {
    /// Creates a server without requests that starts with virtual time. The configuration should have passed [`Config::validate`].
    pub fn new(config: Config) -> Self {
        Self::starting(config, WallTime::VIRTUAL_START)
    }

    /// Creates a server that starts at the calendar time `anchor`. Its calendar advances with the experiment's time.
    pub fn starting(config: Config, anchor: WallTime) -> Self {
        let schedule = InForce::new(&config, anchor, None, Instant::ORIGIN);
        let policies = schedule.as_ref().map_or(&config.policy, InForce::policies);
        let mut ledger = Ledger::default();
        ledger.set_policies(policies.labels());
        let policy = config.admission(policies, anchor);
        let mut server = Self {
            anchor,
            is_plain: true,
            has_facts: false,
            policy,
            schedule,
            next_cap: config.caps.next_after(Instant::ORIGIN),
            clock: RunClock::default(),
            service: config.service_model(),
            config,
            ledger,
            epoch: 0,
            version: 0,
            coming: Timeline::default(),
            details: Vec::new(),
            going: Timeline::default(),
            messages: 0,
            requests: Vec::new(),
            answers: VecDeque::new(),
            spare: None,
            next_at: Instant::FAR_FUTURE,
            early_retries: None,
            log: None,
        };
        server.look_at_answers();
        server
    }

    /// Caches what every answer depends on, because comparing configurations takes longer than the rest of an answer.
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
            Input::Arrive(request) => self.meet(now, request, 0, None),
            Input::ArriveIfFree { request, least } => self.meet(now, request, least, None),
            Input::ArriveWith { request, details, least } => self.meet(now, request, least, Some(details)),
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
        self.next_at = self.next();
    }

    /// Returns the next output. Call again until it is [`Output::WaitUntil`] or [`Output::Idle`].
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Output {
        self.ledger.on_time(now);
        match self.next_answer(now) {
            Some(answer) => Output::Answer(answer),
            None if self.next_at == Instant::FAR_FUTURE => Output::Idle,
            None => Output::WaitUntil(self.next_at),
        }
    }

    /// Returns the instant of the next answer that can be taken, or of the next event; [`Instant::FAR_FUTURE`] if there is neither.
    #[inline]
    pub fn next_at(&self) -> Instant {
        self.answers.front().map_or(self.next_at, |answer| answer.at)
    }

    /// Returns the next answer that is due by `until`. Everything before it is processed at its own instant, and nothing after it. For
    /// shells whose time jumps.
    #[inline]
    pub fn next_answer(&mut self, until: Instant) -> Option<Answer> {
        if !self.answers.is_empty() {
            // Logged before it is removed: a reference to the return value would force a copy of all of it, even without a log.
            if let (Some(log), Some(answer)) = (&mut self.log, self.answers.front()) {
                log.on_answer(answer);
            }
            return self.answers.pop_front();
        }
        while self.next_at <= until && self.next_at != Instant::FAR_FUTURE {
            let answer = self.process_next();
            if answer.is_some() {
                if let (Some(log), Some(answer)) = (&mut self.log, &answer) {
                    log.on_answer(answer);
                }
                return answer;
            }
        }
        None
    }

    /// Takes back an answer that the shell no longer needs, so that the next one reuses its memory.
    #[inline]
    pub fn reuse(&mut self, answer: Answer) {
        if answer.extras.is_some() {
            self.spare = answer.extras;
        }
    }

    /// Starts a log of all inputs and answers. It grows without bound, so it is meant for comparisons of shells, not for long runs. No
    /// request may be in flight.
    pub fn record_log(&mut self) {
        self.log = Some(Box::new(ServerLog {
            config: self.config.clone(),
            anchor: self.anchor,
            events: Vec::new(),
            until: Instant::ORIGIN,
            stats: ServerStats::default(),
        }));
    }

    /// Ends the log and returns it as of `now`, if one was recorded. The shell must have taken every answer that is due.
    pub fn take_log(&mut self, now: Instant) -> Option<ServerLog> {
        let log = self.log.take()?;
        Some(ServerLog { until: now, stats: self.stats(now, None), ..*log })
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the parts of requests that the current policy uses. Requests with them are passed as [`Input::ArriveWith`].
    pub fn wants(&self) -> Wants {
        let mut wants = self.config.policy.wants();
        if self.early_retries.is_some() {
            EarlyRetries::want(&mut wants);
        }
        wants
    }

    /// True if answers may advise when to come back, so that [early retries](ServerStats::retried_too_early) are counted.
    pub fn advises(&self) -> bool {
        self.early_retries.is_some()
    }

    /// Returns the name of each limit of the stack and its status for the client that came last.
    pub fn limits(&mut self, now: Instant) -> Vec<(String, Standing)> {
        self.advance(now);
        let standings = self.policy.standings(now, &self.service);
        let of_newcomer = |index: usize| {
            let mut stage = self.policies().stage(index, self.anchor)?;
            stage.gate.standing(now, Key::default(), &self.service)
        };
        let limits = self.policies().labels().into_iter().zip(standings).enumerate();
        limits
            .filter_map(|(index, (label, standing))| Some((label, standing.or_else(|| of_newcomer(index))?)))
            .collect()
    }

    /// Returns the number of keys that policies evicted for others, since the current policies took effect. Evicted keys get new limits.
    pub fn evicted_keys(&self) -> u64 {
        self.policy.evicted_keys()
    }

    /// Returns the number of busy slots (including rejections that hold one), outstanding requests or descriptors.
    pub fn busy(&self) -> u32 {
        self.policy.busy()
    }

    pub fn capacity(&self, now: Instant) -> Option<u32> {
        self.policy.capacity(now, &self.service)
    }

    /// Returns the number of free slots, places or descriptors, which carrier sense compares.
    pub fn free(&self, now: Instant) -> u64 {
        u64::from(self.policy.free(now, &self.service))
    }

    /// Returns the counts of one run, or of all, since the last reset. The shell fills in its uptime and instance.
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
            shards: run.map(|run| self.ledger.shard_rows(run)).unwrap_or_default(),
            forgotten_until_s: run.and_then(|run| self.ledger.forgotten_until(run)).map(Instant::as_secs_f64),
            ..ServerStats::default()
        }
    }

    pub fn lifetime(&mut self, now: Instant) -> Account {
        self.advance(now);
        self.ledger.lifetime()
    }

    /// Processes everything that is due by `now`, each event at its own instant. Fast path: usually nothing is due.
    #[inline]
    fn advance(&mut self, now: Instant) {
        self.ledger.on_time(now);
        if self.next_at <= now {
            self.catch_up(now);
        }
    }

    /// Slow path of `advance`, for the case that something is due.
    #[inline(never)]
    fn catch_up(&mut self, now: Instant) {
        while self.next_at <= now && self.next_at != Instant::FAR_FUTURE {
            let answer = self.process_next();
            self.answers.extend(answer);
        }
    }

    #[inline]
    fn process_next(&mut self) -> Option<Answer> {
        let at = self.next_at;
        let answer = if self.change_is_due(at) {
            self.follow_schedule(at);
            None
        } else {
            self.step(at)
        };
        self.next_at = self.next();
        answer
    }

    /// Processes one event that is due at `at`. The policy's own events come first.
    #[inline]
    fn step(&mut self, at: Instant) -> Option<Answer> {
        if self.policy.next() == at {
            let mut released = self.policy.advance(self.config.seed, &self.service)?;
            if self.is_open(released.id) {
                self.count_policies(released.id, released.verdict);
                self.decide(&mut released);
            }
            self.answer(at, &released)
        } else if self.coming.next().0 == at {
            let ((_, message), id) = self.coming.pop()?;
            if self.awaits(id, message) { self.admit(at, id) } else { None }
        } else {
            let ((_, message), answer) = self.going.pop()?;
            self.awaits(answer.id, message).then(|| {
                self.requests[answer.id.0 as usize] = None;
                Answer { at, ..answer }
            })
        }
    }

    #[inline]
    fn next(&self) -> Instant {
        let next = self.policy.next().min(self.coming.next().0).min(self.going.next().0);
        self.next_call().map_or(next, |call| call.min(next))
    }

    /// Whether this message is the current one of a request that is still in flight.
    fn awaits(&self, id: RequestId, message: u64) -> bool {
        self.requests[id.0 as usize].as_ref().is_some_and(|held| held.message == message)
    }

    fn of(&self, held: &Held) -> Of {
        if held.epoch == self.epoch { Of::ThisEpoch(held.request.run) } else { Of::Earlier }
    }
}

#[cfg(test)]
mod tests;
