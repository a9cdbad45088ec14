//! The hedger: when is a copy of an attempt sent that has not been answered?

use std::time::Duration;

use vocabulary::Choice;

use crate::{Ended, Gauges, Instant, Launch, Outcome};

/// Copies of one attempt, at most: with it as many as gRPC lets a hedged call have (grpc/proposal `A6-client-retries.md`, "Limits
/// on Retries and Hedges": 5 in all).
pub const MOST_COPIES: u32 = 4;

/// Decides about copies: further attempts of an op while one is under way. The first that succeeds ends the others.
///
/// A *round* is an attempt that is no copy, and its copies. Each copy has one instant; what the strategy does not let go then, by
/// its limiters or its budgets, is not sent at all, and the next copy has its own instant. When all attempts of a round have
/// failed, the retry policy decides as after a single failure.
pub trait Hedger: Send {
    /// An attempt that is no copy is sent: which copies may follow it. `None` where it stays alone.
    fn on_sent(&mut self, now: Instant, launch: &Launch) -> Option<Copies>;

    /// What the failure of one attempt means for the others of its round, if the op may be tried again at all.
    fn after_failure(&self) -> AfterFailure;

    /// An attempt ended, copy or not.
    fn on_ended(&mut self, _now: Instant, _ended: &Ended, _outcome: &Outcome) {}

    /// Writes what dashboards show of this part.
    fn report(&self, _gauges: &mut Gauges) {}
}

/// The copies that may follow an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copies {
    /// How many, at most [`MOST_COPIES`].
    pub count: u32,
    /// After how long each is due, counted from the attempt or the copy before it.
    pub delay: Duration,
}

/// What the failure of one attempt means for the others of its round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    /// The next copy is sent at once (gRPC, Polly).
    Next,
    /// The others go on as if nothing had happened (Finagle's `BackupRequestFilter`).
    Wait,
    /// The first that ends decides, however it ends (tower).
    End,
}

impl Choice for AfterFailure {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("next", Self::Next), ("wait", Self::Wait), ("end", Self::End)];
}
