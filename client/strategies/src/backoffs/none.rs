//! `none`: an op is given up at its first failure.
//!
//! Source: the behaviour of a client without retries, which is the baseline of every comparison.

use vocabulary::{Rng, parameters};

use crate::part_config::part;
use crate::{FailedOp, Instant, Retry, RetryPolicy, RetryState};

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct NoRetry = "none" {}
    summary = "never retries: an op is given up at its first rejection or failure";
    rule = "an op ends at its first rejection or failure";
    source = "baseline of all scenarios";
}

pub(crate) const NO_RETRY: &str = "none";

part!(NoRetry: RetryPolicy, |config, _| config);

impl RetryPolicy for NoRetry {
    fn on_failure(
        &self,
        _now: Instant,
        _failed: &FailedOp,
        _state: &mut RetryState,
        _rng: &mut dyn Rng,
    ) -> Retry {
        Retry::GiveUp
    }

    fn backs_off(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Always, policy, rejected};
    use crate::{Instant, Retry, RetryState};

    #[test]
    fn the_first_failure_is_the_last() {
        let retry = policy("none").on_failure(
            Instant::ORIGIN,
            &rejected(1),
            &mut RetryState::default(),
            &mut Always(0.5),
        );
        assert_eq!(retry, Retry::GiveUp);
    }
}
