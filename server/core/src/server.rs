//! The whole server: the network legs, admission, the ledger, in one state machine.

use std::collections::VecDeque;

use vocabulary::Instant;
use vocabulary::wire::{RunId, ServerStats};

use crate::config::Config;
use crate::events::{Answer, Input, Output};
use crate::ledger::{Account, Ledger, Of};
use crate::log::{ServerEvent, ServerLog};
use crate::policies::{Arrived, Load, Released, Running};
use crate::request::{Request, RequestId, Step, Verdict, Way};
use crate::service::ServiceModel;
use crate::timeline::Timeline;

/// The throttling server.
#[derive(Debug)]
pub struct Server {
    config: Config,
    /// Of the configuration, what the policy goes by.
    service: ServiceModel,
    policy: Running,
    ledger: Ledger,
    /// Rises with every reset; what began in an earlier one is not counted.
    epoch: u64,
    /// The version of the one object that conditional writes change.
    version: u64,
    /// Requests on their way to admission.
    coming: Timeline<RequestId>,
    /// Answers on their way to the client.
    going: Timeline<Answer>,
    /// Messages so far: what breaks ties, and by what a request knows its own.
    messages: u64,
    /// By request id; `None` once answered or cancelled.
    requests: Vec<Option<Held>>,
    answers: VecDeque<Answer>,
    /// Nothing happens before this: looked at far more often than anything happens.
    next_at: Option<Instant>,
    /// What is kept to be played again, if it is recorded.
    log: Option<Box<ServerLog>>,
}

/// A request between arrival and answer.
#[derive(Clone, Copy, Debug)]
struct Held {
    request: Request,
    epoch: u64,
    /// Which message is its own: ids are used again.
    message: u64,
    /// Whether its arrival left everything open: what becomes of it is counted when it is released.
    is_open: bool,
}

impl Server {
    /// A server without requests. The configuration should have passed [`Config::validate`].
    pub fn new(config: Config) -> Self {
        Self {
            policy: Running::new(config.policy.build()),
            service: config.service_model(),
            config,
            ledger: Ledger::default(),
            epoch: 0,
            version: 0,
            coming: Timeline::default(),
            going: Timeline::default(),
            messages: 0,
            requests: Vec::new(),
            answers: VecDeque::new(),
            next_at: None,
            log: None,
        }
    }

    /// Something happened at `now`.
    pub fn handle(&mut self, now: Instant, input: Input) {
        if let Some(log) = &mut self.log {
            log.events.push(ServerEvent::Input(now, input.clone()));
        }
        self.advance(now);
        match input {
            Input::Arrive(request) => self.arrive(now, request),
            Input::ArriveIfFree { request, least } if self.free(now) >= u64::from(least) => {
                self.arrive(now, request);
            }
            Input::ArriveIfFree { request, .. } => self.defer(now, request.id),
            Input::Cancel(id) => self.cancel(now, id),
            Input::Configure(config) => self.configure(now, *config),
            Input::Reset => {
                self.epoch += 1;
                self.version = 0;
                self.ledger.reset();
            }
        }
        self.next_at = self.next();
    }

    /// What is to be done; call again until it answers with [`Output::WaitUntil`] or [`Output::Idle`].
    pub fn poll(&mut self, now: Instant) -> Output {
        if self.answers.is_empty() {
            self.advance(now);
        }
        if let Some(answer) = self.answers.pop_front() {
            if let Some(log) = &mut self.log {
                log.events.push(ServerEvent::Answer(answer));
            }
            return Output::Answer(answer);
        }
        self.next_at.map_or(Output::Idle, Output::WaitUntil)
    }

    /// Keeps what it is told and what it answers from now on, all of it: for comparisons of shells, not for long runs. Nothing
    /// may be under way.
    pub fn record_log(&mut self) {
        self.log = Some(Box::new(ServerLog {
            config: self.config.clone(),
            events: Vec::new(),
            until: Instant::ORIGIN,
            stats: ServerStats::default(),
        }));
    }

    /// What was recorded by `now`, if anything was; nothing is recorded any more. The shell has taken every answer that is due.
    pub fn take_log(&mut self, now: Instant) -> Option<ServerLog> {
        let log = self.log.take()?;
        Some(ServerLog { until: now, stats: self.stats(now, None), ..*log })
    }

    /// The configuration in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What is busy: slots (rejections that hold one included), outstanding requests, descriptors.
    pub fn busy(&self) -> u32 {
        self.policy.load().busy
    }

    /// What there is in all: slots, places or descriptors.
    pub fn capacity(&self, now: Instant) -> u32 {
        self.policy.capacity(now, &self.service)
    }

    /// What a carrier sense looks at: free slots, places or descriptors.
    pub fn free(&self, now: Instant) -> u64 {
        u64::from(self.policy.free(now, &self.service))
    }

    /// What was counted, of one run or of all since the last reset. The shell fills in its uptime and instance.
    pub fn stats(&mut self, now: Instant, run: Option<RunId>) -> ServerStats {
        self.advance(now);
        let account = self.ledger.account(run);
        ServerStats {
            counts: account.counts,
            busy: u64::from(self.busy()),
            wasted_ms: account.wasted.as_secs_f64() * 1e3,
            epoch: self.epoch,
            forgotten_until_s: run.and_then(|run| self.ledger.forgotten_until(run)).map(Instant::as_secs_f64),
            ..ServerStats::default()
        }
    }

    /// What was counted since the start, whatever was reset.
    pub fn lifetime(&mut self, now: Instant) -> Account {
        self.advance(now);
        self.ledger.lifetime()
    }

    /// Processes everything that is due by `now`, each at its own instant.
    fn advance(&mut self, now: Instant) {
        self.ledger.on_time(now);
        while let Some(at) = self.next_at.filter(|at| *at <= now) {
            self.step(at);
            self.next_at = self.next();
        }
    }

    /// Processes one thing that is due at `at`; the policy's own events come first.
    fn step(&mut self, at: Instant) {
        let is_due = |key: Option<(Instant, u64)>| key.is_some_and(|(due, _)| due == at);
        if self.policy.load().next == Some(at) {
            if let Some(mut released) = self.policy.advance(self.config.seed) {
                if self.is_open(released.id) {
                    self.decide(&mut released);
                }
                self.answer(at, released);
            }
        } else if is_due(self.coming.next()) {
            if let Some(((_, message), id)) = self.coming.pop()
                && self.awaits(id, message)
            {
                self.admit(at, id);
            }
        } else if let Some(((_, message), answer)) = self.going.pop()
            && self.awaits(answer.id, message)
        {
            self.requests[answer.id.0 as usize] = None;
            self.answers.push_back(Answer { at, ..answer });
        }
    }

    /// When the next thing happens.
    fn next(&self) -> Option<Instant> {
        let sooner = |one: Option<Instant>, other: Option<Instant>| match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let leg = |key: Option<(Instant, u64)>| key.map(|(at, _)| at);
        sooner(self.policy.load().next, sooner(leg(self.coming.next()), leg(self.going.next())))
    }

    /// Whether this message is the latest of a request that goes on.
    fn awaits(&self, id: RequestId, message: u64) -> bool {
        self.requests[id.0 as usize].as_ref().is_some_and(|held| held.message == message)
    }

    fn arrive(&mut self, now: Instant, request: Request) {
        let index = request.id.0 as usize;
        if self.requests.len() <= index {
            self.requests.resize(index + 1, None);
        }
        let held = Held { request, epoch: self.epoch, message: self.messages, is_open: false };
        self.messages += 1;
        self.requests[index] = Some(held);
        if request.is_lost(Way::ToServer, self.config.loss) {
            return self.ledger.note(self.of(&held), |account| account.lost_requests += 1);
        }
        let delay = request.network_delay(&self.config.network_delay);
        if delay.is_zero() {
            self.admit(now, request.id);
        } else {
            self.coming.push(now + delay, held.message, request.id);
        }
    }

    /// Too little is free: whoever looked first hears of it at once, and nothing else happens.
    fn defer(&mut self, now: Instant, id: RequestId) {
        self.answers.push_back(Answer {
            id,
            verdict: Verdict::Deferred,
            advice: None,
            at: now,
            busy: self.busy(),
            cap: self.capacity(now),
            version: self.version,
        });
    }

    fn admit(&mut self, at: Instant, id: RequestId) {
        let Some(held) = &self.requests[id.0 as usize] else { return };
        let Request { step, attempt, .. } = held.request;
        let of = self.of(held);
        if self.config.outages.cover(at) {
            let Load { busy, in_service, .. } = self.policy.load();
            self.ledger.on_admission(of, step, Some(Verdict::Rejected), (busy, in_service));
            if step != Step::Read {
                self.ledger.note(of, |account| account.outages += 1);
            }
            return self.answer(at, Released::at_once(id, Verdict::Rejected, busy));
        }
        let refusal = match step {
            _ if attempt <= self.config.reject_first => Some(Verdict::Rejected),
            Step::Write { if_match } if if_match != self.version => Some(Verdict::Conflict),
            _ => None,
        };
        let arrived = self.policy.arrive(at, &held.request, refusal, &self.service);
        let verdict = match arrived {
            Arrived::Decided(verdict) | Arrived::Done { verdict, .. } => Some(verdict),
            Arrived::Open => None,
        };
        let accepted = verdict == Some(Verdict::Accepted);
        if accepted && matches!(step, Step::Write { .. }) {
            self.version += 1;
        }
        // What takes no time was in service, too, if only for that moment.
        let passing = u32::from(matches!(arrived, Arrived::Done { .. }) && accepted);
        let Load { busy, in_service, .. } = self.policy.load();
        self.ledger.on_admission(of, step, verdict, (busy + passing, in_service + passing));
        if refusal == Some(Verdict::Rejected) && verdict == refusal && step != Step::Read {
            self.ledger.note(of, |account| account.forced += 1);
        }
        match arrived {
            Arrived::Decided(_) => {}
            Arrived::Done { verdict, advice } => {
                let released = Released { advice, ..Released::at_once(id, verdict, busy + passing) };
                self.answer(at, released);
            }
            Arrived::Open => {
                if let Some(held) = &mut self.requests[id.0 as usize] {
                    held.is_open = true;
                }
            }
        }
    }

    /// Whether the arrival of this request left everything open.
    fn is_open(&self, id: RequestId) -> bool {
        self.requests[id.0 as usize].as_ref().is_some_and(|held| held.is_open)
    }

    /// Counts what becomes of a request about which admission left everything open; a write takes effect now.
    fn decide(&mut self, released: &mut Released) {
        let Some(held) = self.requests[released.id.0 as usize] else { return };
        let request = held.request;
        if let (Step::Write { if_match }, Verdict::Accepted) = (request.step, released.verdict) {
            if if_match == self.version {
                self.version += 1;
            } else {
                released.verdict = Verdict::Conflict;
            }
        }
        let of = self.of(&held);
        self.ledger.on_verdict(of, request.step, released.verdict);
        if let Of::ThisEpoch(_) = of {
            let crashes = self.policy.take_crashes();
            if crashes > 0 {
                self.ledger.on_crashes(of, crashes);
            }
        }
    }

    /// A request is done with: its answer goes out.
    fn answer(&mut self, at: Instant, released: Released) {
        let index = released.id.0 as usize;
        let Some(held) = &self.requests[index] else { return };
        let request = &held.request;
        let of = self.of(held);
        if released.verdict != Verdict::Accepted {
            self.ledger.on_waste(of, released.held);
        }
        if request.is_lost(Way::ToClient, self.config.loss) {
            return self.ledger.note(of, |account| account.lost_answers += 1);
        }
        let advice = match released.verdict {
            Verdict::Rejected | Verdict::Conflict => released.advice.or(self.config.retry_after),
            Verdict::Accepted | Verdict::Deferred => None,
        };
        let answer = Answer {
            id: released.id,
            verdict: released.verdict,
            advice,
            at,
            busy: released.busy,
            cap: self.policy.capacity(at, &self.service),
            version: self.version,
        };
        let delay = request.return_delay(&self.config.return_delay);
        if delay.is_zero() {
            self.requests[index] = None;
            self.answers.push_back(answer);
        } else {
            let message = self.messages;
            self.messages += 1;
            if let Some(held) = &mut self.requests[index] {
                held.message = message;
            }
            self.going.push(at + delay, message, answer);
        }
    }

    fn cancel(&mut self, now: Instant, id: RequestId) {
        let Some(held) = self.requests.get_mut(id.0 as usize).and_then(Option::take) else {
            // Its answer may be on its way out; nobody is there to take it.
            self.answers.retain(|answer| answer.id != id);
            return;
        };
        match self.policy.cancel(now, id) {
            Some(released) => self.ledger.on_waste(self.of(&held), released.held),
            None => self.forget_stale_messages(),
        }
    }

    /// Drops the messages of cancelled requests when they are the most.
    fn forget_stale_messages(&mut self) {
        let requests = &self.requests;
        let alive =
            |id: RequestId, message| requests[id.0 as usize].is_some_and(|held| held.message == message);
        if self.coming.len() > 2 * requests.len() {
            self.coming.retain(|(_, message), id| alive(id, message));
        }
        if self.going.len() > 2 * requests.len() {
            self.going.retain(|(_, message), answer| alive(answer.id, message));
        }
    }

    /// From now on behaves so. What is under way goes on as it began, unless the policy itself is another: then it
    /// is turned away.
    fn configure(&mut self, now: Instant, config: Config) {
        let is_other_policy = config.policy != self.config.policy;
        self.service = config.service_model();
        self.config = config;
        if !is_other_policy {
            return;
        }
        let mut before = std::mem::replace(&mut self.policy, Running::new(self.config.policy.build()));
        let mut ids: Vec<RequestId> = self.requests.iter().flatten().map(|held| held.request.id).collect();
        ids.sort_unstable();
        for id in ids {
            if let Some(released) = before.cancel(now, id) {
                let mut rejected = Released { verdict: Verdict::Rejected, ..released };
                if self.is_open(id) {
                    self.decide(&mut rejected);
                } else if released.verdict == Verdict::Accepted {
                    self.revoke(id);
                }
                self.answer(now, rejected);
            }
        }
    }

    /// What was counted as accepted is turned away after all.
    fn revoke(&mut self, id: RequestId) {
        if let Some(held) = self.requests[id.0 as usize] {
            self.ledger.on_revocation(self.of(&held), held.request.step);
        }
    }

    /// Whose counts a request belongs to: answers of an earlier epoch are not counted in this one.
    fn of(&self, held: &Held) -> Of {
        if held.epoch == self.epoch { Of::ThisEpoch(held.request.run) } else { Of::Earlier }
    }
}

#[cfg(test)]
mod tests;
