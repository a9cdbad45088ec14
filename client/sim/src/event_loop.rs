//! Event loop of the virtual-time driver. It runs a client and its peer on one virtual clock. The peer is a simulated server, or a log that
//! replaces the server.

use loadgen_core::{AttemptKey, Input, Output, Run, SentAttempt};
use vocabulary::Instant;

/// Number of events between two calls of `steer`, a callback with which an observer follows or stops the run. The calls are frequent enough
/// to update a screen, and too rare to cost time.
const EVENTS_BETWEEN_LOOKS: u32 = 1 << 16;

const LATEST: Instant = Instant::from_nanos(u64::MAX - 1);

/// Counterpart of the client in virtual time: a simulated server, or the log of a real server.
pub trait Peer {
    fn on_send(&mut self, now: Instant, launched: &SentAttempt);

    fn on_cancel(&mut self, now: Instant, key: AttemptKey);

    /// Returns the instant of the next event of the peer, which is the client's counterpart, such as a simulated server. Returns
    /// [`Instant::FAR_FUTURE`] if the peer has no further event.
    fn next_at(&self) -> Instant;

    /// Advances from `now` to the first instant at which the peer has an input for the client, but not beyond `until`. Before `until` the
    /// client does nothing unless it receives an input. Passes all inputs that are due at the reached instant to `run`, and returns that
    /// instant.
    fn go_on(&mut self, now: Instant, until: Instant, run: &mut Run) -> Option<Instant>;
}

#[derive(Debug)]
pub struct EventLoop<P> {
    run: Run,
    peer: P,
    now: Instant,
    /// Instant before which the client does nothing unless it receives an input.
    client_until: Instant,
}

impl<P: Peer> EventLoop<P> {
    pub fn new(run: Run, peer: P) -> Self {
        Self { run, peer, now: Instant::ORIGIN, client_until: Instant::ORIGIN }
    }

    pub fn run(mut self, steer: &mut dyn FnMut(&Run, Instant) -> Steer) -> (Run, P, Instant) {
        let mut until_look = EVENTS_BETWEEN_LOOKS;
        loop {
            until_look -= 1;
            if until_look == 0 {
                until_look = EVENTS_BETWEEN_LOOKS;
                if steer(&self.run, self.now) == Steer::Stop {
                    self.client_until = self.now;
                    self.run.handle_input(self.now, Input::Abort);
                }
            }
            // If the client and its peer, such as a simulated server, have events at the same instant, the peer's events come first.
            let until = self.client_until.max(self.now);
            if self.peer.next_at() <= until {
                // The latest possible instant means "never", so no event may happen at that instant.
                if let Some(at) = self.peer.go_on(self.now, until.min(LATEST), &mut self.run) {
                    (self.now, self.client_until) = (at, at);
                }
            }
            // Without an input, the client has no output before `client_until`. So the clock jumps to that instant.
            if self.client_until > self.now {
                // As long as the client waits for a response, a timeout is pending, even if the response never arrives. If no timeout is
                // pending, nothing can happen any more, so the run ends.
                if self.client_until == Instant::FAR_FUTURE {
                    break;
                }
                self.now = self.client_until;
            }
            match self.run.poll_output(self.now) {
                Output::Send(launched) => self.peer.on_send(self.now, &launched),
                Output::Cancel(key) => self.peer.on_cancel(self.now, key),
                // The instant `at` may be equal to the current instant `now`. The client then needs another poll at the same instant.
                Output::WaitUntil(at) => self.client_until = at,
                Output::Idle => self.client_until = Instant::FAR_FUTURE,
                Output::Done => break,
            }
        }
        (self.run, self.peer, self.now)
    }
}

/// Decision of a simulation's observer whether to continue or to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steer {
    On,
    /// Decision to end the run: nothing more is sent, and the attempts in flight are withdrawn.
    Stop,
}
