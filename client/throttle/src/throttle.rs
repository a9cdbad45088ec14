//! Throttle: runs futures by a strategy that all callers share. Its builder checks that the strategy is fit for production.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::time::Duration;

use tailback::{ETHERNET, Missing, PartKind, SpecError, StrategySpec, find};

use crate::attempt::{Attempt, Next, Refused, Repeats};
use crate::call::Call;
use crate::classify::{Classify, Seen};
use crate::log::Event;
use crate::state::{Options, Shared};

/// Gate for all requests to a server, by one strategy. Clones share its state.
///
/// A strategy that does not hold, such as `full-jitter`, lets other requests start while one waits for its `Retry-After`;
/// [`holds`](Self::holds) returns whether it holds.
#[derive(Clone)]
pub struct Throttle {
    shared: Arc<Shared>,
}

/// Result of a call without a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error<E> {
    /// Error of the last attempt, unchanged.
    #[error(transparent)]
    Inner(E),
    /// No attempt was made.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The last attempt took longer than [`Builder::attempt_timeout`].
    #[error("no response within {0:?}")]
    AttemptTimeout(Duration),
}

impl Throttle {
    /// Creates a throttle with default settings.
    ///
    /// # Errors
    /// Fails if the strategy may retry a call for ever, or has parts for experiments only.
    pub fn new(strategy: StrategySpec) -> Result<Self, BuildError> {
        Self::builder(strategy).build()
    }

    /// Returns a builder with default settings.
    pub fn builder(strategy: StrategySpec) -> Builder {
        Builder::new(strategy)
    }

    /// Runs a request, as often and when the strategy decides. `attempt` creates the future of one attempt.
    ///
    /// Retries rejections (429, 503, 529) and connections that could not be made. The result is the last response or error, unchanged. The
    /// future of an attempt must send its request at once, because a hold that begins later comes too late for it.
    ///
    /// # Panics
    /// Panics if it has to wait and there is no tokio runtime with a timer.
    ///
    /// # Errors
    /// Returns the error of the last attempt. Returns an error of the throttle only if no attempt was made, or the last one timed out.
    pub async fn run<T, E, F, A>(&self, attempt: F) -> Result<T, Error<E>>
    where
        F: FnMut(Attempt) -> A,
        A: Future<Output = Result<T, E>>,
        T: Classify,
        E: Classify,
    {
        self.run_with(Repeats::Unprocessed, Classify::classify, attempt).await
    }

    /// Variant of [`run`](Self::run) that also retries failures after which the server may have done the work: timeouts, closed
    /// connections, and 5xx. Right for requests that are idempotent.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn run_idempotent<T, E, F, A>(&self, attempt: F) -> Result<T, Error<E>>
    where
        F: FnMut(Attempt) -> A,
        A: Future<Output = Result<T, E>>,
        T: Classify,
        E: Classify,
    {
        self.run_with(Repeats::All, Classify::classify, attempt).await
    }

    /// Variant of [`run`](Self::run) for results of any type. `classify` returns what the strategy learns from a result. Pass a function, or
    /// write a closure in the call itself, because a closure in a variable does not borrow from every result.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn run_with<T, E, C, F, A>(
        &self,
        repeats: Repeats,
        classify: C,
        mut attempt: F,
    ) -> Result<T, Error<E>>
    where
        C: Fn(&Result<T, E>) -> Seen<'_>,
        F: FnMut(Attempt) -> A,
        A: Future<Output = Result<T, E>>,
    {
        let mut call = self.call(repeats)?;
        let mut last: Option<Result<T, Error<E>>> = None;
        loop {
            let admitted = match call.admitted().await {
                Ok(admitted) => admitted,
                Err(refused) => return last.unwrap_or(Err(Error::Refused(refused))),
            };
            // The response before may occupy a connection.
            drop(last.take());
            let (next, result) = match self.limited(attempt(admitted)).await {
                Ok(result) => (call.ended(classify(&result)), result.map_err(Error::Inner)),
                Err(limit) => {
                    (call.ended(Seen::NoResponse(Missing::Timeout)), Err(Error::AttemptTimeout(limit)))
                }
            };
            if next == Next::Done {
                return result;
            }
            last = Some(result);
        }
    }

    /// Runs the future of an attempt within the time limit of attempts. An error is that limit.
    async fn limited<A: Future>(&self, attempt: A) -> Result<A::Output, Duration> {
        match self.shared.options.attempt_timeout {
            None => Ok(attempt.await),
            Some(limit) => tokio::time::timeout(limit, attempt).await.map_err(|_| limit),
        }
    }

    /// Begins a call, for adapters to other libraries.
    ///
    /// # Errors
    /// Fails if too many calls wait, or the throttle is closed.
    pub fn call(&self, repeats: Repeats) -> Result<Call, Refused> {
        let (number, arrived) = self.shared.arrive(repeats)?;
        Ok(Call::new(self.shared.clone(), number, arrived))
    }

    /// Returns whether the strategy holds all calls after an answer with advice such as `Retry-After`. If not, only the rejected call waits.
    pub fn holds(&self) -> bool {
        self.shared.held_until().is_some()
    }

    /// Returns the instant before which no request starts, because the server advised it. It may be in the past. `None` if the strategy
    /// never holds.
    pub fn held_until(&self) -> Option<tokio::time::Instant> {
        self.shared.held_until()
    }

    /// Returns the number of attempts in flight.
    pub fn in_flight(&self) -> usize {
        self.shared.in_flight()
    }

    /// Returns the number of calls that have not ended, whether they wait or run.
    pub fn calls(&self) -> usize {
        self.shared.calls()
    }

    /// Closes the throttle: no further attempt starts, and calls that wait end. Attempts in flight continue.
    pub fn close(&self) {
        self.shared.close();
    }

    /// Removes and returns the log so far, if the throttle [records](Builder::record) one.
    pub fn take_log(&self) -> Vec<Event> {
        self.shared.take_log()
    }

    /// Returns whether nothing is lost if this throttle is dropped: no call is open, nothing holds, and there is no other clone.
    pub(crate) fn is_idle(&self) -> bool {
        Arc::strong_count(&self.shared) == 1 && self.shared.is_idle()
    }
}

impl fmt::Debug for Throttle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Throttle")
            .field("in_flight", &self.in_flight())
            .field("calls", &self.calls())
            .finish_non_exhaustive()
    }
}

/// Lateness of an event that is caught up. A process that slept for longer does not send what it missed.
const MAX_LATENESS: Duration = Duration::from_millis(100);

/// Settings of a throttle.
#[derive(Clone, Debug)]
pub struct Builder {
    spec: StrategySpec,
    pub(crate) options: Options,
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
        /// Reason why the part is for experiments only.
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
            options: Options {
                deadline: None,
                attempt_timeout: spec.attempt_timeout(),
                max_waiting: u64::MAX,
                max_lateness: MAX_LATENESS,
                records: false,
            },
            spec,
            unlimited: false,
            seed: None,
        }
    }

    /// Limits the time from the beginning of a call to the start of its last attempt. A call that waits then ends, with the last response
    /// or error if it has one. An attempt in flight continues. The default is no limit.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.options.deadline = Some(deadline);
        self
    }

    /// Limits the time of one attempt, more than 0. An attempt that takes longer is dropped, and the strategy learns that it timed out. The
    /// default is the limit of the strategy (`attempt-timeout=10s`), which this one can only shorten.
    #[must_use]
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        let of_strategy = self.spec.attempt_timeout().unwrap_or(Duration::MAX);
        self.options.attempt_timeout = Some(timeout.min(of_strategy));
        self
    }

    /// Limits the number of calls that wait: for their first attempt, for a retry, or for the end of a hold. A call that begins when so many
    /// wait ends with [`Refused::Full`]; calls that run may still wait for a retry. The default is no limit.
    #[must_use]
    pub fn max_waiting(mut self, calls: u64) -> Self {
        self.options.max_waiting = calls;
        self
    }

    /// Limits how late an event may be processed as if it were in time, 100 ms by default. After a longer sleep of the process, the
    /// strategy continues from that long ago, so that it does not send at once what it should have sent over time.
    #[must_use]
    pub fn max_lateness(mut self, lateness: Duration) -> Self {
        self.options.max_lateness = lateness;
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
        self.options.records = true;
        self
    }

    /// Builds the throttle.
    ///
    /// # Errors
    /// Fails if the strategy may retry a call for ever, or has parts for experiments only.
    pub fn build(self) -> Result<Throttle, BuildError> {
        self.check()?;
        let seed = self.seed.unwrap_or_else(|| RandomState::new().hash_one(()));
        let strategy = self.spec.build(seed, None)?;
        Ok(Throttle { shared: Arc::new(Shared::new(strategy, self.options)) })
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
        if self.options.max_waiting == 0 {
            return Err(BuildError::NoRoom);
        }
        if self.options.attempt_timeout == Some(Duration::ZERO) {
            return Err(BuildError::NoTime);
        }
        if !self.spec.is_bounded() && self.options.deadline.is_none() && !self.unlimited {
            return Err(BuildError::Unbounded { spec: text() });
        }
        Ok(())
    }
}
