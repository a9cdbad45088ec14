//! Part of a strategy. There are four kinds of parts.

use crate::hedger::Hedger;
use crate::shape::{Shape, Shaped};
use crate::{Budget, Limiter, RetryPolicy};

/// Kind of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Decides when the next attempt may start.
    Limiter,
    /// Decides whether and when a failed op may be retried.
    RetryPolicy,
    /// Decides whether a launch is admitted at all.
    Budget,
    /// Decides when copies of an attempt are sent.
    Hedging,
}

/// Instance of a part.
pub enum Part {
    /// See [`Limiter`].
    Limiter(Box<dyn Limiter>),
    /// See [`RetryPolicy`].
    RetryPolicy(Box<dyn RetryPolicy>),
    /// Backoff of this crate, the most common retry policy. It is called without dynamic dispatch.
    BackOff(Shaped),
    /// See [`Budget`].
    Budget(Box<dyn Budget>),
    /// See [`Hedger`].
    Hedging(Box<dyn Hedger>),
}

impl Part {
    pub(crate) fn back_off(shape: Shape) -> Self {
        Self::BackOff(Shaped::new(shape))
    }
}
