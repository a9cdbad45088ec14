//! The retry policy of a layer: a back-off of this crate, or anybody's.

use vocabulary::Rng;

use crate::shape::Shaped;
use crate::{FailedOp, Retry, RetryPolicy, RetryState};

/// A retry policy. Those of this crate are called directly, and draw without a detour: they are asked at every failure.
pub(super) enum Policy {
    BackOff(Shaped),
    Other(Box<dyn RetryPolicy>),
}

impl Policy {
    /// See [`RetryPolicy::on_failure`].
    #[inline]
    pub(super) fn on_failure<R: Rng>(
        &self,
        now: crate::Instant,
        failed: &FailedOp,
        state: &mut RetryState,
        rng: &mut R,
    ) -> Retry {
        match self {
            Self::BackOff(policy) => policy.wait(failed, state, rng),
            Self::Other(policy) => policy.on_failure(now, failed, state, rng),
        }
    }

    /// See [`RetryPolicy::after_failure`].
    #[inline]
    pub(super) fn after_failure(&mut self, failed: &FailedOp) {
        match self {
            Self::BackOff(policy) => policy.after_failure(failed),
            Self::Other(policy) => policy.after_failure(failed),
        }
    }

    /// The rest of what it says, which is asked seldom.
    pub(super) fn as_dyn(&self) -> &dyn RetryPolicy {
        match self {
            Self::BackOff(policy) => policy,
            Self::Other(policy) => policy.as_ref(),
        }
    }
}
