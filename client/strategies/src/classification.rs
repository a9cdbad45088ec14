//! Classification of an outcome by the strategy. A strategy may consider an outcome as something else than its
//! [`Status`] says.

use crate::Status;

/// Classification of an attempt's outcome by the rules of a strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Classification {
    /// The op succeeded, or there is no outcome yet.
    #[default]
    Done,
    /// The op failed permanently and is not to be retried.
    Final,
    /// The op failed temporarily, and a retry may succeed.
    Transient,
    /// The server rejected the attempt temporarily.
    Throttled,
}

impl Classification {
    /// Returns the default classification of an outcome, for strategies without a rule of their own for it. The default
    /// depends only on the status of the outcome.
    pub const fn from_status(status: Status) -> Self {
        match status {
            Status::Succeeded => Self::Done,
            Status::Rejected => Self::Throttled,
            Status::Failed(failure) if failure.is_retriable() => Self::Transient,
            Status::Failed(_) => Self::Final,
            Status::Shed | Status::Deferred | Status::Cancelled => Self::Transient,
        }
    }

    /// Returns whether an op whose outcome has this classification may be retried.
    pub const fn is_retriable(self) -> bool {
        matches!(self, Self::Transient | Self::Throttled)
    }
}
