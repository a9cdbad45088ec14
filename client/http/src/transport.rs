//! How an attempt reaches a server. A leaner transport than reqwest can come beside it.

use std::future::Future;

use loadgen_core::{Cause, ErrorKind, Launched, ServerSeen};
use tailback::{Failure, Outcome, Status};

/// Carries attempts to a server.
///
/// An implementation retries nothing, follows no redirect, and queues nothing silently: what waits for a
/// connection is counted. Dropping the future withdraws the attempt.
pub trait Transport: Clone + Send + Sync + 'static {
    /// Sends the attempt and reads the whole answer.
    fn send(&self, attempt: Launched) -> impl Future<Output = Answer> + Send;

    /// How many attempts may be under way at once: one on every open connection, and a few that open one. Who sends
    /// more makes them queue inside the transport, where nobody counts.
    fn room(&self) -> usize;

    /// Returns when [`room`](Self::room) has grown.
    fn grown(&self) -> impl Future<Output = ()> + Send;

    /// An attempt failed or was withdrawn, and took its connection with it.
    fn on_lost(&self);
}

/// What came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// How the attempt ended, and the server's advice.
    pub outcome: Outcome,
    /// What the answer told of a mockserver.
    pub server: Option<ServerSeen>,
    /// What came on the wire; nothing when the attempt was withdrawn.
    pub cause: Option<Cause>,
    /// Whether somebody between answered, and not the mockserver that was recognised.
    pub by_gateway: bool,
}

impl Answer {
    /// None came that can be used, for this reason.
    pub fn none(kind: ErrorKind) -> Self {
        let outcome = Outcome::plain(Status::Failed(Failure::Transport));
        Self { outcome, server: None, cause: Some(Cause::Error(kind)), by_gateway: false }
    }

    /// None is expected any more.
    pub fn withdrawn() -> Self {
        Self { outcome: Outcome::plain(Status::Cancelled), server: None, cause: None, by_gateway: false }
    }
}
