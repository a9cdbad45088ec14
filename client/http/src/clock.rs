//! Real time, seen as experiment time.

use std::time::{Duration, Instant as RealInstant};

use vocabulary::{Instant, nanos};

/// Maps real time to experiment time: the origin is when the clock was made, and `scale` real seconds pass
/// in one second of the experiment.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: RealInstant,
    scale: f64,
}

impl Clock {
    /// A clock that starts now. `scale` below 1 makes the experiment fast.
    pub fn start(scale: f64) -> Self {
        Self { origin: RealInstant::now(), scale }
    }

    /// Experiment time now.
    pub fn now(&self) -> Instant {
        Instant::ORIGIN + self.to_experiment(self.origin.elapsed())
    }

    /// Real time since the clock was made.
    pub fn wall(&self) -> Duration {
        self.origin.elapsed()
    }

    /// When, in real time, an instant of the experiment comes.
    pub(crate) fn real(&self, at: Instant) -> RealInstant {
        let since = self.to_real(at.since_origin());
        // What lies beyond the clock's range never comes; a year is never.
        self.origin.checked_add(since).unwrap_or_else(|| self.origin + Duration::from_hours(365 * 24))
    }

    /// How long a duration of the experiment takes in real time.
    pub fn to_real(&self, duration: Duration) -> Duration {
        scaled(duration, self.scale)
    }

    /// How long a real duration is in the experiment.
    pub fn to_experiment(&self, duration: Duration) -> Duration {
        scaled(duration, 1.0 / self.scale)
    }
}

#[expect(clippy::float_cmp, reason = "exactly one means: not scaled")]
fn scaled(duration: Duration, factor: f64) -> Duration {
    if factor == 1.0 { duration } else { nanos(duration.as_nanos() as f64 * factor) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scaled_clock_stretches_durations_both_ways() {
        let clock = Clock::start(0.2);
        assert_eq!(clock.to_real(Duration::from_secs(10)), Duration::from_secs(2));
        assert_eq!(clock.to_experiment(Duration::from_secs(2)), Duration::from_secs(10));
        let at = Instant::from_millis(10_000);
        assert_eq!(clock.real(at) - clock.origin, Duration::from_secs(2));
        assert!(clock.real(Instant::FAR_FUTURE) > clock.real(at));
    }
}
