//! Classification of an outcome by the strategy. It may be wrong, so the test harness counts by [`Status`] instead.

use crate::Status;

/// Classification of an outcome by a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classification {
    /// The op succeeded, or there is no outcome yet.
    Done,
    /// Permanent failure, not to be retried.
    Final,
    /// Temporary fault, which a retry may avoid.
    Transient,
    /// Temporary rejection by the server.
    Throttled,
}

impl Classification {
    /// Returns the classification for strategies without rules of their own. It depends only on the status.
    pub const fn from_status(status: Status) -> Self {
        match status {
            Status::Succeeded => Self::Done,
            Status::Rejected => Self::Throttled,
            Status::Failed(failure) if failure.is_retriable() => Self::Transient,
            Status::Failed(_) => Self::Final,
            Status::Shed | Status::Deferred | Status::Cancelled => Self::Transient,
        }
    }

    /// Returns whether the op may be retried.
    pub const fn is_retriable(self) -> bool {
        matches!(self, Self::Transient | Self::Throttled)
    }
}
