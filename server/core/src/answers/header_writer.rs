//! Time base of an answer: whether the times in the answer are in experiment time or in real time.

use std::time::Duration;

use vocabulary::{Instant, TimeScale, WallTime};

/// Time base of an answer: experiment time or real time. Real time is experiment time multiplied by the time scale.
///
/// Our own load generator receives times in experiment time if it uses the same time scale as the server. All other clients receive times
/// in real time. Each time is first converted to the time base and then rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeaderWriter {
    anchor: WallTime,
    scale: TimeScale,
}

impl HeaderWriter {
    /// Creates a writer that states times in experiment time. `anchor` is the calendar time at the server's start. From then on, the
    /// calendar advances with experiment time.
    pub fn experiment(anchor: WallTime) -> Self {
        Self { anchor, scale: TimeScale::default() }
    }

    pub const fn real(anchor: WallTime, scale: TimeScale) -> Self {
        Self { anchor, scale }
    }

    pub(super) fn duration(&self, duration: Duration) -> Duration {
        self.scale.to_real(duration)
    }

    /// Converts a duration of the experiment to whole seconds of the answer's time base. The result is rounded up, as `Retry-After`
    /// requires.
    pub fn whole_seconds(&self, duration: Duration) -> u64 {
        let context = self.duration(duration);
        context.as_secs().saturating_add(u64::from(context.subsec_nanos() > 0))
    }

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
        let seconds = |teller: HeaderWriter| {
            (teller.duration(minute).as_secs(), teller.wall(at).since_unix().as_secs())
        };
        assert_eq!(seconds(HeaderWriter::experiment(start)), (60, 1060));
        assert_eq!(seconds(HeaderWriter::real(start, TimeScale::parse("0.1").unwrap())), (6, 1006));
        assert_eq!(seconds(HeaderWriter::real(start, TimeScale::parse("10").unwrap())), (600, 1600));
    }
}
