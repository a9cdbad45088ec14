//! Samples for Netflix' limiters. A sample is a single attempt, or the mean over all attempts of a time window of one
//! second.
//!
//! Source: Netflix/concurrency-limits, `limit/WindowedLimit.java` and `limit/window/ImmutableAverageSampleWindow.java`,
//! whose defaults are the constants in this file. A window that ends with fewer than ten samples is discarded. The very
//! first sample ends the first window, so the first window is always discarded. Answers faster than 100 µs are not
//! sampled, even if they are rejections.

use std::time::Duration;

use vocabulary::{choices, whole_nanos};

use crate::Instant;

/// Minimum round trip of a sample (`minRttThreshold` of the source's builder).
const QUICKEST: Duration = Duration::from_micros(100);
/// Minimum and maximum length of a time window of samples (`minWindowTime` and `maxWindowTime` of the source's
/// builder). A window lasts twice the shortest round trip, but at least the minimum and at most the maximum length.
const MIN_WINDOW: Duration = Duration::from_secs(1);
const MAX_WINDOW: Duration = Duration::from_secs(1);
/// Minimum number of samples in a window (`windowSize` of the source's builder).
const FEWEST: u32 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Round-trip time: the time from the sending of an attempt to its answer; never zero.
    pub(crate) rtt: Duration,
    /// Number of attempts in flight just after this attempt was sent, including this attempt. For a window, the maximum
    /// over the window's attempts.
    pub(crate) in_flight: u32,
    /// True if the attempt was rejected or lost. For a window, true if any of the window's attempts was rejected or
    /// lost.
    pub(crate) dropped: bool,
    /// Number of the attempt's op. For a window, the op of its last attempt. This number is used as the key of random
    /// draws.
    pub(crate) op: u64,
}

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Windowed {
        No = "false",
        Yes = "true",
    }
}

impl Windowed {
    pub(crate) const ABOUT: &'static str = "whether a sample is the mean of at least ten answers, once a second (WindowedLimit), or (`false`) \
         every single answer";

    pub(crate) fn window(self) -> Option<SampleWindow> {
        (self == Self::Yes).then(SampleWindow::default)
    }
}

#[derive(Debug, Default)]
pub(crate) struct SampleWindow {
    ends: Instant,
    count: u32,
    shortest: Option<Duration>,
    sum_nanos: u64,
    in_flight: u32,
    dropped: bool,
}

impl SampleWindow {
    /// Adds a sample to the window. If the sample ends the window and the window has enough samples, returns their
    /// mean. Returns `None` in all other cases.
    pub(crate) fn add(&mut self, now: Instant, sample: &Sample) -> Option<Sample> {
        if sample.rtt < QUICKEST {
            return None;
        }
        let shortest = self.shortest.map_or(sample.rtt, |shortest| shortest.min(sample.rtt));
        self.shortest = Some(shortest);
        self.count = self.count.saturating_add(1);
        self.sum_nanos = self.sum_nanos.saturating_add(whole_nanos(sample.rtt));
        self.in_flight = self.in_flight.max(sample.in_flight);
        self.dropped |= sample.dropped;
        if now <= self.ends {
            return None;
        }
        let ends = now + shortest.saturating_mul(2).max(MIN_WINDOW).min(MAX_WINDOW);
        let over = std::mem::replace(self, Self { ends, ..Self::default() });
        (over.count >= FEWEST).then(|| Sample {
            rtt: Duration::from_nanos(over.sum_nanos / u64::from(over.count)),
            in_flight: over.in_flight,
            dropped: over.dropped,
            op: sample.op,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rtt: Duration, in_flight: u32) -> Sample {
        Sample { rtt, in_flight, dropped: false, op: 0 }
    }

    fn filled(count: u32) -> SampleWindow {
        let mut window = SampleWindow::default();
        assert_eq!(window.add(Instant::from_nanos(1), &sample(QUICKEST, 1)), None, "one is too few");
        for _ in 0..count {
            assert_eq!(window.add(Instant::from_millis(900), &sample(Duration::from_millis(500), 7)), None);
        }
        window
    }

    #[test]
    fn the_mean_is_of_all_samples_cut_to_whole_nanoseconds() {
        // The rule of `ImmutableAverageSampleWindowTest`: (5000 + 500 + 10 + 5000) / 4; a drop does not change the
        // mean.
        let mut window = filled(0);
        for (micros, dropped) in [(5000, false), (500, false), (110, false), (5000, true)].repeat(3) {
            let sample = Sample { dropped, ..sample(Duration::from_micros(micros), 1) };
            assert_eq!(window.add(Instant::from_millis(900), &sample), None);
        }
        let mean = window.add(Instant::from_millis(1002), &sample(Duration::from_nanos(100_001), 1)).unwrap();
        assert_eq!(mean.rtt, Duration::from_nanos((3 * 10_610_000 + 100_001) / 13));
        assert!(mean.dropped);
    }

    #[test]
    fn a_window_ends_after_a_second_with_the_next_sample() {
        let mut window = filled(8);
        let at_its_end = Instant::from_nanos(1_000_000_001);
        assert_eq!(window.add(at_its_end, &sample(Duration::from_millis(500), 3)), None);
        let mean =
            window.add(Instant::from_nanos(1_000_000_002), &sample(Duration::from_millis(600), 3)).unwrap();
        assert_eq!(mean, sample(Duration::from_millis(510), 7));
        assert_eq!(window.add(Instant::from_millis(2000), &sample(QUICKEST, 1)), None);
    }

    #[test]
    fn a_window_with_too_few_samples_is_thrown_away() {
        let mut window = filled(8);
        assert_eq!(window.add(Instant::from_millis(1500), &sample(QUICKEST, 1)), None);
        for _ in 0..9 {
            assert_eq!(window.add(Instant::from_millis(2500), &sample(QUICKEST, 1)), None);
        }
        assert!(window.add(Instant::from_millis(2501), &sample(QUICKEST, 1)).is_some());
    }

    #[test]
    fn what_is_quicker_than_100_us_is_no_sample() {
        let mut window = filled(9);
        let quick = Sample { dropped: true, ..sample(Duration::from_nanos(99_999), 900) };
        assert_eq!(window.add(Instant::from_millis(1500), &quick), None);
        let mean = window.add(Instant::from_millis(1500), &sample(Duration::from_millis(500), 1)).unwrap();
        assert_eq!(mean, sample(Duration::from_millis(500), 7));
    }
}
