//! Data types of a call and its attempts.

use std::time::Duration;

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

/// Attempt that may start now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Number of the attempt within its call, from 1.
    pub number: u32,
    /// Time that the call has waited so far in the throttle, before all of its attempts together.
    pub waited: Duration,
    /// Reason of its latest wait. It has no meaning if the call did not wait.
    pub reason: WaitReason,
}

/// Reason why a call waited before an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitReason {
    /// It waited for its turn: for a place in a window, for a token, or for a breaker.
    Queue,
    /// All calls waited, because the server advised one of them to wait.
    Hold,
    /// It backed off after a failure.
    Backoff,
    /// It backed off for as long as the server advised.
    Advice,
}

/// Next step of a call after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The result of the attempt is the result of the call.
    Done,
    /// The strategy retries: wait for [`Call::admitted`](crate::Call::admitted) again. If that is refused, the result of this attempt is the result of the call.
    Retry,
}

/// Reason why an attempt may not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The strategy refuses it.
    #[error("the strategy sends no request now, for example because too many have failed")]
    Shed,
    /// The deadline of the call has passed.
    #[error("the deadline passed before a request could start")]
    Deadline,
    /// Too many calls wait.
    #[error("too many calls wait already")]
    Full,
    /// The throttle is closed.
    #[error("the throttle is closed")]
    Closed,
}
