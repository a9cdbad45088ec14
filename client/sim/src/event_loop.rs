//! The loop of the driver in virtual time: a client and whoever answers it, on one clock that nobody waits for.

use loadgen_core::{AttemptKey, Input, Launched, Output, Run};
use vocabulary::Instant;

use crate::steer::Steer;

/// Events between two calls of whoever steers: often enough for a screen, too seldom to be felt.
const EVENTS_BETWEEN_LOOKS: u32 = 1 << 16;

/// Whoever answers the client: a server that is simulated, or a log of what one said.
pub(crate) trait Peer {
    /// The client sends this attempt.
    fn on_send(&mut self, now: Instant, launched: Launched);

    /// The client withdraws this attempt.
    fn on_cancel(&mut self, now: Instant, key: AttemptKey);

    /// Tells the client everything that it hears by `now`, and returns when there will be more, as far as that is known.
    fn poll(&mut self, now: Instant, tell: impl FnMut(Input)) -> Option<Instant>;
}

/// A client and its peer on one clock.
#[derive(Debug)]
pub(crate) struct EventLoop<P> {
    run: Run,
    peer: P,
    now: Instant,
    /// When the peer has something to do next.
    peer_at: Option<Instant>,
    /// What the client said last, as long as nothing has happened to it since.
    client: ClientWaits,
}

/// What a client waits for.
#[derive(Clone, Copy, Debug)]
enum ClientWaits {
    /// It is to be asked.
    Unknown,
    /// This instant, or an input.
    Until(Instant),
    /// An input.
    Input,
}

impl<P: Peer> EventLoop<P> {
    pub(crate) fn new(run: Run, peer: P) -> Self {
        Self { run, peer, now: Instant::ORIGIN, peer_at: None, client: ClientWaits::Unknown }
    }

    /// Runs until the client is done or nothing can happen any more, and says when that was. `steer` is called now and then
    /// with the client and the time that it has reached.
    pub(crate) fn run(mut self, steer: &mut dyn FnMut(&Run, Instant) -> Steer) -> (Run, P, Instant) {
        let mut until_look = EVENTS_BETWEEN_LOOKS;
        self.hear_peer();
        loop {
            until_look -= 1;
            if until_look == 0 {
                until_look = EVENTS_BETWEEN_LOOKS;
                if steer(&self.run, self.now) == Steer::Stop {
                    self.client = ClientWaits::Unknown;
                    self.run.handle_input(self.now, Input::Abort);
                }
            }
            if self.peer_at.is_some_and(|at| at <= self.now) {
                self.hear_peer();
            }
            // A client that nothing has happened to would say the same again.
            let client_at = match self.client {
                ClientWaits::Until(at) if at > self.now => Some(at),
                ClientWaits::Input => None,
                _ => match self.run.poll_output(self.now) {
                    Output::Send(launched) => {
                        self.peer.on_send(self.now, launched);
                        // At once, so that an answer that takes no time comes before the client's next event.
                        self.hear_peer();
                        continue;
                    }
                    Output::Cancel(key) => {
                        self.peer.on_cancel(self.now, key);
                        self.hear_peer();
                        continue;
                    }
                    Output::WaitUntil(at) => {
                        self.client = ClientWaits::Until(at);
                        Some(at)
                    }
                    Output::Idle => {
                        self.client = ClientWaits::Input;
                        None
                    }
                    Output::Done => break,
                },
            };
            let next = match (self.peer_at, client_at) {
                (Some(peer), Some(client)) => peer.min(client),
                (Some(at), None) | (None, Some(at)) => at,
                // A client that waits for an answer that never comes times out; so this is the end.
                (None, None) => break,
            };
            // The client may want to be asked again at once.
            self.now = next.max(self.now);
        }
        (self.run, self.peer, self.now)
    }

    /// The client takes everything that is due, and when the next will be is noted.
    fn hear_peer(&mut self) {
        let Self { run, peer, now, client, .. } = self;
        self.peer_at = peer.poll(*now, |input| {
            *client = ClientWaits::Unknown;
            run.handle_input(*now, input);
        });
    }
}
