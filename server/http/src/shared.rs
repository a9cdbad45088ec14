//! The state machine behind a lock, and who waits for which answer.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mockserver_core::{
    Answer, AnswerSet, Config, ConfigError, Counted, Details, Fault, Input, Output, Patch, PatchError, Reply,
    Request, RequestId, Script, Server, ServerLog, Standing, Verdict,
};
use slab::Slab;
use tokio::sync::{Notify, oneshot};
use vocabulary::wire::{RunId, ServerStats};
use vocabulary::{Instant, TimeScale};

use crate::answer_times::AnswerTimes;
use crate::barrier::Barriers;
use crate::clock::Clock;
use crate::identity::Identity;
use crate::metrics::Metrics;
use crate::stopping::Stopping;
use crate::wanted::Wanted;

/// What every connection, the admin endpoints and the alarm share.
pub(crate) struct Shared {
    inner: Mutex<Inner>,
    /// Wakes the alarm when it has to ring earlier than it is set to.
    pub(crate) earlier: Notify,
    pub(crate) clock: Clock,
    /// What of requests is to be handed in with them.
    pub(crate) wanted: Wanted,
    /// Differs from every other start of a mockserver.
    pub(crate) instance: u64,
    /// Where shards of runs wait for one another.
    pub(crate) barriers: Barriers,
    /// What every connection of HTTP/2 is held to, to be told.
    pub(crate) http2_max_streams: u32,
    pub(crate) stopping: Arc<Stopping>,
}

/// What is behind the lock.
pub(crate) struct Inner {
    server: Server,
    /// What answers say, if not the server's own words.
    answers: Option<Arc<AnswerSet>>,
    /// By request id: who waits.
    waiting: Slab<Waiting>,
    answer_times: AnswerTimes,
    /// Requests that brought no number of their own so far.
    unnumbered: u64,
    /// The same since the last reset: to a script they are the attempts of one op.
    since_reset: u32,
    /// When the alarm rings.
    alarm_at: Option<Instant>,
    /// Changes of the configuration so far.
    changes: u64,
    closed: bool,
}

/// Who waits for an answer.
struct Waiting {
    since: Instant,
    /// Empty only while the request is being handed in, and when nobody gets an answer any more.
    answer: Option<oneshot::Sender<Decided>>,
}

/// An answer with what the configuration says about answers just then.
#[derive(Clone, Debug)]
pub(crate) struct Decided {
    pub(crate) answer: Answer,
    pub(crate) reject_status: u16,
    /// What the answer's step is one of.
    script: Option<Arc<Script>>,
    /// What its facts are put into words with.
    pub(crate) answers: Option<Arc<AnswerSet>>,
    /// Whether a rejection advises in `Retry-After`.
    pub(crate) tells_wait: bool,
    /// From the request's arrival to the instant at which the answer was due.
    pub(crate) took: Duration,
}

impl Decided {
    fn new(answer: Answer, since: Instant, config: &Config, answers: Option<&Arc<AnswerSet>>) -> Self {
        let took = answer.at.since(since);
        let answers = answers.filter(|_| answer.facts().is_some()).cloned();
        let tells_wait = config.retry_after.is_some();
        let script = answer.reply.and_then(|_| config.policy.script().cloned());
        Self { answer, reject_status: config.reject_status, script, answers, tells_wait, took }
    }

    /// Whether nothing was started for it, which only a run of loadgen asks for.
    pub(crate) fn is_deferred(&self) -> bool {
        let Answer { verdict, reply, .. } = &self.answer;
        let has_other_words = reply.is_some() || matches!(self.answer.fault(), Some(Fault::Status(_)));
        *verdict == Verdict::Deferred && !has_other_words
    }

    /// Whether it is put into words by templates or forms of advice.
    pub(crate) fn has_templates(&self) -> bool {
        self.answers.is_some() && self.answer.facts().is_some() && !self.is_deferred()
    }

    /// What is answered, where a script says so.
    pub(crate) fn reply(&self) -> Option<&Reply> {
        self.script.as_ref()?.reply(self.answer.reply?)
    }
}

impl Shared {
    pub(crate) fn new(config: Config, scale: TimeScale, http2_max_streams: u32) -> Self {
        // What cannot be said was refused before.
        let answers = config.answer_set().ok().flatten().map(Arc::new);
        let clock = Clock::start(scale);
        let server = Server::starting(config, clock.anchor);
        Self {
            wanted: Wanted::new(server.wants()),
            inner: Mutex::new(Inner {
                answers,
                server,
                waiting: Slab::new(),
                answer_times: AnswerTimes::default(),
                unnumbered: 0,
                since_reset: 0,
                alarm_at: None,
                changes: 0,
                closed: false,
            }),
            earlier: Notify::new(),
            clock,
            // JSON numbers are exact up to 2^53 only.
            instance: RandomState::new().hash_one(0) >> 11,
            barriers: Barriers::default(),
            http2_max_streams,
            stopping: Arc::default(),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        // Whoever panicked while it held the lock left the state machine between two inputs.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands in a request and waits for its answer. Dropping the future means that the client is gone.
    pub(crate) async fn serve(&self, identity: Identity, details: Option<Arc<Details>>) -> Option<Decided> {
        match self.hand_in(identity, details) {
            Ok(answer) => Some(answer),
            Err(ticket) => ticket.wait().await,
        }
    }

    /// Returns the answer, if there is one at once; else a ticket to wait with.
    fn hand_in(&self, identity: Identity, details: Option<Arc<Details>>) -> Result<Decided, Ticket<'_>> {
        let mut inner = self.lock();
        let now = self.clock.now();
        let index = inner.waiting.insert(Waiting { since: now, answer: None });
        let id = RequestId(u32::try_from(index).expect("fewer than 2^32 requests are under way"));
        let request = inner.request(id, identity);
        inner.server.handle(
            now,
            match (details, identity.least_free) {
                (Some(details), least) => Input::ArriveWith { request, details, least },
                (None, 0) => Input::Arrive(request),
                (None, least) => Input::ArriveIfFree { request, least },
            },
        );
        if let Some(answer) = self.drain(&mut inner, now, Some(id)) {
            return Ok(answer);
        }
        let (sender, answer) = oneshot::channel();
        inner.waiting[index].answer = Some(sender);
        Err(Ticket { shared: self, id, answer })
    }

    /// Sends every answer that is due to whoever waits for it, and returns the one for `own`, who does not wait yet.
    fn drain(&self, inner: &mut Inner, now: Instant, own: Option<RequestId>) -> Option<Decided> {
        let (own_answer, next) = inner.send_due(now, own);
        if let Some(at) = next
            && inner.alarm_at.is_none_or(|set| at < set)
        {
            inner.alarm_at = next;
            self.earlier.notify_one();
        }
        own_answer
    }

    /// The alarm rings: sends what is due, and says when to ring next; not at all when the server has closed.
    pub(crate) fn ring(&self) -> Option<Instant> {
        let mut inner = self.lock();
        if inner.closed {
            return None;
        }
        (_, inner.alarm_at) = inner.send_due(self.clock.now(), None);
        inner.alarm_at.or(Some(Instant::FAR_FUTURE))
    }

    /// Changes the configuration, all or nothing.
    pub(crate) fn patch(&self, patch: &Patch) -> Result<(), PatchError> {
        let mut inner = self.lock();
        let config = inner.server.config().patched(patch)?;
        let answers = config.answer_set().map_err(ConfigError::from)?.map(Arc::new);
        inner.changes += 1;
        if config.policy != inner.server.config().policy {
            inner.since_reset = 0;
        }
        let now = self.clock.now();
        inner.server.handle(now, Input::Configure(Box::new(config)));
        self.wanted.set(inner.server.wants());
        // Another policy turns away who waits: nobody else may come who would send them their answers.
        self.drain(&mut inner, now, None);
        inner.answers = answers;
        Ok(())
    }

    pub(crate) fn config(&self) -> Config {
        self.lock().server.config().clone()
    }

    /// Changes of the configuration so far: one that was taken back again shows in nothing else.
    pub(crate) fn changes(&self) -> u64 {
        self.lock().changes
    }

    pub(crate) fn reset(&self) {
        let mut inner = self.lock();
        inner.since_reset = 0;
        inner.server.handle(self.clock.now(), Input::Reset);
    }

    pub(crate) fn stats(&self, run: Option<RunId>) -> ServerStats {
        let now = self.clock.now();
        let stats = self.lock().server.stats(now, run);
        ServerStats { uptime_s: now.as_secs_f64(), instance: self.instance, ..stats }
    }

    /// Keeps what the state machine is told and what it answers, from now on.
    pub(crate) fn record_log(&self) {
        self.lock().server.record_log();
    }

    /// What was recorded until now, if anything was.
    pub(crate) fn take_log(&self) -> Option<ServerLog> {
        let mut inner = self.lock();
        let now = self.clock.now();
        self.drain(&mut inner, now, None);
        inner.server.take_log(now)
    }

    /// What there is to tell at `/metrics`.
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

    /// Returns the name of each limit and its state for the client that came last.
    pub(crate) fn limits(&self) -> Vec<(String, Standing)> {
        let now = self.clock.now();
        self.lock().server.limits(now)
    }

    /// True if answers may advise when to come back.
    pub(crate) fn advises(&self) -> bool {
        self.lock().server.advises()
    }

    /// What a carrier sense reads.
    pub(crate) fn free(&self) -> u64 {
        let mut inner = self.lock();
        let now = self.clock.now();
        // What is due by now is no longer busy.
        self.drain(&mut inner, now, None);
        inner.server.free(now)
    }

    /// Ends the alarm, and leaves everybody who waits without an answer.
    pub(crate) fn close(&self) {
        let mut inner = self.lock();
        inner.closed = true;
        for (_, waiting) in &mut inner.waiting {
            waiting.answer = None;
        }
        self.earlier.notify_one();
    }

    /// The client is gone. The answer may come at this very moment, and its id may belong to somebody else by then:
    /// answers are sent under the lock, so under the lock it is certain.
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
    /// Sends what is due, and says when the next one is, if one is to come; leaves the alarm as it is set.
    fn send_due(&mut self, now: Instant, own: Option<RequestId>) -> (Option<Decided>, Option<Instant>) {
        let mut own_answer = None;
        loop {
            match self.server.poll(now) {
                Output::Answer(answer) => {
                    let Some(waiting) = self.waiting.try_remove(answer.id.0 as usize) else { continue };
                    let (id, verdict) = (answer.id, answer.verdict);
                    let (config, answers) = (self.server.config(), self.answers.as_ref());
                    let decided = Decided::new(answer, waiting.since, config, answers);
                    self.answer_times.observe(verdict, decided.took);
                    if own == Some(id) {
                        own_answer = Some(decided);
                    } else if let Some(sender) = waiting.answer {
                        // Whoever dropped the receiver cancels by itself, or has its answer already.
                        let _ = sender.send(decided);
                    }
                }
                Output::WaitUntil(at) => return (own_answer, Some(at)),
                Output::Idle => return (own_answer, None),
            }
        }
    }

    fn request(&mut self, id: RequestId, mut identity: Identity) -> Request {
        if identity.op.is_none() && self.server.config().policy.script().is_some() {
            self.since_reset = self.since_reset.saturating_add(1);
            identity.op = Some(0);
            identity.attempt = identity.attempt.or(Some(self.since_reset));
        }
        let op = identity.op.unwrap_or_else(|| {
            self.unnumbered += 1;
            self.unnumbered - 1
        });
        Request {
            id,
            run: identity.run.map(|run| Counted { run, shard: identity.shard }),
            seed: identity.seed.unwrap_or(self.server.config().seed),
            op,
            attempt: identity.attempt.unwrap_or(1),
            step: identity.step,
        }
    }
}

/// A request under way. Dropped without an answer, it tells the server that the client is gone.
struct Ticket<'a> {
    shared: &'a Shared,
    id: RequestId,
    answer: oneshot::Receiver<Decided>,
}

impl Ticket<'_> {
    /// Waits for the answer; none comes only when the server shuts down.
    async fn wait(mut self) -> Option<Decided> {
        (&mut self.answer).await.ok()
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        // Already received: the usual end, which needs no lock.
        if !self.answer.is_terminated() {
            self.shared.cancel(self);
        }
    }
}
