//! The loop of the driver in virtual time: a client and whoever answers it, on one clock that nobody waits for.

use loadgen_core::{AttemptKey, Input, Launched, Output, Run};
use vocabulary::Instant;

use crate::steer::Steer;

/// Events between two calls of whoever steers: often enough for a screen, too seldom to be felt.
const EVENTS_BETWEEN_LOOKS: u32 = 1 << 16;

/// When the last things happen.
const LATEST: Instant = Instant::from_nanos(u64::MAX - 1);

/// Whoever answers the client: a server that is simulated, or a log of what one said.
pub(crate) trait Peer {
    /// The client sends this attempt.
    fn on_send(&mut self, now: Instant, launched: Launched);

    /// The client withdraws this attempt.
    fn on_cancel(&mut self, now: Instant, key: AttemptKey);

    /// When there is something to do or to tell, [`Instant::FAR_FUTURE`] if never.
    fn next_at(&self) -> Instant;

    /// Goes on from `now` by itself, but not beyond `until`, before which the client does nothing, to the first instant at which the client
    /// hears something: tells it all that it hears by then, and returns when that is.
    fn go_on(&mut self, now: Instant, until: Instant, tell: impl FnMut(Instant, &Input)) -> Option<Instant>;
}

/// A client and its peer on one clock.
#[derive(Debug)]
pub(crate) struct EventLoop<P> {
    run: Run,
    peer: P,
    now: Instant,
    /// Before this instant the client does nothing unless it hears something.
    client_until: Instant,
}

impl<P: Peer> EventLoop<P> {
    pub(crate) fn new(run: Run, peer: P) -> Self {
        Self { run, peer, now: Instant::ORIGIN, client_until: Instant::ORIGIN }
    }

    /// Runs until the client is done or nothing can happen any more, and says when that was. `steer` is called now and then
    /// with the client and the time that it has reached.
    pub(crate) fn run(mut self, steer: &mut dyn FnMut(&Run, Instant) -> Steer) -> (Run, P, Instant) {
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
            // Whatever is due at once comes before the client's next event.
            let until = self.client_until.max(self.now);
            if self.peer.next_at() <= until {
                self.hear_peer(until);
            }
            // A client that nothing has happened to would say the same again.
            if self.client_until > self.now {
                // A client that waits for an answer that never comes times out; so this is the end.
                if self.client_until == Instant::FAR_FUTURE {
                    break;
                }
                self.now = self.client_until;
            }
            match self.run.poll_output(self.now) {
                Output::Send(launched) => self.peer.on_send(self.now, launched),
                Output::Cancel(key) => self.peer.on_cancel(self.now, key),
                // It may want to be asked again at once.
                Output::WaitUntil(at) => self.client_until = at,
                Output::Idle => self.client_until = Instant::FAR_FUTURE,
                Output::Done => break,
            }
        }
        (self.run, self.peer, self.now)
    }

    /// The client takes what comes next, if that is due by then.
    fn hear_peer(&mut self, until: Instant) {
        let Self { run, peer, now, client_until } = self;
        // Nothing can happen at the end of time.
        let until = until.min(LATEST);
        if let Some(at) = peer.go_on(*now, until, |at, input| run.hear(at, input)) {
            (*now, *client_until) = (at, at);
        }
    }
}
