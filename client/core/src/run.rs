//! The client state machine of a whole run: arrivals, clients with their strategies, attempts, measurements.
//!
//! Both drivers use it the same way: drain [`Run::poll_output`] until it says when to come back, wait for that
//! instant or an answer, feed exactly that with [`Run::handle_input`], and drain again. Every event is processed
//! at its own scheduled instant, however late the driver calls, and what it leads to is *due* at that instant: so
//! lateness of the driver shows as send lag and as latency, and never changes what is decided.

mod advised;
mod agenda;
mod arriving;
mod attempt;
mod counting;
mod drawn;
mod ending;
mod exchange;
mod hedging;
mod in_flight;
mod instance;
mod launching;
mod log;
mod report;
mod rounds;
mod state;
mod timers;

use vocabulary::Instant;

use crate::measure::{Measurements, RateLaw};
use crate::sample::SampleSink;
use crate::workload::OperationKind;
pub use exchange::{AttemptKey, Completion, Input, Launched, Output, ServerSeen, ServerVerdict};
pub use log::{Refusal, RunLog};
pub use state::Run;

/// Timers that fire in one poll: many ops that arrive at once must not keep a driver from its other duties.
const TIMERS_AT_ONCE: u32 = 1024;

impl Run {
    /// What happened at `now`; `now` may be earlier than what is already processed, when answers come out of order.
    #[inline]
    pub fn handle_input(&mut self, now: Instant, input: Input) {
        self.hear(now, &input);
    }

    /// The same of an input that the driver uses again: it is large, and this is once per attempt.
    #[inline]
    pub fn hear(&mut self, now: Instant, input: &Input) {
        if let Some(log) = &mut self.log {
            log.on_input(now, input);
        }
        self.advance(now);
        match input {
            Input::Ended(completion) => self.on_ended(now, completion),
            Input::Started(attempt) => self.on_started(*attempt),
            Input::Stop => self.stop(),
            Input::Abort => self.abort(now),
        }
        self.note_waiting(now);
    }

    /// What is to be done now; call again until it answers with [`Output::WaitUntil`], [`Output::Idle`] or
    /// [`Output::Done`].
    ///
    /// After many timers without anything to do it answers with an instant that is not after `now`: come back at once,
    /// after a look at whatever else there is to do.
    #[inline]
    pub fn poll_output(&mut self, now: Instant) -> Output {
        if !self.outbox.is_empty()
            && let Some(output) = self.take_output()
        {
            return output;
        }
        // After most answers there is nothing else to do, which is known from before.
        let quiet_until = self.agenda.quiet_until();
        if quiet_until > now && self.goes_on() {
            return Output::WaitUntil(quiet_until);
        }
        self.next_output(now)
    }

    #[inline]
    fn take_output(&mut self) -> Option<Output> {
        // Before it is taken out: a reference to what is returned would have all of it copied, log or none.
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
            // Mostly it was reckoned before the input, which made nothing due that is sooner.
            let quiet_until = self.agenda.quiet_until();
            if self.goes_on() {
                if quiet_until > now {
                    return Output::WaitUntil(quiet_until);
                }
                if let Some(due) = self.agenda.take_foreseen() {
                    self.on_timer(quiet_until, due);
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

    /// Holds attempts against what the server is known to let pass, from now on; not at all, without a law.
    pub fn follow_law(&mut self, law: Option<RateLaw>) {
        // A conditional write is a read, too, for which the law is asked as well.
        let law = law.filter(|_| self.config.kind == OperationKind::Request);
        self.measured.follow(law, self.config.undisturbed_attempt);
    }

    /// Gives every attempt to `sink` as it ends, from now on.
    pub fn record_samples(&mut self, sink: SampleSink) {
        self.samples = Some(sink);
    }

    /// Keeps what it is told and what it decides from now on, all of it: for comparisons of drivers, not for long runs.
    pub fn record_log(&mut self) {
        self.log = Some(Box::default());
    }

    /// What was recorded, if anything was; nothing is recorded any more.
    pub fn take_log(&mut self) -> Option<RunLog> {
        self.log.take().map(|log| *log)
    }

    /// What has been measured so far.
    pub fn measurements(&self) -> &Measurements {
        &self.measured
    }

    /// Whether it waits for what is in the agenda and nothing else: ops are unfinished, and nobody has called it off.
    #[inline]
    fn goes_on(&self) -> bool {
        !self.stopping && self.measured.ops.unfinished() > 0 && self.stalled().is_none()
    }

    /// Fires every timer that is due before `now`, each at its own instant and in order. What is due at `now` itself
    /// comes after the input: an answer that comes in the instant of a timeout is an answer.
    fn advance(&mut self, now: Instant) {
        if now <= self.agenda.quiet_until() {
            return;
        }
        while let Some((at, due)) = self.next_due().filter(|(at, _)| *at < now)
            && !self.is_over()
        {
            self.on_timer(at, due);
        }
    }
}

#[cfg(test)]
mod tests;
