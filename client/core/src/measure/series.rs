//! Time series of a run, in at most 600 buckets of equal width. When a run would need more buckets, their width
//! doubles.

use std::time::Duration;

use tailback::GaugeKind;
use vocabulary::Instant;

use super::counts::AttemptCounts;

pub const SERIES_POINTS: usize = 600;

const NARROWEST_NANOS: u64 = 10_000_000;

/// Counts and gauges over time, in buckets that are 10 ms · 2^k wide. If there would be more than [`SERIES_POINTS`]
/// buckets, they are merged in pairs. The counts of a pair add up. A gauge keeps its last value, minimum and maximum.
#[derive(Clone, Debug)]
pub struct Series {
    width_nanos: u64,
    points: Vec<Point>,
    /// Gauges whose names are defined by strategies or by the server's rate limit. Each gauge has one value for every
    /// point. Strategies define at most [`MAX_DRAWN`](tailback::MAX_DRAWN) of these gauges.
    drawn: Vec<DrawnGauge>,
    /// Bucket that was used last: its start, in nanoseconds, and its index. It is stored, because most events fall into
    /// the same bucket as the event before.
    latest: (u64, usize),
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    pub sent: u32,
    pub succeeded: u32,
    pub rejected: u32,
    pub failed: u32,
    pub in_flight: Gauge,
    /// Sum of the windows (limits on attempts in flight) of all clients.
    pub window: Gauge,
    /// Sum of the slow-start thresholds of all clients.
    pub ssthresh: Gauge,
    /// Number of busy slots, as reported by the server's answers.
    pub server_busy: Gauge,
    /// Concurrency cap, as reported by the server's answers. If there is no cap on all requests, it is the cap on
    /// requests with the same key as the answered request.
    pub server_cap: Gauge,
}

#[derive(Clone, Debug)]
pub struct DrawnGauge {
    pub kind: &'static GaugeKind,
    /// One value for every point of the series, summed over clients.
    pub values: Vec<Gauge>,
}

/// Last, smallest and largest value of a gauge in a bucket. Each is NaN until the gauge is first set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gauge {
    pub last: f32,
    pub min: f32,
    pub max: f32,
}

impl Default for Gauge {
    fn default() -> Self {
        Self { last: f32::NAN, min: f32::NAN, max: f32::NAN }
    }
}

impl Gauge {
    pub fn value(self) -> Option<f64> {
        (!self.last.is_nan()).then_some(f64::from(self.last))
    }

    #[expect(clippy::cast_possible_truncation, reason = "seven digits are enough for a picture")]
    pub fn set(&mut self, value: f64) {
        let value = value as f32;
        self.last = value;
        if value.is_nan() {
            return;
        }
        // The minimum and the maximum are updated by plain comparisons. A plain comparison also replaces NaN, and
        // compiles to one instruction. The functions `min` and `max` of floats take seven instructions.
        self.min = if self.min < value { self.min } else { value };
        self.max = if self.max > value { self.max } else { value };
    }

    fn carried(self) -> Self {
        Self { last: self.last, min: self.last, max: self.last }
    }

    fn merge_later(&mut self, later: Self) {
        if !later.last.is_nan() {
            self.last = later.last;
        }
        self.min = self.min.min(later.min);
        self.max = self.max.max(later.max);
    }
}

impl Point {
    fn carried(self) -> Self {
        Self {
            in_flight: self.in_flight.carried(),
            window: self.window.carried(),
            ssthresh: self.ssthresh.carried(),
            server_busy: self.server_busy.carried(),
            server_cap: self.server_cap.carried(),
            ..Self::default()
        }
    }

    fn merge_later(&mut self, later: Self) {
        self.sent += later.sent;
        self.succeeded += later.succeeded;
        self.rejected += later.rejected;
        self.failed += later.failed;
        self.in_flight.merge_later(later.in_flight);
        self.window.merge_later(later.window);
        self.ssthresh.merge_later(later.ssthresh);
        self.server_busy.merge_later(later.server_busy);
        self.server_cap.merge_later(later.server_cap);
    }
}

impl Default for Series {
    fn default() -> Self {
        Self {
            width_nanos: NARROWEST_NANOS,
            points: Vec::with_capacity(SERIES_POINTS),
            drawn: Vec::new(),
            latest: (0, usize::MAX),
        }
    }
}

impl Series {
    /// Returns the bucket of the series at `now`, for counting and setting gauges. `now` is never before the start of
    /// the series.
    pub fn at(&mut self, now: Instant) -> &mut Point {
        let (start, index) = self.latest;
        if now.as_nanos().wrapping_sub(start) < self.width_nanos && index < self.points.len() {
            return &mut self.points[index];
        }
        self.find(now)
    }

    #[cold]
    fn find(&mut self, now: Instant) -> &mut Point {
        let mut index = self.index(now);
        while index >= SERIES_POINTS {
            self.halve();
            index = self.index(now);
        }
        if self.points.len() <= index {
            let carried = self.points.last().copied().unwrap_or_default().carried();
            self.points.resize(index + 1, carried);
            for drawn in &mut self.drawn {
                let carried = drawn.values.last().copied().unwrap_or_default().carried();
                drawn.values.resize(self.points.len(), carried);
            }
        }
        self.latest = (index as u64 * self.width_nanos, index);
        &mut self.points[index]
    }

    pub fn draw(&mut self, now: Instant, kind: &'static GaugeKind, value: f64) {
        self.at(now);
        let (_, bucket) = self.latest;
        let index = self.drawn.iter().position(|drawn| drawn.kind == kind).unwrap_or_else(|| {
            let mut values = Vec::with_capacity(SERIES_POINTS);
            values.resize(self.points.len(), Gauge::default());
            self.drawn.push(DrawnGauge { kind, values });
            self.drawn.len() - 1
        });
        self.drawn[index].values[bucket].set(value);
    }

    pub fn drawn(&self) -> &[DrawnGauge] {
        &self.drawn
    }

    pub fn width(&self) -> Duration {
        Duration::from_nanos(self.width_nanos)
    }

    /// Returns whether buckets can have the width `nanos`, in nanoseconds of experiment time.
    pub fn is_width(nanos: u64) -> bool {
        nanos.is_multiple_of(NARROWEST_NANOS) && (nanos / NARROWEST_NANOS).is_power_of_two()
    }

    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Copies the series `other` into this one without allocating.
    pub fn copy_from(&mut self, other: &Self) {
        self.width_nanos = other.width_nanos;
        self.latest = other.latest;
        self.points.clear();
        self.points.extend_from_slice(&other.points);
        // Gauges that both series have are overwritten in place, so that their memory is not allocated again.
        self.drawn.truncate(other.drawn.len());
        for (index, drawn) in other.drawn.iter().enumerate() {
            match self.drawn.get_mut(index) {
                Some(own) => {
                    own.kind = drawn.kind;
                    own.values.clone_from(&drawn.values);
                }
                None => self.drawn.push(drawn.clone()),
            }
        }
    }

    #[must_use]
    pub fn at_most(&self, points: usize) -> Self {
        let mut merged = self.clone();
        while merged.points.len() > points.max(1) {
            merged.halve();
        }
        merged
    }

    pub fn totals(&self) -> AttemptCounts {
        let mut totals = AttemptCounts::default();
        for point in &self.points {
            totals.total += u64::from(point.sent);
            totals.succeeded += u64::from(point.succeeded);
            totals.rejected += u64::from(point.rejected);
            totals.failed += u64::from(point.failed);
        }
        totals
    }

    fn index(&self, now: Instant) -> usize {
        usize::try_from(now.as_nanos() / self.width_nanos).unwrap_or(usize::MAX)
    }

    fn halve(&mut self) {
        self.width_nanos *= 2;
        halve(&mut self.points, Point::merge_later);
        for drawn in &mut self.drawn {
            halve(&mut drawn.values, Gauge::merge_later);
        }
    }
}

fn halve<T: Copy>(values: &mut Vec<T>, merge_later: impl Fn(&mut T, T)) {
    let halved = values.len().div_ceil(2);
    for index in 0..halved {
        let mut merged = values[2 * index];
        if let Some(later) = values.get(2 * index + 1) {
            merge_later(&mut merged, *later);
        }
        values[index] = merged;
    }
    values.truncate(halved);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_double_and_lose_no_count() {
        let mut series = Series::default();
        for ms in 0..60_000 {
            let point = series.at(Instant::from_millis(ms));
            point.sent += 1;
            point.in_flight.set(ms as f64);
        }
        assert!(series.points().len() <= SERIES_POINTS);
        assert_eq!(series.width(), Duration::from_millis(160));
        assert_eq!(series.totals().total, 60_000);
        let thinned = series.at_most(50);
        assert!((25..=50).contains(&thinned.points().len()));
        assert_eq!((thinned.totals().total, thinned.at_most(0).points().len()), (60_000, 1));
        let first = series.points()[0];
        assert_eq!((first.in_flight.min, first.in_flight.last, first.in_flight.max), (0.0, 159.0, 159.0));
    }

    #[test]
    fn a_gauge_is_carried_over_buckets_in_which_nothing_happens() {
        let mut series = Series::default();
        series.at(Instant::ORIGIN).window.set(20.0);
        series.at(Instant::from_millis(55)).sent += 1;
        assert_eq!(series.points().len(), 6);
        assert_eq!(series.points()[3].window.value(), Some(20.0));
        assert_eq!(series.points()[3].server_busy.value(), None);
    }

    #[test]
    fn what_strategies_have_drawn_has_a_value_for_every_point() {
        const TOKENS: GaugeKind = GaugeKind { name: "tokens", unit: "" };
        let mut series = Series::default();
        series.at(Instant::ORIGIN).sent += 1;
        for ms in 30..60_000 {
            series.draw(Instant::from_millis(ms), &TOKENS, (60_000 - ms) as f64);
        }
        series.at(Instant::from_millis(70_000)).sent += 1;
        let [drawn] = series.drawn() else { panic!("one gauge") };
        assert_eq!(drawn.values.len(), series.points().len());
        let first = drawn.values[0];
        assert_eq!((first.max, first.last), (59_970.0, 59_841.0));
        assert_eq!(drawn.values.last().and_then(|last| last.value()), Some(1.0));
        let mut copy = Series::default();
        copy.copy_from(&series);
        assert_eq!(copy.drawn()[0].values, drawn.values);
    }

    #[test]
    fn a_run_of_many_years_still_fits() {
        let mut series = Series::default();
        series.at(Instant::ORIGIN).sent += 1;
        series.at(Instant::FAR_FUTURE).sent += 1;
        assert_eq!(series.totals().total, 2);
    }
}
