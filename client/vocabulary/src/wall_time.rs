//! The time of the calendar, which dates in headers speak of.

use std::time::Duration;

use crate::Instant;

/// A moment of the calendar, to the nanosecond. An argument, like [`Instant`]: nobody here reads a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime {
    since_epoch: Duration,
}

impl WallTime {
    /// The calendar of virtual time at [`Instant::ORIGIN`]: 2026-01-01, 00:00:00 UTC.
    pub const VIRTUAL_START: Self = Self::from_unix(Duration::from_hours(490_896));

    /// So much after 1970-01-01, 00:00:00 UTC, leap seconds not counted.
    pub const fn from_unix(since_epoch: Duration) -> Self {
        Self { since_epoch }
    }

    /// How much after 1970-01-01, 00:00:00 UTC, leap seconds not counted.
    pub const fn since_unix(self) -> Duration {
        self.since_epoch
    }

    /// The calendar at `now` of a run that began at this moment.
    #[must_use]
    pub fn at(self, now: Instant) -> Self {
        Self { since_epoch: self.since_epoch.saturating_add(now.since(Instant::ORIGIN)) }
    }

    /// From this moment until a later one; `None` when that is over.
    pub const fn until(self, later: Self) -> Option<Duration> {
        later.since_epoch.checked_sub(self.since_epoch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar_goes_on_with_the_run_and_tells_what_is_past() {
        let (start, second) = (WallTime::VIRTUAL_START, Duration::from_secs(1));
        let later = start.at(Instant::ORIGIN + second);
        assert_eq!((start.until(later), later.until(start)), (Some(second), None));
        assert_eq!(start.until(start), Some(Duration::ZERO));
    }
}
