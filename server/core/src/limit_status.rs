//! Status of a rate limit or a concurrency limit, as reported in answers.

use std::time::Duration;

/// Status of one limit for one client, directly after a request of this client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitStatus {
    /// Full amount of the limit: requests per window, size of a bucket, or number of slots.
    pub limit: u64,
    pub remaining: u64,
    /// Time from the decision on the request until the limit's full amount is available again, if nothing more is charged.
    pub reset: Duration,
    /// Time in which the limit recovers from empty to full: the length of a window, or the time in which a bucket fills. `None` if time
    /// alone restores nothing, as with slots.
    pub window: Option<Duration>,
}
