//! A part of a strategy, of one of three kinds.

use crate::{Budget, Limiter, RetryPolicy};

/// The three kinds of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Says when the next attempt may start.
    Limiter,
    /// Says whether and when a failed op may try again.
    RetryPolicy,
    /// Says whether a launch is let through.
    Budget,
}

/// A started part.
pub enum Part {
    /// See [`Limiter`].
    Limiter(Box<dyn Limiter>),
    /// See [`RetryPolicy`].
    RetryPolicy(Box<dyn RetryPolicy>),
    /// See [`Budget`].
    Budget(Box<dyn Budget>),
}
