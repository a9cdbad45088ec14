//! A part of a strategy, of one of four kinds.

use crate::hedger::Hedger;
use crate::shape::{Shape, Shaped};
use crate::{Budget, Limiter, RetryPolicy};

/// The four kinds of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Says when the next attempt may start.
    Limiter,
    /// Says whether and when a failed op may try again.
    RetryPolicy,
    /// Says whether a launch is let through.
    Budget,
    /// Says when copies of an attempt are sent.
    Hedging,
}

/// A started part.
pub enum Part {
    /// See [`Limiter`].
    Limiter(Box<dyn Limiter>),
    /// See [`RetryPolicy`].
    RetryPolicy(Box<dyn RetryPolicy>),
    /// The retry policy that most strategies have, which is asked without a detour.
    BackOff(Shaped),
    /// See [`Budget`].
    Budget(Box<dyn Budget>),
    /// See [`Hedger`].
    Hedging(Box<dyn Hedger>),
}

impl Part {
    /// The back-off of this shape.
    pub(crate) fn back_off(shape: Shape) -> Self {
        Self::BackOff(Shaped::new(shape))
    }
}
