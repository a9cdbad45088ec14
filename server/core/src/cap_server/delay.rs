//! How long something takes, in whole nanoseconds.

use std::time::Duration;

use vocabulary::{Distribution, whole_nanos};

/// A time that is always the same is reckoned once.
#[derive(Clone, Copy, Debug)]
pub(super) enum Delay {
    Constant(u64),
    Drawn(Distribution),
}

impl Delay {
    pub(super) fn new(distribution: Distribution) -> Self {
        match distribution {
            Distribution::Constant(value) => Self::Constant(whole_nanos(value)),
            drawn => Self::Drawn(drawn),
        }
    }

    /// As long as it takes this time, if that is to be drawn.
    #[inline]
    pub(super) fn nanos(&self, draw: impl FnOnce(&Distribution) -> Duration) -> u64 {
        match self {
            Self::Constant(nanos) => *nanos,
            Self::Drawn(distribution) => whole_nanos(draw(distribution)),
        }
    }
}
