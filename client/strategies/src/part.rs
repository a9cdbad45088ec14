//! Part of a strategy: a limiter, a retry policy, a budget or a hedger.

use crate::hedger::Hedger;
use crate::shape::{Shape, Shaped};
use crate::{Budget, Limiter, RetryPolicy};

/// Kind of a strategy part, such as limiter or budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Limiter, which decides when the next attempt may start.
    Limiter,
    /// Retry policy, which decides whether and when a failed op may be retried.
    RetryPolicy,
    /// Budget, which decides whether a launch is admitted at all.
    Budget,
    /// Hedger, which decides when copies of an attempt are sent.
    Hedging,
}

/// Part of a strategy: a limiter, a retry policy, a budget or a hedger.
pub enum Part {
    /// Instance of a [`Limiter`].
    Limiter(Box<dyn Limiter>),
    /// Instance of a [`RetryPolicy`].
    RetryPolicy(Box<dyn RetryPolicy>),
    /// Backoff of this crate, which is the most common retry policy. The backoff has a variant of its own, because its
    /// calls then need no dynamic dispatch.
    BackOff(Shaped),
    /// Instance of a [`Budget`].
    Budget(Box<dyn Budget>),
    /// Instance of a [`Hedger`].
    Hedging(Box<dyn Hedger>),
}

impl Part {
    pub(crate) fn back_off(shape: Shape) -> Self {
        Self::BackOff(Shaped::new(shape))
    }
}
