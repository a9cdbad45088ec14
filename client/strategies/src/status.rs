//! How a try of an op ended, as everybody counts it.

/// How a try of an op ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The work was done.
    Succeeded,
    /// The server said "not now" (429, 503 …).
    Rejected,
    /// No usable answer.
    Failed(Failure),
    /// A budget refused the launch: nothing was sent.
    Shed,
    /// The server had too little free for it to start: no attempt was made.
    Deferred,
    /// The client withdrew the attempt.
    Cancelled,
}

impl Status {
    /// Whether it tells that the server or the way to it is overloaded: a rejection or a retriable failure.
    pub const fn is_congestion(self) -> bool {
        match self {
            Self::Rejected => true,
            Self::Failed(failure) => failure.is_retriable(),
            Self::Succeeded | Self::Shed | Self::Deferred | Self::Cancelled => false,
        }
    }
}

/// Why there was no usable answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The attempt took longer than its timeout.
    Timeout,
    /// No connection, a reset, an answer that is no HTTP.
    Transport,
    /// A 5xx that is no rejection.
    Server,
    /// An answer that no retry will change (most 4xx).
    Fatal,
}

impl Failure {
    /// Whether another attempt may help.
    pub const fn is_retriable(self) -> bool {
        !matches!(self, Self::Fatal)
    }
}
