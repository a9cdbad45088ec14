//! Calendar time, for dates in HTTP headers.

use std::time::Duration;

use crate::Instant;

/// Calendar time with a precision of a nanosecond. Like [`Instant`], calendar time is passed as an argument, because
/// this crate reads no clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime {
    since_epoch: Duration,
}

impl WallTime {
    /// Calendar time at [`Instant::ORIGIN`] in virtual time: 2026-01-01, 00:00:00 UTC.
    pub const VIRTUAL_START: Self = Self::from_unix(Duration::from_hours(490_896));

    /// Creates a calendar time from the duration since 1970-01-01, 00:00:00 UTC, without leap seconds.
    pub const fn from_unix(since_epoch: Duration) -> Self {
        Self { since_epoch }
    }

    pub const fn since_unix(self) -> Duration {
        self.since_epoch
    }

    /// Returns the calendar time at the instant `now` of a run that began at the calendar time `self`.
    #[must_use]
    pub fn at(self, now: Instant) -> Self {
        Self { since_epoch: self.since_epoch.saturating_add(now.since(Instant::ORIGIN)) }
    }

    pub const fn until(self, later: Self) -> Option<Duration> {
        later.since_epoch.checked_sub(self.since_epoch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_time_advances_with_the_run_and_detects_past_instants() {
        let (start, second) = (WallTime::VIRTUAL_START, Duration::from_secs(1));
        let later = start.at(Instant::ORIGIN + second);
        assert_eq!((start.until(later), later.until(start)), (Some(second), None));
        assert_eq!(start.until(start), Some(Duration::ZERO));
    }
}
