//! Real time, seen as experiment time.

use std::time::{Duration, Instant as RealInstant};

use vocabulary::{Instant, TimeScale};

/// Maps real time to experiment time, whose origin is when the clock was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: RealInstant,
    scale: TimeScale,
}

impl Clock {
    /// A clock that starts now.
    pub(crate) fn start(scale: TimeScale) -> Self {
        Self { origin: RealInstant::now(), scale }
    }

    /// A clock whose origin is this instant, past or to come.
    pub(crate) fn starting_at(origin: RealInstant, scale: TimeScale) -> Self {
        Self { origin, scale }
    }

    /// Experiment time now.
    pub(crate) fn now(&self) -> Instant {
        Instant::ORIGIN + self.scale.to_experiment(self.origin.elapsed())
    }

    /// Real time since the clock was started.
    pub(crate) fn wall(&self) -> Duration {
        self.origin.elapsed()
    }

    /// When, in real time, an instant of the experiment comes.
    pub(crate) fn real(&self, at: Instant) -> RealInstant {
        // What lies beyond the clock's range never comes; a year is never.
        let since = self.scale.to_real(at.since_origin()).min(Duration::from_hours(365 * 24));
        self.origin + since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_found_in_real_time() {
        let clock = Clock::start(TimeScale::parse("0.2").unwrap());
        assert_eq!(clock.real(Instant::from_millis(10_000)) - clock.origin, Duration::from_secs(2));
        assert!(clock.real(Instant::FAR_FUTURE) > clock.origin);
    }
}
