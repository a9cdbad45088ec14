//! Throttle: runs futures by a strategy that all callers share.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tailback::{Missing, Strategy, StrategySpec};

use crate::builder::{BuildError, Builder};
use crate::call::{Attempt, Call, Next, Refused};
use crate::classify::{Classify, Seen};
use crate::log::Event;
use crate::state::Shared;

/// Gate for all requests to a server, by one strategy. Clones share its state.
///
/// A strategy that does not hold, such as `full-jitter`, lets other requests start while one waits for its `Retry-After`;
/// [`holds`](Self::holds) returns whether it holds.
#[derive(Clone)]
pub struct Throttle {
    shared: Arc<Shared>,
}

/// Failures after which a call is repeated. Rejections are always retried, because the server did no work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeats {
    /// All failures that the strategy retries. Right for requests that are idempotent.
    All,
    /// Only refused connections: the server did not receive the request.
    #[default]
    Unprocessed,
    /// No failure.
    Never,
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

    pub(crate) fn from_parts(strategy: Strategy, builder: &Builder) -> Self {
        Self { shared: Arc::new(Shared::new(strategy, builder)) }
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
        match self.shared.attempt_timeout {
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
