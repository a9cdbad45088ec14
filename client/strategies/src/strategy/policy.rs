//! Retry policy of a layer: a backoff of this crate, or another implementation of [`RetryPolicy`].

use vocabulary::Rng;

use crate::shape::Shaped;
use crate::{FailedOp, Retry, RetryPolicy, RetryState};

/// Retry policy of a layer. The backoffs of this crate and their random generators are called by static dispatch,
/// because a policy is called at every failure.
pub(super) enum Policy {
    BackOff(Shaped),
    Other(Box<dyn RetryPolicy>),
}

impl Policy {
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

    #[inline]
    pub(super) fn after_failure(&mut self, failed: &FailedOp) {
        match self {
            Self::BackOff(policy) => policy.after_failure(failed),
            Self::Other(policy) => policy.after_failure(failed),
        }
    }

    pub(super) fn as_dyn(&self) -> &dyn RetryPolicy {
        match self {
            Self::BackOff(policy) => policy,
            Self::Other(policy) => policy.as_ref(),
        }
    }
}
