//! The server's clock: experiment time since it started.

use std::time::{Duration, Instant as RealInstant, SystemTime, UNIX_EPOCH};

use vocabulary::{Instant, TimeScale, WallTime};

/// Maps real time to the server's experiment time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: RealInstant,
    pub(crate) scale: TimeScale,
    /// The calendar at the origin, in whole milliseconds: so that it can be told in a number.
    pub(crate) anchor: WallTime,
}

impl Clock {
    pub(crate) fn start(scale: TimeScale) -> Self {
        let since_unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let millis = u64::try_from(since_unix.as_millis()).unwrap_or(u64::MAX);
        let anchor = WallTime::from_unix(Duration::from_millis(millis));
        Self { origin: RealInstant::now(), scale, anchor }
    }

    pub(crate) fn now(&self) -> Instant {
        Instant::ORIGIN + self.scale.to_experiment(self.origin.elapsed())
    }

    /// Real time from now until `at`; zero when it is past.
    pub(crate) fn until(&self, at: Instant) -> Duration {
        self.scale.to_real(at.since(self.now()))
    }

    /// When, in real time, `at` comes.
    pub(crate) fn real(&self, at: Instant) -> RealInstant {
        // What lies beyond the clock's range never comes; a year is never.
        RealInstant::now() + self.until(at).min(Duration::from_hours(365 * 24))
    }
}
