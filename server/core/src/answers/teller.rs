//! In what time an answer speaks: that of the experiment, or real time.

use std::time::Duration;

use vocabulary::{Instant, TimeScale, WallTime};

/// The time in which an answer speaks. What is rounded is rounded in it.
///
/// Our own load generator at the server's own time scale hears experiment time; everybody else hears real time, in which durations of
/// the experiment are so many times longer or shorter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Teller {
    anchor: WallTime,
    scale: TimeScale,
}

impl Teller {
    /// Experiment time: its calendar began at `anchor` when the server started, and goes on with the experiment.
    pub fn experiment(anchor: WallTime) -> Self {
        Self { anchor, scale: TimeScale::default() }
    }

    /// Real time: the server started at `anchor`, and a second of the experiment takes as long as `scale` says.
    pub const fn real(anchor: WallTime, scale: TimeScale) -> Self {
        Self { anchor, scale }
    }

    /// A duration of the experiment.
    pub(super) fn duration(&self, duration: Duration) -> Duration {
        self.scale.to_real(duration)
    }

    /// A duration of the experiment in whole seconds, rounded up, as `Retry-After` has it.
    pub fn whole_seconds(&self, duration: Duration) -> u64 {
        let told = self.duration(duration);
        told.as_secs().saturating_add(u64::from(told.subsec_nanos() > 0))
    }

    /// The calendar at an instant of the experiment.
    pub fn wall(&self, at: Instant) -> WallTime {
        let since_start = self.scale.to_real(at.since_origin());
        WallTime::from_unix(self.anchor.since_unix().saturating_add(since_start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_time_is_scaled_and_experiment_time_is_not() {
        let start = WallTime::from_unix(Duration::from_secs(1000));
        let (minute, at) = (Duration::from_mins(1), Instant::from_millis(60_000));
        let seconds =
            |teller: Teller| (teller.duration(minute).as_secs(), teller.wall(at).since_unix().as_secs());
        assert_eq!(seconds(Teller::experiment(start)), (60, 1060));
        assert_eq!(seconds(Teller::real(start, TimeScale::parse("0.1").unwrap())), (6, 1006));
        assert_eq!(seconds(Teller::real(start, TimeScale::parse("10").unwrap())), (600, 1600));
    }
}
