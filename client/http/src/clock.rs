//! Conversion between real time and experiment time.

use std::time::{Duration, Instant as RealInstant};

use vocabulary::{Instant, TimeScale};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: RealInstant,
    scale: TimeScale,
}

impl Clock {
    pub(crate) fn start(scale: TimeScale) -> Self {
        Self { origin: RealInstant::now(), scale }
    }

    pub(crate) fn now(&self) -> Instant {
        Instant::ORIGIN + self.scale.to_experiment(self.origin.elapsed())
    }

    pub(crate) fn wall(&self) -> Duration {
        self.origin.elapsed()
    }

    pub(crate) fn real(&self, at: Instant) -> RealInstant {
        // The time since the origin is capped at a year. A later instant is never reached, but may exceed the range of `RealInstant`.
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
