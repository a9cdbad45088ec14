//! Client state machine of a whole run: arrivals, clients with their strategies, attempts, measurements.
//!
//! Both drivers use it in the same way. They drain [`Run::poll_output`] until it returns when to call again, wait for
//! that instant or an answer, pass exactly that to [`Run::handle_input`], and drain again. Every event is processed at
//! its own scheduled instant, however late the driver calls, and its consequences are *due* at that instant. So
//! lateness of the driver shows as send lag and as latency, and never changes a decision.

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

/// Maximum number of timers that fire in one poll, because many simultaneous arrivals must not keep a driver from its
/// other duties.
const TIMERS_AT_ONCE: u32 = 1024;

impl Run {
    /// Processes an input of instant `now`, which may be before events already processed, because answers may arrive
    /// out of order.
    #[inline]
    pub fn handle_input(&mut self, now: Instant, input: Input) {
        self.hear(now, &input);
    }

    /// Variant of [`handle_input`](Self::handle_input) for an input that the driver uses again. It saves a copy of a
    /// large value per attempt.
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

    /// Returns the next output. Call it until it returns [`Output::WaitUntil`], [`Output::Idle`] or [`Output::Done`].
    ///
    /// After many timers without an output it returns an instant that is not after `now`. Then the driver calls again
    /// at once, after it has checked for other work.
    #[inline]
    pub fn poll_output(&mut self, now: Instant) -> Output {
        if !self.outbox.is_empty()
            && let Some(output) = self.take_output()
        {
            return output;
        }
        // Fast path: after most answers nothing else is due, which is known from the last poll.
        let quiet_until = self.agenda.quiet_until();
        if quiet_until > now && self.goes_on() {
            return Output::WaitUntil(quiet_until);
        }
        self.next_output(now)
    }

    #[inline]
    fn take_output(&mut self) -> Option<Output> {
        // Log before removal, because a reference to the returned value would make the compiler copy it, even without a
        // log.
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
            // Fast path: usually this instant was computed before the input, and the input scheduled nothing sooner.
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

    /// Compares attempts with what the server is known to admit, from now on. `None` ends the comparison.
    pub fn follow_law(&mut self, law: Option<RateLaw>) {
        // Not for conditional writes, because the law charges their reads, too.
        let law = law.filter(|_| self.config.kind == OperationKind::Request);
        self.measured.follow(law, self.config.undisturbed_attempt);
    }

    pub fn record_samples(&mut self, sink: SampleSink) {
        self.samples = Some(sink);
    }

    /// Records all inputs and decisions from now on. Meant for comparisons of drivers, not for long runs.
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
    fn goes_on(&self) -> bool {
        !self.stopping && self.measured.ops.unfinished() > 0 && self.stalled().is_none()
    }

    /// Fires every timer that is due before `now`, each at its own instant and in order. Timers due at `now` come after
    /// the input, so an answer at the instant of its timeout is an answer.
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
