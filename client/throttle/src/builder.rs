//! Construction of throttles, with the checks that a strategy is fit for production.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::time::Duration;

use tailback::{ETHERNET, PartKind, SpecError, StrategySpec, find};

use crate::throttle::Throttle;

/// Lateness of an event that is caught up. A process that slept for longer does not send what it missed.
const MAX_LATENESS: Duration = Duration::from_millis(100);

/// Settings of a throttle.
#[derive(Clone, Debug)]
pub struct Builder {
    pub(crate) spec: StrategySpec,
    pub(crate) deadline: Option<Duration>,
    pub(crate) attempt_timeout: Option<Duration>,
    pub(crate) max_waiting: u64,
    pub(crate) max_lateness: Duration,
    pub(crate) records: bool,
    unlimited: bool,
    seed: Option<u64>,
}

/// Reason why a throttle was not built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The strategy would retry a call for ever.
    #[error(
        "`{spec}` never ends a call that keeps failing; bound it, as in `full-jitter:max-attempts=6`, or use a builder with `.deadline(…)` or \
         `.unlimited()`"
    )]
    Unbounded {
        /// Text of the strategy.
        spec: String,
    },
    /// The strategy has a part that works only in experiments.
    #[error("`{part}` in `{spec}` cannot be used in production, because {reason}; leave it out")]
    Experimental {
        /// Text of the strategy.
        spec: String,
        /// Name of the part.
        part: &'static str,
        /// What the part would need.
        reason: &'static str,
    },
    /// No call could ever wait.
    #[error("`max_waiting` is 0, so no call could ever wait; use at least 1")]
    NoRoom,
    /// Every attempt would time out.
    #[error("`attempt_timeout` is 0, so every attempt would time out; use a longer time, or leave it out")]
    NoTime,
    /// The strategy could not be built.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

impl Builder {
    pub(crate) fn new(spec: StrategySpec) -> Self {
        Self {
            spec,
            deadline: None,
            attempt_timeout: None,
            max_waiting: u64::MAX,
            max_lateness: MAX_LATENESS,
            records: false,
            unlimited: false,
            seed: None,
        }
    }

    /// Limits the time from the beginning of a call to the start of its last attempt. A call that waits then ends, with the last response
    /// or error if it has one. An attempt in flight continues. The default is no limit.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Limits the time of one attempt, more than 0. An attempt that takes longer is dropped, and the strategy learns that it timed out. The
    /// default is no limit.
    #[must_use]
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.attempt_timeout = Some(timeout);
        self
    }

    /// Limits the number of calls that wait: for their first attempt, for a retry, or for the end of a hold. A call that begins when so many
    /// wait ends with [`Refused::Full`](crate::Refused::Full); calls that run may still wait for a retry. The default is no limit.
    #[must_use]
    pub fn max_waiting(mut self, calls: u64) -> Self {
        self.max_waiting = calls;
        self
    }

    /// Limits how late an event may be processed as if it were in time, 100 ms by default. After a longer sleep of the process, the
    /// strategy continues from that long ago, so that it does not send at once what it should have sent over time.
    #[must_use]
    pub fn max_lateness(mut self, lateness: Duration) -> Self {
        self.max_lateness = lateness;
        self
    }

    /// Allows a strategy that may retry a call for ever.
    #[must_use]
    pub fn unlimited(mut self) -> Self {
        self.unlimited = true;
        self
    }

    /// Sets the seed of the jitter, for tests. By default each throttle has its own, from the system.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Records a log of all events and decisions, without a limit on its size. It is meant for tests.
    #[must_use]
    pub fn record(mut self) -> Self {
        self.records = true;
        self
    }

    /// Builds the throttle.
    ///
    /// # Errors
    /// Fails if the strategy may retry a call for ever, or has parts for experiments only.
    pub fn build(self) -> Result<Throttle, BuildError> {
        let strategy = {
            self.check()?;
            let seed = self.seed.unwrap_or_else(|| RandomState::new().hash_one(()));
            self.spec.build(seed, None)?
        };
        Ok(Throttle::from_parts(strategy, &self))
    }

    fn check(&self) -> Result<(), BuildError> {
        let text = || self.spec.to_string();
        for part in self.spec.names() {
            let is_hedger = find(part).is_some_and(|entry| entry.kind == PartKind::Hedging);
            let reason = match part {
                tailback::ORACLE => "it needs the configuration of the server",
                ETHERNET => "it needs a server that starts a request only if it has free capacity",
                _ if is_hedger => {
                    "it sends a second request while the first one runs, and a future can run only once"
                }
                _ => continue,
            };
            return Err(BuildError::Experimental { spec: text(), part, reason });
        }
        if self.max_waiting == 0 {
            return Err(BuildError::NoRoom);
        }
        if self.attempt_timeout == Some(Duration::ZERO) {
            return Err(BuildError::NoTime);
        }
        if !self.spec.is_bounded() && self.deadline.is_none() && !self.unlimited {
            return Err(BuildError::Unbounded { spec: text() });
        }
        Ok(())
    }
}
