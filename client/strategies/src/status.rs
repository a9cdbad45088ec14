//! Result of a try of an op, as the test harness counts it.

/// Result of a try of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The work was done.
    Succeeded,
    /// The server throttled the attempt (429, 503 …).
    Rejected,
    /// There was no usable answer.
    Failed(Failure),
    /// A budget rejected the launch, so nothing was sent.
    Shed,
    /// The server had too little free capacity to start the attempt, so no attempt was made.
    Deferred,
    /// The client withdrew the attempt.
    Cancelled,
}

impl Status {
    /// Returns whether the result suggests that the server or the network is overloaded: a rejection or a retriable
    /// failure.
    pub const fn is_congestion(self) -> bool {
        match self {
            Self::Rejected => true,
            Self::Failed(failure) => failure.is_retriable(),
            Self::Succeeded | Self::Shed | Self::Deferred | Self::Cancelled => false,
        }
    }
}

/// Reason why there was no usable answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The attempt took longer than its timeout.
    Timeout,
    /// No connection, a reset, or an answer that is not valid HTTP.
    Transport,
    /// A 5xx that is not a rejection.
    Server,
    /// An answer that no retry would change (most 4xx).
    Fatal,
}

impl Failure {
    /// Returns whether another attempt may help.
    pub const fn is_retriable(self) -> bool {
        !matches!(self, Self::Fatal)
    }
}
