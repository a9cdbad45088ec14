//! One call through a throttle: the loop over its attempts, in three steps that all adapters use.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tailback::{Instant, Outcome};
use tokio::time::Sleep;

use crate::attempt::{Attempt, Next, Refused};
use crate::classify::Seen;
use crate::state::{Polled, Shared};

/// A call that waits for its turn, or whose attempt runs. Dropping it cancels the call, wherever it is: its place goes to the next call,
/// and the strategy counts its attempt as neither a success nor a failure.
///
/// Most programs use [`Throttle::run`](crate::Throttle::run). A call is for adapters to other libraries: repeat [`admitted`](Self::admitted),
/// the request, and [`ended`](Self::ended), until that returns [`Next::Done`].
pub struct Call {
    shared: Arc<Shared>,
    /// Number of the call in the throttle; `None` once it has ended.
    number: Option<u32>,
    attempts: u32,
    waited: Duration,
    waiting_since: Instant,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Call {
    pub(crate) fn new(shared: Arc<Shared>, number: u32, waiting_since: Instant) -> Self {
        Self { shared, number: Some(number), attempts: 0, waited: Duration::ZERO, waiting_since, timer: None }
    }

    /// Waits until the call's next attempt may start. The request must then be sent at once. The attempt before must have
    /// [ended](Self::ended), because a call has only one attempt at a time.
    ///
    /// # Errors
    /// Fails if no further attempt may start. The call has ended then.
    ///
    /// # Panics
    /// Panics if it has to wait and there is no tokio runtime with a timer.
    pub async fn admitted(&mut self) -> Result<Attempt, Refused> {
        poll_fn(|context| self.poll_admitted(context)).await
    }

    fn poll_admitted(&mut self, context: &mut Context<'_>) -> Poll<Result<Attempt, Refused>> {
        let Some(number) = self.number else { return Poll::Ready(Err(Refused::Closed)) };
        loop {
            match self.shared.poll(number, context.waker()) {
                Polled::Admitted { at, reason } => {
                    self.timer = None;
                    self.attempts += 1;
                    self.waited += at.since(self.waiting_since);
                    return Poll::Ready(Ok(Attempt { number: self.attempts, waited: self.waited, reason }));
                }
                Polled::Refused(refused) => {
                    self.end();
                    return Poll::Ready(Err(refused));
                }
                Polled::Wait(None) => {
                    self.timer = None;
                    return Poll::Pending;
                }
                Polled::Wait(Some(at)) => {
                    let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(at)));
                    if timer.deadline() != at {
                        timer.as_mut().reset(at);
                    }
                    ready!(timer.as_mut().poll(context));
                    // The timer is over, so an event is due now.
                }
            }
        }
    }

    /// Reports the result of the attempt. Does nothing if no attempt runs.
    pub fn ended(&mut self, result: Seen<'_>) -> Next {
        let outcome = result.outcome(&self.shared.reading);
        self.on_outcome(&outcome)
    }

    fn on_outcome(&mut self, outcome: &Outcome) -> Next {
        let Some(number) = self.number else { return Next::Done };
        let Some(now) = self.shared.ended(number, outcome) else {
            self.number = None;
            return Next::Done;
        };
        self.waiting_since = now;
        Next::Retry
    }

    /// Returns the number of attempts so far.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    fn end(&mut self) {
        self.timer = None;
        if let Some(number) = self.number.take() {
            self.shared.forget(number);
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.end();
    }
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call")
            .field("attempts", &self.attempts)
            .field("waited", &self.waited)
            .finish_non_exhaustive()
    }
}
