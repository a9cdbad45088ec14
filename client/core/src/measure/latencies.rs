//! Latencies in a histogram of fixed size: microseconds, three significant digits, up to a day.

use std::time::Duration;

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::Serialize;
use vocabulary::Instant;

/// A day, in microseconds. Without an upper bound `Histogram` would clamp silently at its first size.
const LONGEST_US: u64 = 86_400_000_000;

/// A histogram of durations. Longer ones than a day count as a day.
#[derive(Clone, Debug)]
pub struct Latencies(Histogram<u64>);

impl Default for Latencies {
    fn default() -> Self {
        Self(
            Histogram::new_with_bounds(1, LONGEST_US, 3).expect("the bounds are constants that are accepted"),
        )
    }
}

impl Latencies {
    /// Records one.
    pub fn record(&mut self, latency: Duration) {
        // Below a microsecond counts as zero, which the histogram keeps apart.
        self.0.saturating_record(micros(latency));
    }

    /// Records the time from one instant to another: like [`record`](Self::record), and cheaper, because nanoseconds
    /// need not be split into seconds and the rest.
    pub fn record_between(&mut self, from: Instant, to: Instant) {
        self.0.saturating_record(to.as_nanos().saturating_sub(from.as_nanos()) / 1000);
    }

    /// Adds everything recorded in `other`.
    pub fn merge(&mut self, other: &Self) {
        self.0.add(&other.0).expect("both have the same bounds");
    }

    /// Makes this a copy of `other` without allocating.
    pub fn copy_from(&mut self, other: &Self) {
        self.0.reset();
        self.merge(other);
    }

    /// How many were recorded.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The duration below or at which this share (0 to 1) of what was recorded lies; zero when nothing was.
    pub fn quantile(&self, share: f64) -> Duration {
        Duration::from_micros(self.0.value_at_quantile(share))
    }

    /// The longest.
    pub fn max(&self) -> Duration {
        Duration::from_micros(self.0.max())
    }

    /// The histogram itself, in microseconds.
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.0
    }

    /// How many lie between two durations, both included (at the histogram's resolution).
    pub fn count_between(&self, low: Duration, high: Duration) -> u64 {
        self.0.count_between(micros(low), micros(high))
    }

    /// The figures of the result file.
    pub fn figures(&self) -> LatencyFigures {
        let ms = |share| (self.count() > 0).then(|| self.0.value_at_quantile(share) as f64 / 1e3);
        let exact = |us: f64| (self.count() > 0).then_some(us / 1e3);
        LatencyFigures {
            count: self.count(),
            min: exact(self.0.min() as f64),
            mean: exact(self.0.mean()),
            stdev: exact(self.0.stdev()),
            p50: ms(0.5),
            p75: ms(0.75),
            p90: ms(0.9),
            p95: ms(0.95),
            p99: ms(0.99),
            p999: ms(0.999),
            max: exact(self.0.max() as f64),
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Latency figures in milliseconds; null when nothing was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
#[expect(missing_docs, reason = "the fields are the figures' own names")]
pub struct LatencyFigures {
    pub count: u64,
    pub min: Option<f64>,
    pub mean: Option<f64>,
    pub stdev: Option<f64>,
    pub p50: Option<f64>,
    pub p75: Option<f64>,
    pub p90: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    pub p999: Option<f64>,
    pub max: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_in_milliseconds_and_null_when_empty() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.figures(), LatencyFigures::default());
        for ms in 1..=100 {
            latencies.record(Duration::from_millis(ms));
        }
        let figures = latencies.figures();
        assert_eq!(figures.count, 100);
        assert!((figures.p50.unwrap() - 50.0).abs() < 0.1, "{figures:?}");
        assert!((figures.mean.unwrap() - 50.5).abs() < 0.1, "{figures:?}");
        assert!((figures.max.unwrap() - 100.0).abs() < 0.1, "{figures:?}");
    }

    #[test]
    fn what_is_too_long_counts_as_a_day_and_is_not_lost() {
        let mut latencies = Latencies::default();
        latencies.record(Duration::MAX);
        latencies.record(Duration::ZERO);
        latencies.record_between(Instant::ORIGIN, Instant::FAR_FUTURE);
        latencies.record_between(Instant::from_millis(1), Instant::ORIGIN);
        assert_eq!(latencies.count(), 4);
        assert!(latencies.max() >= Duration::from_hours(23));
    }
}
