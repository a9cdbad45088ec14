//! The server's state machine behind a lock, and the requests that wait for its answers.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mockserver_core::{
    Answer, AnswerSet, Config, ConfigError, Input, LimitStatus, Output, Patch, PatchError, Reply, Request,
    RequestFields, RequestId, Script, Server, ServerDecision, ServerLog,
};
use slab::Slab;
use tokio::sync::{Notify, oneshot};
use vocabulary::{Instant, TimeScale};
use wire::{RunId, ServerStats};

use crate::admin::answer_times::AnswerTimes;
use crate::admin::metrics::Metrics;
use crate::clock::Clock;
use crate::connection::stopping::Stopping;
use crate::work::cached_selection::CachedSelection;
use crate::work::calls::{CallAttempt, CallKey, Calls};
use crate::work::identity::Identity;

pub(crate) struct Shared {
    inner: Mutex<Inner>,
    /// Notified when the next deadline is earlier than the one for which the timer task sleeps.
    pub(crate) earlier: Notify,
    pub(crate) clock: Clock,
    pub(crate) wanted: CachedSelection,
    counts_calls: AtomicBool,
    /// Random number that is drawn at each start of a mockserver and identifies this start.
    pub(crate) instance: u64,
    /// Maximum number of streams of an HTTP/2 connection. It is stored here only for the description of the server, because the connections
    /// themselves enforce it.
    pub(crate) http2_max_streams: u32,
    /// Whether web pages of any origin may use the server.
    pub(crate) cors: bool,
    /// Number of preflight requests since the last reset.
    pub(crate) preflights: AtomicU64,
    pub(crate) stopping: Arc<Stopping>,
    /// Whether a client began a TLS handshake, which this server does not speak.
    pub(crate) tls_seen: Arc<AtomicBool>,
}

pub(crate) struct Inner {
    pub(crate) server: Server,
    /// Templates of answers. `None` if the server sends its own default responses.
    answers: Option<Arc<AnswerSet>>,
    waiting: Slab<Waiting>,
    answer_times: AnswerTimes,
    unnumbered: u64,
    /// Number of requests without an op number since the last reset. A script treats these requests as the attempts of one op.
    since_reset: u32,
    calls: Calls,
    alarm_at: Option<Instant>,
    changes: u64,
    closed: bool,
}

struct Waiting {
    since: Instant,
    /// Sender that passes the answer to the waiting task. `None` only while `hand_in` runs, and after the server has closed.
    answer: Option<oneshot::Sender<Admitted>>,
    call: Option<CallAttempt>,
}

/// Answer to a request, with the response settings that were in force at the moment of the answer.
#[derive(Clone, Debug)]
pub(crate) struct Admitted {
    pub(crate) answer: Answer,
    pub(crate) reject_status: u16,
    script: Option<Arc<Script>>,
    /// Templates of the response. `None` if the response uses none: the answer of a deferred request, for example, has no facts.
    pub(crate) answers: Option<Arc<AnswerSet>>,
    pub(crate) advertises_wait: bool,
    /// Time from the arrival of the request to the instant at which the answer was due.
    pub(crate) took: Duration,
}

impl Admitted {
    fn new(answer: Answer, since: Instant, config: &Config, answers: Option<&Arc<AnswerSet>>) -> Self {
        let took = answer.at.since(since);
        let answers = answers.filter(|_| answer.facts().is_some()).cloned();
        let advertises_wait = config.retry_after.is_some();
        let script = answer.reply.and_then(|_| config.policy.script().cloned());
        Self { answer, reject_status: config.reject_status, script, answers, advertises_wait, took }
    }

    /// Returns true if the request was not started, because the server had less free capacity than the request requires. Only `loadgen`
    /// sends requests with such a requirement.
    pub(crate) fn is_deferred(&self) -> bool {
        self.answer.verdict == ServerDecision::Deferred
    }

    pub(crate) fn reply(&self) -> Option<&Reply> {
        self.script.as_ref()?.reply(self.answer.reply?)
    }
}

impl Shared {
    pub(crate) fn new(config: Config, scale: TimeScale, http2_max_streams: u32) -> Self {
        // The answer templates of the configuration are valid, because invalid settings were refused earlier.
        let answers = config.answer_set().ok().flatten().map(Arc::new);
        let clock = Clock::start(scale);
        let counts_calls = config.counts_calls().into();
        let server = Server::starting(config, clock.anchor);
        Self {
            counts_calls,
            wanted: CachedSelection::new(server.wants()),
            inner: Mutex::new(Inner {
                answers,
                server,
                waiting: Slab::new(),
                answer_times: AnswerTimes::default(),
                unnumbered: 0,
                since_reset: 0,
                calls: Calls::default(),
                alarm_at: None,
                changes: 0,
                closed: false,
            }),
            earlier: Notify::new(),
            clock,
            // The random number has at most 53 bits, because JSON numbers are exact only up to 2^53.
            instance: RandomState::new().hash_one(0) >> 11,
            http2_max_streams,
            cors: false,
            preflights: AtomicU64::new(0),
            stopping: Arc::default(),
            tls_seen: Arc::default(),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        // A poisoned lock is used all the same, because after a panic the state machine is between two inputs and therefore consistent.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes a request to the state machine and waits for its answer. Dropping the future means that the client has disconnected.
    pub(crate) async fn serve(
        &self,
        identity: Identity,
        details: Option<Arc<RequestFields>>,
    ) -> Option<Admitted> {
        match self.hand_in(identity, details) {
            Ok(answer) => Some(answer),
            Err(ticket) => ticket.wait().await,
        }
    }

    fn hand_in(
        &self,
        identity: Identity,
        details: Option<Arc<RequestFields>>,
    ) -> Result<Admitted, Ticket<'_>> {
        let mut inner = self.lock();
        let now = self.clock.now();
        let call = identity.call.and_then(|call| inner.attempt_of_call(call));
        let index = inner.waiting.insert(Waiting { since: now, answer: None, call });
        let id = RequestId(u32::try_from(index).expect("fewer than 2^32 requests are in flight"));
        let request = inner.request(id, identity, call);
        inner.server.receive(now, &request, identity.min_free, details);
        if let Some(answer) = self.drain(&mut inner, now, Some(id)) {
            return Ok(answer);
        }
        let (sender, answer) = oneshot::channel();
        inner.waiting[index].answer = Some(sender);
        Err(Ticket { shared: self, id, answer })
    }

    /// Passes every due answer to the task that waits for it. Returns the answer to the request `own` instead of passing it on, because no
    /// task waits for this answer yet.
    fn drain(&self, inner: &mut Inner, now: Instant, own: Option<RequestId>) -> Option<Admitted> {
        let (own_answer, next) = inner.send_due(now, own);
        if let Some(at) = next
            && inner.alarm_at.is_none_or(|set| at < set)
        {
            inner.alarm_at = next;
            self.earlier.notify_one();
        }
        own_answer
    }

    /// Passes every answer that is due to its task, and returns the next deadline. `None` after the server has closed.
    pub(crate) fn ring(&self) -> Option<Instant> {
        let mut inner = self.lock();
        if inner.closed {
            return None;
        }
        (_, inner.alarm_at) = inner.send_due(self.clock.now(), None);
        inner.alarm_at.or(Some(Instant::FAR_FUTURE))
    }

    pub(crate) fn patch(&self, patch: &Patch) -> Result<(), PatchError> {
        let mut inner = self.lock();
        let config = inner.server.config().patched(patch)?;
        let answers = config.answer_set().map_err(ConfigError::from)?.map(Arc::new);
        inner.changes += 1;
        let before = inner.server.config();
        if config.policy != before.policy {
            inner.since_reset = 0;
            inner.calls = Calls::default();
        } else if config.reject_first != before.reject_first {
            inner.calls = Calls::default();
        }
        self.counts_calls.store(config.counts_calls(), Ordering::Release);
        let now = self.clock.now();
        inner.server.handle(now, Input::Configure(Box::new(config)));
        self.wanted.set(inner.server.wants());
        // A new policy may have rejected waiting requests. Their answers are passed on now, because there may be no later event that would
        // pass them on.
        self.drain(&mut inner, now, None);
        inner.answers = answers;
        Ok(())
    }

    pub(crate) fn config(&self) -> Config {
        self.lock().server.config().clone()
    }

    /// Returns the number of configuration changes so far. If a later change has undone a change, this number still reveals that there were
    /// changes.
    pub(crate) fn changes(&self) -> u64 {
        self.lock().changes
    }

    pub(crate) fn reset(&self) {
        let mut inner = self.lock();
        inner.since_reset = 0;
        inner.calls = Calls::default();
        self.preflights.store(0, Ordering::Relaxed);
        inner.server.handle(self.clock.now(), Input::Reset);
    }

    pub(crate) fn counts_calls(&self) -> bool {
        self.counts_calls.load(Ordering::Acquire)
    }

    pub(crate) fn stats(&self, run: Option<RunId>) -> ServerStats {
        let now = self.clock.now();
        let stats = self.lock().server.stats(now, run);
        let preflights = self.cors.then(|| self.preflights.load(Ordering::Relaxed));
        ServerStats { uptime_s: now.as_secs_f64(), instance: self.instance, preflights, ..stats }
    }

    pub(crate) fn take_log(&self) -> Option<ServerLog> {
        let mut inner = self.lock();
        let now = self.clock.now();
        self.drain(&mut inner, now, None);
        inner.server.take_log(now)
    }

    pub(crate) fn metrics(&self) -> Metrics {
        let now = self.clock.now();
        let mut inner = self.lock();
        let stats = inner.server.stats(now, None);
        Metrics {
            lifetime: inner.server.lifetime(now),
            stats: ServerStats { uptime_s: now.as_secs_f64(), ..stats },
            evicted_keys: inner.server.evicted_keys(),
            capacity: inner.server.capacity(now),
            answer_times: inner.answer_times,
            time_scale: self.clock.scale,
        }
    }

    /// Returns the name and the status of each limit. The status is the one for the client of the latest request.
    pub(crate) fn limits(&self) -> Vec<(String, LimitStatus)> {
        let now = self.clock.now();
        self.lock().server.limits(now)
    }

    pub(crate) fn advises(&self) -> bool {
        self.lock().server.advises()
    }

    pub(crate) fn free(&self) -> u64 {
        let mut inner = self.lock();
        let now = self.clock.now();
        // All events that are due are processed first, because they may free capacity.
        self.drain(&mut inner, now, None);
        inner.server.free(now)
    }

    pub(crate) fn close(&self) {
        let mut inner = self.lock();
        inner.closed = true;
        for (_, waiting) in &mut inner.waiting {
            waiting.answer = None;
        }
        self.earlier.notify_one();
    }

    /// Cancels a request whose client has disconnected, unless the request has just been answered. After an answer, the request's id may
    /// already belong to another request. Whether there is an answer is checked under the lock. The check is reliable, because answers are
    /// passed on only under this lock.
    fn cancel(&self, ticket: &mut Ticket<'_>) {
        let mut inner = self.lock();
        if ticket.answer.try_recv().is_ok() {
            return;
        }
        inner.waiting.try_remove(ticket.id.0 as usize);
        inner.server.handle(self.clock.now(), Input::Cancel(ticket.id));
    }
}

impl Inner {
    /// Passes every answer that is due to the task that waits for it. Returns the answer to the request `own`, and the next deadline if
    /// there is one. Does not set the timer.
    fn send_due(&mut self, now: Instant, own: Option<RequestId>) -> (Option<Admitted>, Option<Instant>) {
        let mut own_answer = None;
        loop {
            match self.server.poll(now) {
                Output::Answer(answer) => {
                    let Some(waiting) = self.waiting.try_remove(answer.id.0 as usize) else { continue };
                    let (id, verdict) = (answer.id, answer.verdict);
                    // A client whose answer was spoiled sends the request again, so its call continues.
                    if let Some(call) = waiting.call.filter(|_| answer.advertises_service()) {
                        self.calls.on_service(call);
                    }
                    let (config, answers) = (self.server.config(), self.answers.as_ref());
                    let decided = Admitted::new(answer, waiting.since, config, answers);
                    self.answer_times.observe(verdict, decided.took);
                    if own == Some(id) {
                        own_answer = Some(decided);
                    } else if let Some(sender) = waiting.answer {
                        // A send error means that the task has dropped its receiver. It is ignored, because such a task cancels the request
                        // itself, or already has the answer.
                        let _ = sender.send(decided);
                    }
                }
                Output::WaitUntil(at) => return (own_answer, Some(at)),
                Output::Idle => return (own_answer, None),
            }
        }
    }

    fn attempt_of_call(&mut self, call: CallKey) -> Option<CallAttempt> {
        if !self.server.config().counts_calls() {
            return None;
        }
        let unnumbered = &mut self.unnumbered;
        Some(self.calls.on_request(call, || next(unnumbered)))
    }

    fn request(&mut self, id: RequestId, mut identity: Identity, call: Option<CallAttempt>) -> Request {
        let config = self.server.config();
        let mut seed = identity.seed.unwrap_or(config.seed);
        if let Some(call) = call {
            identity.attempt = Some(call.number);
        }
        if identity.op.is_none() && config.policy.script().is_some() {
            self.since_reset = self.since_reset.saturating_add(1);
            identity.op = Some(0);
            match call {
                // All calls use the script of op 0. Draws are keyed by the op, so the calls need different seeds.
                Some(call) if config.policy.counts_calls() => seed = seed.wrapping_add(call.op),
                // `reject_first` rejects the first attempts of each call, but the script counts all requests.
                Some(call) if call.number <= config.reject_first => {}
                Some(_) => identity.attempt = Some(self.since_reset),
                None => identity.attempt = identity.attempt.or(Some(self.since_reset)),
            }
        }
        let op = identity.op.or(call.map(|call| call.op));
        let op = op.unwrap_or_else(|| next(&mut self.unnumbered));
        Request {
            id,
            run: identity.run,
            seed,
            op,
            attempt: identity.attempt.unwrap_or(1),
            step: identity.step,
        }
    }
}

fn next(number: &mut u64) -> u64 {
    *number += 1;
    *number - 1
}

/// Ticket of a request in flight. Dropping the ticket before the answer is received reports that the client has disconnected.
struct Ticket<'a> {
    shared: &'a Shared,
    id: RequestId,
    answer: oneshot::Receiver<Admitted>,
}

impl Ticket<'_> {
    /// Waits for the answer. Returns `None` only if the server is shutting down.
    async fn wait(mut self) -> Option<Admitted> {
        (&mut self.answer).await.ok()
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        // Fast path: usually the answer has been received, and then the lock is not needed.
        if !self.answer.is_terminated() {
            self.shared.cancel(self);
        }
    }
}
