//! Result of a try of an op, as the test harness counts it.

/// Result of a try of an op. A try is usually one attempt. A launch that was shed or deferred is also a try, although
/// no attempt was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The server did the requested work.
    Succeeded,
    /// The server throttled the attempt (429, 503 …).
    Rejected,
    /// The attempt failed: it had no usable answer.
    Failed(Failure),
    /// A budget rejected the launch, so nothing was sent.
    Shed,
    /// The server had too little free capacity to start the attempt, so the attempt was not made (carrier sense).
    Deferred,
    /// The client withdrew the attempt.
    Cancelled,
}

impl Status {
    /// Returns whether the result suggests that the server or the network is overloaded. Rejections and retriable
    /// failures suggest this.
    pub const fn is_congestion(self) -> bool {
        match self {
            Self::Rejected => true,
            Self::Failed(failure) => failure.is_retriable(),
            Self::Succeeded | Self::Shed | Self::Deferred | Self::Cancelled => false,
        }
    }
}

/// Reason why an attempt had no usable answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The attempt took longer than its timeout.
    Timeout,
    /// The connection could not be made or was reset, or the answer was not valid HTTP.
    Transport,
    /// The server answered with a 5xx status that is not a rejection.
    Server,
    /// The server gave an answer that no retry would change (most 4xx).
    Fatal,
}

impl Failure {
    /// Returns whether another attempt may succeed after a failure of this kind.
    pub const fn is_retriable(self) -> bool {
        !matches!(self, Self::Fatal)
    }
}
