//! A time series resampled to the available columns: rates from counts, and ranges of gauges.

use loadgen_core::{DrawnGauge, Gauge, Point, Snapshot};

use crate::smoothing::{GaussianKernel, WAVES};
use crate::text::index;

/// Minimum width in seconds over which current rates are smoothed.
const RECENT_S: f64 = 1.0;

/// Time series of a run in buckets of equal width. All times are seconds of experiment time.
#[derive(Clone, Copy)]
pub(crate) struct Timeline<'a> {
    points: &'a [Point],
    pub(crate) drawn: &'a [DrawnGauge],
    width_s: f64,
    pub(crate) now_s: f64,
    /// Shortest op latency in seconds. It is an upper bound of the time between two successive waves of responses
    /// (responses that arrive together).
    wave_s: f64,
}

impl<'a> Timeline<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot) -> Self {
        Self {
            points: snapshot.series.points(),
            drawn: snapshot.series.drawn(),
            width_s: snapshot.series.width().as_secs_f64(),
            now_s: snapshot.now.as_secs_f64(),
            wave_s: match snapshot.op_latency.count() {
                0 => 0.0,
                _ => snapshot.op_latency.quantile(0.0).as_secs_f64(),
            },
        }
    }

    pub(crate) fn counter(&self, count: impl Fn(&Point) -> u32) -> Counter {
        let mut totals = Vec::with_capacity(self.points.len() + 1);
        let mut total = 0.0;
        totals.push(total);
        for point in self.points {
            total += f64::from(count(point));
            totals.push(total);
        }
        Counter { totals, width_s: self.width_s, now_s: self.now_s, wave_s: self.wave_s }
    }

    /// Returns the smallest and the largest value of a gauge between two times. A gauge keeps its last value until it
    /// is set again. Returns `None` if there is no value, or if the times lie in the future.
    pub(crate) fn gauge(&self, from_s: f64, to_s: f64, pick: impl Fn(&Point) -> Gauge) -> Option<(f64, f64)> {
        self.range(from_s, to_s, |bucket| pick(&self.points[bucket]))
    }

    pub(crate) fn range(&self, from_s: f64, to_s: f64, value: impl Fn(usize) -> Gauge) -> Option<(f64, f64)> {
        if from_s > self.now_s {
            return None;
        }
        let last = self.points.len().checked_sub(1)?;
        // The start is shifted by 1e-6 of a bucket. Without this shift, a rounding error could include the neighbouring
        // bucket.
        let first = index(from_s / self.width_s + 1e-6);
        if first > last {
            return value(last).value().map(|value| (value, value));
        }
        let end = index((to_s / self.width_s - 1e-6).ceil()).clamp(first + 1, last + 1);
        let mut range = (f64::NAN, f64::NAN);
        for bucket in first..end {
            let gauge = value(bucket);
            // The range (minimum, maximum) of the gauge starts as NaN. `min` and `max` ignore NaN: if one argument is
            // NaN, they return the other one.
            range = (range.0.min(f64::from(gauge.min)), range.1.max(f64::from(gauge.max)));
        }
        (!range.0.is_nan()).then_some(range)
    }

    pub(crate) fn latest(&self, pick: impl Fn(&Point) -> Gauge) -> Option<f64> {
        pick(self.points.last()?).value()
    }
}

/// Running totals of a counter. The rate between any two times is then the difference of two totals, divided by the
/// time.
pub(crate) struct Counter {
    totals: Vec<f64>,
    width_s: f64,
    now_s: f64,
    wave_s: f64,
}

impl Counter {
    /// Returns the number of events per second around the time `at_s`; `None` if this time lies in the future. The rate
    /// is smoothed over at least `least_s` seconds. It is also smoothed over several waves of responses, so that single
    /// waves do not appear as a beat.
    ///
    /// Close to the present, the later events for the smoothing are not known yet. The function then returns the rate
    /// of a moment earlier, smoothed in the same way.
    pub(crate) fn smoothed(&self, at_s: f64, least_s: f64) -> Option<f64> {
        if at_s > self.now_s || self.now_s <= 1e-9 {
            return None;
        }
        // The smoothing width is limited to a share of the elapsed time of the run, because smoothing over long waves
        // would blur a short run.
        let waves_s = (WAVES * self.wave_s).min(self.now_s / 4.0);
        let bell = GaussianKernel::new(least_s.max(waves_s).min(self.now_s / 2.0));
        let at_s = at_s.min(self.now_s - bell.reach());
        let (from_s, to_s) = (at_s - bell.reach(), at_s + bell.reach());
        let (first, last) = (index(from_s.max(0.0) / self.width_s), index(to_s / self.width_s));
        let mut sum = 0.0;
        for bucket in first..(last + 1).min(self.totals.len() - 1) {
            let count = self.totals[bucket + 1] - self.totals[bucket];
            let start_s = bucket as f64 * self.width_s;
            let width_s = self.width_of(bucket);
            sum += count * bell.between(start_s - at_s, start_s + width_s - at_s) / width_s;
        }
        // The smoothing kernel may reach back to a time before the start of the run, when nothing was counted. So the
        // sum is divided only by the kernel's weight after the start.
        Some(sum / bell.between(-at_s, f64::INFINITY))
    }

    pub(crate) fn now(&self) -> f64 {
        self.smoothed(self.now_s, RECENT_S).unwrap_or(0.0)
    }

    /// Returns events per second between two times, or `None` if the whole interval lies in the future. If only a part
    /// lies in the future, this part is left out, so that the newest, incomplete bucket does not look like a dip.
    pub(crate) fn rate(&self, from_s: f64, to_s: f64) -> Option<f64> {
        let (from_s, to_s) = (from_s.max(0.0), to_s.min(self.now_s));
        let seconds = to_s - from_s;
        (seconds > 1e-9).then(|| (self.before(to_s) - self.before(from_s)) / seconds)
    }

    pub(crate) fn recent_rate(&self, seconds: f64) -> f64 {
        self.rate(self.now_s - seconds, self.now_s).unwrap_or(0.0)
    }

    /// Returns the number of events before a time. The events of a bucket are assumed to be spread evenly over the
    /// bucket. The last bucket is incomplete and ends at the current time.
    fn before(&self, time_s: f64) -> f64 {
        let buckets = self.totals.len() - 1;
        let bucket = index(time_s / self.width_s);
        if bucket >= buckets {
            return self.totals[buckets];
        }
        let start_s = bucket as f64 * self.width_s;
        let share = ((time_s - start_s) / self.width_of(bucket)).min(1.0);
        self.totals[bucket] + (self.totals[bucket + 1] - self.totals[bucket]) * share
    }

    fn width_of(&self, bucket: usize) -> f64 {
        let so_far_s = self.now_s - bucket as f64 * self.width_s;
        let last = bucket + 2 == self.totals.len() && so_far_s > 0.0;
        if last { self.width_s.min(so_far_s) } else { self.width_s }
    }
}

#[cfg(test)]
mod tests {
    use vocabulary::Instant;

    use super::*;

    /// Creates 200 events per second for 1.005 s, in buckets of 10 ms, and a gauge that follows the clock.
    fn steady() -> Snapshot {
        let mut snapshot = Snapshot { now: Instant::from_millis(1_005), ..Snapshot::default() };
        for ms in (0..=1_000).step_by(5) {
            let point = snapshot.series.at(Instant::from_millis(ms));
            point.sent += 1;
            point.window.set(ms as f64);
        }
        snapshot
    }

    #[test]
    fn the_incomplete_last_bucket_is_no_dip() {
        let snapshot = steady();
        let sent = Timeline::new(&snapshot).counter(|point| point.sent);
        for (from, to) in [(0.0, 0.5), (0.5, 1.0), (0.9, 1.5), (0.995, 1.3)] {
            let rate = sent.rate(from, to).unwrap();
            assert!((rate - 200.0).abs() < 1.0, "{from} to {to}: {rate}");
        }
        assert_eq!(sent.rate(1.1, 1.2), None);
    }

    /// Creates 50 answers every 600 ms, each from an op that took 600 ms.
    fn waves(until_ms: u64) -> Snapshot {
        let mut snapshot = Snapshot { now: Instant::from_millis(until_ms), ..Snapshot::default() };
        for ms in (600..=until_ms).step_by(600) {
            snapshot.series.at(Instant::from_millis(ms)).succeeded += 50;
            snapshot.op_latency.record(std::time::Duration::from_millis(600));
        }
        snapshot
    }

    /// There is no spike at the end.
    #[test]
    fn responses_in_waves_have_a_steady_rate_at_every_moment() {
        for until_ms in (10_000..12_000).step_by(50) {
            let snapshot = waves(until_ms);
            let counter = Timeline::new(&snapshot).counter(|point| point.succeeded);
            for at_ms in (3_000..=until_ms).step_by(100) {
                let rate = counter.smoothed(at_ms as f64 / 1e3, 1.2).unwrap();
                assert!((rate - 83.3).abs() < 4.0, "{rate} at {at_ms} of {until_ms}");
            }
            assert!((counter.now() - 83.3).abs() < 4.0, "{}", counter.now());
        }
    }

    #[test]
    fn rates_do_not_depend_on_the_columns() {
        let snapshot = steady();
        let sent = Timeline::new(&snapshot).counter(|point| point.sent);
        let total: f64 =
            (0..7).map(|i| sent.rate(f64::from(i) * 0.15, f64::from(i + 1) * 0.15).unwrap()).sum();
        assert!((total / 7.0 - 200.0).abs() < 1.0, "{total}");
    }

    #[test]
    fn a_gauge_has_a_range_in_a_column_and_lasts_until_now() {
        let snapshot = Snapshot { now: Instant::from_millis(3_000), ..steady() };
        let timeline = Timeline::new(&snapshot);
        // A bucket starts with the value carried over from the previous one.
        assert_eq!(timeline.gauge(0.1, 0.2, |point| point.window), Some((95.0, 195.0)));
        assert_eq!(timeline.gauge(2.0, 2.1, |point| point.window), Some((1000.0, 1000.0)));
        assert_eq!(timeline.gauge(3.1, 3.2, |point| point.window), None);
        assert_eq!(timeline.gauge(0.1, 0.2, |point| point.ssthresh), None);
        assert_eq!(timeline.latest(|point| point.window), Some(1000.0));
    }

    #[test]
    fn nothing_has_no_rate() {
        let snapshot = Snapshot::default();
        let timeline = Timeline::new(&snapshot);
        assert_eq!(timeline.counter(|point| point.sent).rate(0.0, 1.0), None);
        assert_eq!(timeline.gauge(0.0, 1.0, |point| point.window), None);
    }
}
