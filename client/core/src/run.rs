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
mod counting;
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

#[cfg(test)]
mod tests;

use vocabulary::Instant;

use crate::measure::{Measurements, RateLaw};
use crate::sample::SampleSink;
use crate::workload::OperationKind;

pub use advised::AdvisedWait;
pub use exchange::{AttemptKey, Completion, Input, Output, SentAttempt, ServerSeen, ServerVerdict};
pub use log::{Refusal, RunLog};
pub use state::Run;

/// Maximum number of timers that fire in one poll. This limit lets the driver do its other work even when very many ops
/// arrive at once.
const TIMERS_AT_ONCE: u32 = 1024;

impl Run {
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
            Input::Stop => self.stop(),
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
        let next_deadline = self.agenda.next_deadline();
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
            let next_deadline = self.agenda.next_deadline();
            if self.continues() {
                if next_deadline > now {
                    return Output::WaitUntil(next_deadline);
                }
                if let Some(due) = self.agenda.take_foreseen() {
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
        if now <= self.agenda.next_deadline() {
            return;
        }
        while let Some((at, due)) = self.next_due().filter(|(at, _)| *at < now)
            && !self.is_over()
        {
            self.on_timer(at, due);
        }
    }
}
