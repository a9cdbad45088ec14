//! The client state machine of a whole run: arrivals, clients with their strategies, attempts, measurements.
//!
//! Both drivers use it the same way: drain [`Run::poll_output`] until it says when to come back, wait for that
//! instant or an answer, feed exactly that with [`Run::handle_input`], and drain again. Every event is processed
//! at its own scheduled instant, however late the driver calls, and what it leads to is *due* at that instant: so
//! lateness of the driver shows as send lag and as latency, and never changes what is decided.

mod ending;
mod launching;
mod log;
mod report;
mod state;
mod timers;

use std::time::Duration;

use vocabulary::Instant;

use crate::cause::Cause;
use crate::measure::Measurements;
use crate::sample::SampleSink;
pub use log::RunLog;
pub use state::Run;
use tailback::Outcome;

/// Timers that fire in one poll: many ops that arrive at once must not keep a driver from its other duties.
const TIMERS_AT_ONCE: u32 = 1024;

/// Names an attempt between [`Output::Send`] and [`Input::Ended`]. `slot` is small and dense: drivers may index
/// by it; it is used again once the attempt has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptKey {
    /// Index, used again.
    pub slot: u32,
    /// Number within the run; used again only when the attempt, the latest, ended [deferred] and so was none.
    ///
    /// [deferred]: tailback::Status::Deferred
    pub serial: u64,
}

/// What a driver tells the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// An attempt that was to start only if enough was free has started: from now on it counts. A driver that does not
    /// hear of it leaves it out; then the attempt counts once it has ended otherwise than [deferred].
    ///
    /// [deferred]: tailback::Status::Deferred
    Started(AttemptKey),
    /// An attempt ended.
    Ended(Completion),
    /// Send nothing more; wait for what is in flight.
    Stop,
    /// Withdraw what is in flight, too, and end.
    Abort,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Which one.
    pub attempt: AttemptKey,
    /// When the request really went out; in virtual time, when it was due.
    pub sent_at: Instant,
    /// How it ended, and the server's advice.
    pub outcome: Outcome,
    /// What the answer told of the server.
    pub server: Option<ServerSeen>,
    /// What it came to on the wire, where that is known.
    pub cause: Option<Cause>,
    /// Whether the answer came from somebody between the client and the server that was recognised.
    pub by_gateway: bool,
}

/// What an answer tells of a mockserver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerSeen {
    /// Slots busy.
    pub busy: u32,
    /// Its cap.
    pub cap: u32,
    /// How long the attempt had to take, as the server reckons; `None` when it does not tell, as in virtual time, where
    /// nothing else can be.
    pub took: Option<Duration>,
}

/// What a driver is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this attempt now.
    Send(Launched),
    /// Withdraw this attempt; nothing more is expected of it.
    Cancel(AttemptKey),
    /// Come back at this instant, or with an input before.
    WaitUntil(Instant),
    /// Come back with an input.
    Idle,
    /// The run is over.
    Done,
}

/// An attempt to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launched {
    /// Its key, to be given back.
    pub attempt: AttemptKey,
    /// Which client it belongs to, from 0.
    pub client: u32,
    /// The op's number, from 0.
    pub op: u64,
    /// Which attempt of the op, from 1.
    pub ordinal: u32,
    /// When it should have been sent: the driver's lag is counted from here.
    pub due: Instant,
    /// Unless so much is free at the server when it looks, it does not start the attempt, which then ends deferred. 0 starts
    /// anyway; so does a server that cannot be asked.
    pub least_free: u32,
}

impl Run {
    /// What happened at `now`; `now` may be earlier than what is already processed, when answers come out of order.
    pub fn handle_input(&mut self, now: Instant, input: Input) {
        if let Some(log) = &mut self.log {
            log.inputs.push((now, input));
        }
        self.advance(now);
        match input {
            Input::Ended(completion) => self.on_ended(now, &completion),
            Input::Started(attempt) => self.on_started(attempt),
            Input::Stop => self.stop(),
            Input::Abort => self.abort(now),
        }
    }

    /// What is to be done now; call again until it answers with [`Output::WaitUntil`], [`Output::Idle`] or
    /// [`Output::Done`].
    ///
    /// After many timers without anything to do it answers with an instant that is not after `now`: come back at once,
    /// after a look at whatever else there is to do.
    pub fn poll_output(&mut self, now: Instant) -> Output {
        for _ in 0..TIMERS_AT_ONCE {
            if let Some(output) = self.outbox.pop_front() {
                if let Some(log) = &mut self.log {
                    log.outputs.push(output);
                }
                return output;
            }
            if self.is_over() {
                return Output::Done;
            }
            match self.next_due() {
                Some((at, due)) if at <= now => self.on_timer(at, due),
                Some((at, _)) => {
                    self.quiet_until = at;
                    return Output::WaitUntil(at);
                }
                None => return Output::Idle,
            }
        }
        Output::WaitUntil(now)
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

    /// Fires every timer that is due before `now`, each at its own instant and in order. What is due at `now` itself
    /// comes after the input: an answer that comes in the instant of a timeout is an answer.
    fn advance(&mut self, now: Instant) {
        if now <= self.quiet_until {
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
