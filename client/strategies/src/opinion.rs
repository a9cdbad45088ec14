//! What a strategy itself makes of an outcome, right or wrong: the harness counts by [`Status`], whatever the client thinks.

use crate::Status;

/// What a strategy takes an outcome for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opinion {
    /// The work is done, or nothing is known yet.
    Done,
    /// Not to be tried again.
    Final,
    /// A fault that may be over soon.
    Transient,
    /// The server said "not now".
    Throttled,
}

impl Opinion {
    /// That of a strategy without rules of its own: it sees things as they are counted.
    pub const fn of(status: Status) -> Self {
        match status {
            Status::Succeeded => Self::Done,
            Status::Rejected => Self::Throttled,
            Status::Failed(failure) if failure.is_retriable() => Self::Transient,
            Status::Failed(_) => Self::Final,
            Status::Shed | Status::Deferred | Status::Cancelled => Self::Transient,
        }
    }

    /// Whether the op may be tried again.
    pub const fn is_retriable(self) -> bool {
        matches!(self, Self::Transient | Self::Throttled)
    }
}
