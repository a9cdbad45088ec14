//! How an attempt reaches a server. A leaner transport than reqwest can come beside it.

use std::future::Future;

use loadgen_core::{Launched, ServerSeen};
use tailback::Outcome;

/// Carries attempts to a server.
///
/// An implementation retries nothing, follows no redirect, and queues nothing silently: what waits for a
/// connection is counted. Dropping the future withdraws the attempt.
pub trait Transport: Clone + Send + Sync + 'static {
    /// Sends the attempt and reads the whole answer.
    fn send(&self, attempt: Launched) -> impl Future<Output = Answer> + Send;

    /// Asks the server what it has free, outside of all attempts; `None` when this server cannot be asked. The answer is
    /// `None`, too, when it does not come within an attempt's timeout, or makes no sense.
    fn sense(&self) -> Option<impl Future<Output = Option<u64>> + Send + 'static>;

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
}
