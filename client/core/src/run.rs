//! Client state machine of a whole run: arrivals, clients with their strategies, attempts, measurements.
//!
//! The real-time driver and the virtual-time driver use the state machine in the same way. They call
//! [`Run::poll_output`] until it returns the instant of the next call. Then they wait until that instant or until an
//! answer arrives. They pass an answer to [`Run::handle_input`], and call [`Run::poll_output`] again.
//!
//! Every event is processed at its own scheduled instant, however late the driver calls. The consequences of an event
//! are *due* at that instant. So a late driver causes send lag and latency, but never changes a decision.

mod advised;
mod clocks;
mod drawn;
mod exchange;
mod harness;
mod log;
mod report;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use tailback::{Dispatcher, ResponseParser, Settings, Strategy};
use vocabulary::Instant;

use crate::lower_bound::LeastCosts;
use crate::measure::{Measurements, RateLaw};
use crate::rejected_when::RejectedWhen;
use crate::requests::Requests;
use crate::workload::RunConfig;

pub use advised::AdvisedWait;
pub use exchange::{AttemptResult, Completion, Input, Output, SentAttempt, ServerSeen, ServerVerdict};
pub use log::{Refusal, RunLog, Sample, SampleSink};
pub use tailback::AttemptKey;

use clocks::Event;
use harness::{Harness, RetryOutlook, Sending};

/// Maximum number of timers that fire in one poll. This limit lets the driver do its other work even when very many ops
/// arrive at once.
const TIMERS_AT_ONCE: u32 = 1024;

pub struct Run {
    dispatcher: Dispatcher<Harness>,
    host: Harness,
    stalled_at: Option<Instant>,
}

impl Run {
    /// Creates a run. `strategy` is called once per strategy instance, with the number of its client. `costs` are the
    /// minimum costs of a successful op at the server. If they are given, the run may report a [lower
    /// bound](crate::LowerBound) on the makespan.
    ///
    /// # Errors
    /// Returns the error of `strategy`.
    pub fn new<E>(
        config: RunConfig,
        strategy: impl FnMut(u32) -> Result<Strategy, E>,
        costs: Option<Arc<dyn LeastCosts>>,
    ) -> Result<Self, E> {
        let count = if config.share_strategy { 1 } else { config.clients.max(1) };
        let strategies = (0..count).map(strategy).collect::<Result<Vec<_>, E>>()?;
        let settings = Settings { timeout: config.timeout, ..Settings::default() };
        let mut host = Harness::new(config, strategies.len(), costs);
        for (client, strategy) in (0..).zip(&strategies) {
            tailback::Host::on_gauges(&mut host, Instant::ORIGIN, client, strategy);
        }
        Ok(Self { dispatcher: Dispatcher::new(strategies, settings), host, stalled_at: None })
    }

    /// Returns the parser for the parts of answers that the strategies use. All strategy instances use the same parser.
    pub fn reading(&self) -> Arc<ResponseParser> {
        self.dispatcher.reading().clone()
    }

    /// Returns whether an attempt has neither ended nor been taken back.
    pub fn is_in_flight(&self, attempt: AttemptKey) -> bool {
        self.dispatcher.attempt(attempt).is_some()
    }

    pub fn rejected_when(&self) -> &RejectedWhen {
        &self.host.config.rejected_when
    }

    pub fn requests(&self) -> &Requests {
        &self.host.config.requests
    }

    fn in_flight(&self) -> u64 {
        self.dispatcher.in_flight() as u64
    }

    fn is_over(&self) -> bool {
        if self.dispatcher.is_stopping() {
            return self.dispatcher.in_flight() == 0;
        }
        self.host.measured.ops.unfinished() == 0 && self.host.clocks.arriving.next().is_none()
    }

    /// Processes an input that occurred at `now`. This instant may be earlier than an event that was already processed,
    /// because answers may arrive out of order.
    pub fn handle_input(&mut self, now: Instant, input: Input) {
        if let Some(log) = &mut self.host.log {
            log.on_input(now, &input);
        }
        self.advance(now);
        match input {
            Input::AttemptEnd(Completion { attempt, sent_at, result }) => {
                self.end_attempt(now, attempt, Some(sent_at), &result);
            }
            Input::Started(attempt) => self.dispatcher.started(&mut self.host, attempt),
            Input::Waiting(attempt) => self.on_waiting(attempt),
            Input::Connected(attempt) => self.on_connected(now, attempt),
            // Outputs that are already queued are still returned to the driver, because strategies and counts already
            // include them.
            Input::Stop => self.dispatcher.stop(),
            Input::Abort => self.dispatcher.abort(&mut self.host, now),
        }
        self.note_waiting(now);
    }

    /// Variant of [`handle_input`](Self::handle_input) for the end of an attempt. It borrows the result, which saves copying a large value
    /// for each attempt. `sent_at` is the instant at which the request was sent. `None` stands for the instant at which it was due, as
    /// always in virtual time.
    #[inline]
    pub fn on_attempt_end(
        &mut self,
        now: Instant,
        key: AttemptKey,
        sent_at: Option<Instant>,
        result: &AttemptResult,
    ) {
        if let Some(log) = &mut self.host.log {
            let due = self.dispatcher.attempt(key).map(|attempt| attempt.due);
            let sent_at = sent_at.or(due).unwrap_or_default();
            log.on_input(now, &Input::AttemptEnd(Completion { attempt: key, sent_at, result: *result }));
        }
        self.advance(now);
        self.end_attempt(now, key, sent_at, result);
        self.note_waiting(now);
    }

    /// Processes the end of an attempt. Does nothing if the attempt has already been removed because it timed out or
    /// was withdrawn.
    #[inline]
    fn end_attempt(
        &mut self,
        now: Instant,
        key: AttemptKey,
        sent_at: Option<Instant>,
        result: &AttemptResult,
    ) {
        let Self { dispatcher, host, .. } = self;
        let Some(attempt) = dispatcher.attempt(key) else { return };
        let Some(op) = dispatcher.op(attempt.op_slot()) else { return };
        let sent_at = sent_at.unwrap_or(attempt.due);
        let answered = host.on_answer(now, attempt, op.id, sent_at, result);
        dispatcher.ended(host, now, key, sent_at, &result.outcome, &answered);
    }

    /// Returns the client to which an op belongs.
    pub fn client_of(&self, op: u64) -> u32 {
        self.host.client_of(u32::try_from(op).unwrap_or_default())
    }

    /// Removes an attempt that waits for a connection from the counts. It is counted again once it is sent.
    fn on_waiting(&mut self, key: AttemptKey) {
        let Self { dispatcher, host, .. } = self;
        let Some(attempt) = dispatcher.attempt(key).copied().filter(|it| !it.data.waits) else { return };
        if let Some(data) = dispatcher.attempt_data(key) {
            data.waits = true;
        }
        host.waiting += 1;
        // An undecided attempt is not counted yet.
        if let Some(op) = dispatcher.op(attempt.op_slot()).filter(|_| !attempt.is_undecided()) {
            host.measured.early_shared -= u64::from(attempt.data.is_early);
            host.measured.attempts.after_final -= u64::from(op.data == RetryOutlook::Refused);
            host.measured.attempts.total -= 1;
            host.measured.series.at(attempt.due).sent -= 1;
        }
    }

    /// Counts an attempt that got a connection, unless its strategy holds all attempts at present: then it is taken back unsent.
    fn on_connected(&mut self, at: Instant, key: AttemptKey) {
        let Self { dispatcher, host, .. } = self;
        let Some(attempt) = dispatcher.attempt(key).copied().filter(|it| it.data.waits) else { return };
        if dispatcher.holds(key, at) {
            return dispatcher.unsend(host, at, key);
        }
        let Some(op) = dispatcher.op(attempt.op_slot()).copied() else { return };
        let is_early = host.is_early(op.id, at);
        if let Some(data) = dispatcher.attempt_data(key) {
            *data = Sending { waits: false, is_early };
        }
        host.waiting -= 1;
        if !attempt.is_undecided() {
            host.measured.early_shared += u64::from(is_early);
            host.measured.attempts.after_final += u64::from(op.data == RetryOutlook::Refused);
            host.measured.attempts.total += 1;
            host.measured.series.at(at).sent += 1;
        }
    }

    /// Returns the next output of the run. The driver calls this function until it returns [`Output::WaitUntil`],
    /// [`Output::Idle`] or [`Output::Done`].
    ///
    /// If many timers fire without an output, the result is `WaitUntil` with an instant that is not after `now`. The
    /// driver then checks for other work and calls again at once.
    pub fn poll_output(&mut self, now: Instant) -> Output {
        for _ in 0..TIMERS_AT_ONCE {
            if let Some(output) = self.take_output() {
                return output;
            }
            let next = if self.continues() {
                // Fast path: after most answers no event is due at once, which is known without a search for the next event.
                let quiet_until = self.quiet_until();
                if quiet_until > now {
                    return Output::WaitUntil(quiet_until);
                }
                self.next_scheduled()
            } else if self.is_over() {
                self.host.measured.settle();
                return Output::Done;
            } else {
                self.next_event()
            };
            match next {
                Some((at, event)) if at <= now => self.on_event(at, event),
                Some((at, _)) => return Output::WaitUntil(at),
                None => return Output::Idle,
            }
        }
        Output::WaitUntil(now)
    }

    #[inline]
    fn take_output(&mut self) -> Option<Output> {
        let output = match self.dispatcher.take_output()? {
            tailback::Output::Send(launch) => Output::Send(SentAttempt {
                attempt: launch.attempt,
                client: self.host.client_of(launch.op.op),
                op: launch.op.op.into(),
                ordinal: launch.ordinal,
                due: launch.due,
                min_free: launch.min_free,
            }),
            tailback::Output::Cancel(key) => Output::Cancel(key),
        };
        if let Some(log) = &mut self.host.log {
            log.on_output(&output);
        }
        Some(output)
    }

    #[inline]
    fn quiet_until(&self) -> Instant {
        self.host.clocks.quiet_until.min(self.dispatcher.quiet_until())
    }

    /// Sets the rate limit that the server is known to have. From now on, attempts are compared with this rate limit.
    /// `None` ends the comparison.
    pub fn follow_law(&mut self, law: Option<RateLaw>) {
        self.host.follow_law(law);
    }

    pub fn record_samples(&mut self, sink: SampleSink) {
        self.host.samples = Some(sink);
    }

    /// Records all inputs and decisions from now on. The log grows without bound, so it is meant for comparisons of
    /// drivers, not for long runs.
    pub fn record_log(&mut self) {
        self.host.log = Some(Box::default());
    }

    pub fn take_log(&mut self) -> Option<RunLog> {
        self.host.log.take().map(|log| *log)
    }

    pub fn measurements(&self) -> &Measurements {
        &self.host.measured
    }

    #[inline]
    fn continues(&self) -> bool {
        let unfinished = self.host.measured.ops.unfinished();
        !self.dispatcher.is_stopping() && unfinished > 0 && self.host.stalled().is_none()
    }

    /// Processes every event that is due before `now`, in order and each at its own instant. An event that is due exactly at
    /// `now` is processed only after the input that arrived at `now`. So an answer that arrives at the instant of its timeout
    /// counts as an answer.
    fn advance(&mut self, now: Instant) {
        if now <= self.quiet_until() {
            return;
        }
        while let Some((at, event)) = self.next_event().filter(|(at, _)| *at < now)
            && !self.is_over()
        {
            self.on_event(at, event);
        }
    }

    fn next_event(&mut self) -> Option<(Instant, Event)> {
        if self.dispatcher.is_stopping() {
            return self.dispatcher.next_due().map(|(at, due)| (at, Event::Dispatch(due)));
        }
        if let Some(at) = self.host.stalled() {
            return Some((at, Event::Stall));
        }
        self.next_scheduled()
    }

    #[inline]
    fn next_scheduled(&mut self) -> Option<(Instant, Event)> {
        let Self { dispatcher, host, .. } = self;
        let Harness { clocks, stall, measured, .. } = host;
        // Fast path: an arrival is next, which is known without a search for the next event of the dispatcher.
        if let Some(at) = clocks.next_arrival(dispatcher.quiet_until()) {
            return Some((at, Event::Arrival));
        }
        let dispatched = dispatcher.next_due();
        // Fast path: an event of the dispatcher is next.
        if let Some((at, due)) = dispatched.filter(|(at, _)| *at < clocks.quiet_until) {
            return Some((at, Event::Dispatch(due)));
        }
        clocks.next(dispatched, || (measured.ops.unfinished() > 0).then(|| stall.stalls_at()))
    }

    fn on_event(&mut self, at: Instant, event: Event) {
        match event {
            Event::Arrival => self.arrive(at),
            Event::Dispatch(due) => {
                self.dispatcher.fire(&mut self.host, at, (at, due));
            }
            Event::DrainOver => self.dispatcher.abort(&mut self.host, at),
            Event::Stall => {
                self.stalled_at = Some(at);
                self.dispatcher.abort(&mut self.host, at);
            }
        }
        self.note_waiting(at);
    }

    fn arrive(&mut self, at: Instant) {
        let Self { dispatcher, host, .. } = self;
        let op = host.on_arrival(at);
        match host.config.deadline {
            None => dispatcher.arrive_unstored(host, at, op),
            Some(deadline) => {
                let arrived = dispatcher.arrive(host, at, op, Some(at + deadline), RetryOutlook::Open);
                arrived.expect("the number of waiting ops is not limited");
            }
        }
    }

    /// Records whether every unfinished op waits as the server advised, by its own advice or because its strategy holds
    /// all attempts. As long as every op does, the run does not count as stalled.
    #[inline]
    fn note_waiting(&mut self, at: Instant) {
        let Self { dispatcher, host, .. } = self;
        // Fast path: most servers give no advice.
        if !host.asked_to_wait.is_empty() {
            let obeys = host.advised.obeying == host.measured.ops.unfinished()
                || dispatcher.strategies().all(|strategy| strategy.holds_all(at));
            if host.stall.on_waiting(obeys, at) {
                host.clocks.rare_at(host.stall.stalls_at());
            }
        }
    }
}

/// Returns the client, out of `count` clients, to which op number `op` belongs. Clients are numbered from 0, and ops are
/// assigned to them in turn. Fast path: skips the division if there is one client, the usual case. A division takes
/// longer than the comparison of `count` with 1.
#[inline]
fn share_of(op: u32, count: u32) -> u32 {
    if count > 1 { op % count } else { 0 }
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("ops", &self.host.measured.ops)
            .field("attempts", &self.host.measured.attempts)
            .field("in_flight", &self.dispatcher.in_flight())
            .finish_non_exhaustive()
    }
}
