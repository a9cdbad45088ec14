//! Status of a limit, as reported in answers.

use std::time::Duration;

/// Status of one limit for a client, directly after its request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitStatus {
    /// Full amount of the limit: requests per window, size of a bucket, or slots.
    pub limit: u64,
    pub remaining: u64,
    /// Time from the decision until the full amount is available again, if nothing more is charged.
    pub reset: Duration,
    /// Time in which the limit recovers from empty to full: the length of a window, or the time in which a bucket fills. `None` if time
    /// alone restores nothing.
    pub window: Option<Duration>,
}
