//! Where a limit stands: what answers tell of it.

use std::time::Duration;

/// Where one limit stands for whoever asked, just after that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// What there is in all: requests of a window, a bucket's size, slots.
    pub limit: u64,
    /// What is left of it.
    pub remaining: u64,
    /// From the decision until all of it is there again, if nothing more is taken.
    pub reset: Duration,
    /// How long it takes from nothing to all: a window's length, the time in which a bucket fills; `None` where time alone brings nothing
    /// back.
    pub window: Option<Duration>,
}
