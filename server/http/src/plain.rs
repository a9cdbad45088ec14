//! Plain requests over HTTP/1.1, answered without the general machinery: a head that is simple (see [`head`]), and an answer in the
//! server's own words. As soon as anything else is asked for or to be answered, the connection goes over to that machinery with all
//! bytes that are not answered yet, and stays there. What goes out is the same to the byte.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::time::Instant;

use crate::bounds::{Bounds, LARGEST_HEAD};
use crate::head::{self, Head};
use crate::identity::Identity;
use crate::plain_answer;
use crate::shared::{Decided, Shared};
use crate::socket::{Socket, SocketIo};
use crate::stopping::Stopping;

/// Answers that wait to be sent, in bytes: more are sent before the next request is looked at.
const LARGEST_BATCH: usize = 16 << 10;

/// A connection that goes over to the general machinery.
pub(crate) struct HandedOver {
    /// Begins with the first request that is not answered.
    pub(crate) io: SocketIo,
    /// What was decided about that, if anything was.
    pub(crate) decided: Option<Handed>,
}

/// A request that was handed in and is not answered.
pub(crate) struct Handed {
    pub(crate) identity: Identity,
    /// Nothing is, when the server shuts down.
    pub(crate) decided: Option<Decided>,
}

/// Serves a connection for as long as everything on it is plain; nothing when it has ended by then.
pub(crate) async fn serve(
    io: SocketIo,
    shared: &Shared,
    bounds: Bounds,
    stopping: &Stopping,
) -> Option<HandedOver> {
    let (socket, first) = io.into_parts();
    let mut said = Said { socket, input: first, done: 0, output: Vec::new() };
    let mut told = pin!(stopping.told());
    let mut silence = pin!(tokio::time::sleep(bounds.head_patience));
    let mut answered = 0_u64;
    // How many were answered when the silence began: it is looked at when it is over, and costs requests nothing.
    let mut answered_before = None;
    loop {
        loop {
            let (length, identity) = match head::read(said.rest()) {
                Head::Plain { length, identity } if !shared.wanted.is_any() => (length, identity),
                Head::Partial if said.rest().len() < LARGEST_HEAD as usize => break,
                _ => return said.hand_over(None).await,
            };
            let decided = match shared.hand_in(identity, None) {
                Ok(decided) => Some(decided),
                Err(ticket) => {
                    said.send().await?;
                    tokio::select! {
                        biased;
                        decided = ticket.wait() => decided,
                        () = said.socket.gone() => return None,
                    }
                }
            };
            let decided = match decided {
                Some(decided) if decided.is_plain() => decided,
                decided => return said.hand_over(Some(Handed { identity, decided })).await,
            };
            said.done += length;
            answered += 1;
            let is_last = stopping.is_now();
            plain_answer::write(&mut said.output, &shared.clock, &identity, &decided, is_last);
            if is_last || said.output.len() > LARGEST_BATCH {
                said.send().await?;
            }
            if is_last {
                return None;
            }
        }
        said.send().await?;
        said.forget_what_is_done();
        let more = poll_fn(|context| {
            if let Poll::Ready(read) = said.socket.poll_read(context, &mut said.input) {
                // An end, in the middle of a head or not, or a failure: nobody is there to be answered.
                return Poll::Ready(read.ok().filter(|read| *read > 0));
            }
            if stopping.is_now() {
                return Poll::Ready(None);
            }
            if answered_before.is_some() {
                if !silence.is_elapsed() {
                    return Poll::Pending;
                }
                if answered_before == Some(answered) {
                    return Poll::Ready(None);
                }
                silence.as_mut().reset(Instant::now() + bounds.head_patience);
            }
            answered_before = Some(answered);
            let is_over = told.as_mut().poll(context).is_ready() || silence.as_mut().poll(context).is_ready();
            if is_over { Poll::Ready(None) } else { Poll::Pending }
        });
        more.await?;
    }
}

/// What is said on a connection, and not heard or sent yet.
struct Said {
    socket: Arc<Socket>,
    /// What has come.
    input: Vec<u8>,
    /// How much of it is answered.
    done: usize,
    output: Vec<u8>,
}

impl Said {
    fn rest(&self) -> &[u8] {
        &self.input[self.done..]
    }

    fn forget_what_is_done(&mut self) {
        self.input.drain(..self.done);
        self.done = 0;
    }

    /// Sends what is to be sent; nothing when that fails.
    async fn send(&mut self) -> Option<()> {
        if !self.output.is_empty() {
            self.socket.send(&self.output).await.ok()?;
            self.output.clear();
        }
        Some(())
    }

    async fn hand_over(mut self, decided: Option<Handed>) -> Option<HandedOver> {
        self.send().await?;
        self.forget_what_is_done();
        Some(HandedOver { io: SocketIo::new(self.socket, self.input), decided })
    }
}
