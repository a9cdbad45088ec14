//! The server's clock: experiment time since its start.

use std::time::{Duration, Instant as RealInstant, SystemTime, UNIX_EPOCH};

use vocabulary::{Instant, TimeScale, WallTime};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: RealInstant,
    pub(crate) scale: TimeScale,
    /// Wall-clock time at the start of the experiment time. It is a whole number of milliseconds, so that it can be reported as a number.
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

    pub(crate) fn until(&self, at: Instant) -> Duration {
        self.scale.to_real(at.since(self.now()))
    }

    pub(crate) fn real(&self, at: Instant) -> RealInstant {
        // An instant more than a year from now is replaced by the instant one year from now. Later instants may exceed the range of the
        // system's clock.
        RealInstant::now() + self.until(at).min(Duration::from_hours(365 * 24))
    }
}
