//! Latencies: exact sums, and percentiles from all individual latencies or from a histogram of limited size.
//!
//! Percentiles of individual latencies and of the histogram follow the same rule. The p-th of n latencies in ascending
//! order is at the position p · (n − 1), counted from 0, with linear interpolation between positions. This rule is type
//! 7 of Hyndman and Fan, "Sample quantiles in statistical packages", The American Statistician 50, 1996, as in numpy
//! and R. The histogram (microseconds, three significant digits, up to a day) represents a latency by the middle of its
//! bucket, at most 0.05 % off. No percentile is outside the range from the shortest latency to the longest.

use std::borrow::Cow;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use vocabulary::{Instant, whole_nanos};

use super::bars::{self, LatencyBar};
use super::histogram::{self, MAX_US};
use super::radix;
use super::tally::LatencySums;

const SHARES: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

const CURVE: [f64; 32] = [
    0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9,
    0.925, 0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.9925, 0.995, 0.9975, 0.999, 0.9995, 0.9999,
];

/// Measured durations. In the histogram, durations longer than a day are recorded as a day.
#[derive(Clone, Debug)]
pub struct Latencies {
    tally: LatencySums,
    /// Histogram of the measured durations, in microseconds.
    histogram: Histogram<u64>,
    /// Individual latencies in nanoseconds, in ascending order except for those that are pending; `None` if some were not stored.
    exact: Option<Vec<u64>>,
    pending: Pending,
}

/// Durations that `tally` and `histogram` do not contain yet. They are added all at once, which takes less time than adding each when it is
/// measured.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    /// Number of durations of zero, unless they are stored. In virtual time every send lag is zero.
    zeros: u64,
    /// Number of stored latencies that the sums contain. All later ones are pending.
    settled: usize,
}

impl Default for Latencies {
    fn default() -> Self {
        Self {
            tally: LatencySums::default(),
            histogram: histogram::empty(),
            exact: None,
            pending: Pending::default(),
        }
    }
}

impl Latencies {
    /// Creates an empty collection of latencies that also stores each value, up to
    /// [`EXACT_LATENCIES`] values. Percentiles are exact up to that number.
    pub fn exact() -> Self {
        Self { exact: Some(Vec::new()), ..Self::default() }
    }

    pub fn record(&mut self, latency: Duration) {
        self.record_nanos(whole_nanos(latency));
    }

    #[inline]
    pub fn record_between(&mut self, from: Instant, to: Instant) {
        self.record_nanos(to.nanos_since(from));
    }

    #[inline]
    fn record_nanos(&mut self, nanos: u64) {
        if let Some(kept) = &mut self.exact {
            kept.push(nanos);
            if kept.len() > EXACT_LATENCIES {
                self.settle();
                (self.exact, self.pending) = Default::default();
            }
        } else if nanos == 0 {
            self.pending.zeros += 1;
        } else {
            self.add(nanos, 1);
        }
    }

    fn add(&mut self, nanos: u64, count: u64) {
        self.tally.record(nanos, count);
        // A duration of less than a microsecond is recorded as zero, for which the histogram has a separate bucket.
        histogram::record(&mut self.histogram, nanos / 1000, count, MAX_US);
    }

    /// Adds what is pending to the sums and the histogram, and sorts the stored latencies once, because otherwise each figure would sort a
    /// copy of them.
    pub(super) fn settle(&mut self) {
        let zeros = std::mem::take(&mut self.pending.zeros);
        self.add_zeros(zeros);
        let mut exact = std::mem::take(&mut self.exact);
        if let Some(kept) = &mut exact {
            let pending = &mut kept[self.pending.settled..];
            radix::sort(pending);
            self.add_sorted(pending);
            if !kept.is_sorted() {
                kept.sort_unstable();
            }
            self.pending.settled = kept.len();
        }
        self.exact = exact;
    }

    fn add_zeros(&mut self, zeros: u64) {
        if zeros > 0 {
            self.add(0, zeros);
        }
    }

    /// Adds latencies, in ascending order, to the sums and the histogram. All latencies of a bucket of the histogram are added at once.
    fn add_sorted(&mut self, mut sorted: &[u64]) {
        for nanos in sorted {
            self.tally.record(*nanos, 1);
        }
        while let Some(first) = sorted.first() {
            let last =
                self.histogram.highest_equivalent(first / 1000).saturating_mul(1000).saturating_add(999);
            let count = sorted.iter().take_while(|nanos| **nanos <= last).count();
            histogram::record(&mut self.histogram, first / 1000, count as u64, MAX_US);
            sorted = &sorted[count..];
        }
    }

    /// Returns these latencies with nothing pending.
    fn settled(&self) -> Cow<'_, Self> {
        if self.count() == self.tally.count {
            return Cow::Borrowed(self);
        }
        let mut settled = self.clone();
        settled.settle();
        Cow::Owned(settled)
    }

    /// Adds all latencies recorded in `other`. Percentiles of the result are exact only if they were exact for both
    /// `self` and `other`.
    pub fn merge(&mut self, other: &Self) {
        self.settle();
        let other = other.settled();
        self.tally.add(&other.tally);
        self.histogram += &other.histogram;
        let both = self.exact.take().zip(other.exact.as_deref());
        self.exact = both.filter(|(own, others)| own.len() + others.len() <= EXACT_LATENCIES).map(
            |(mut own, others)| {
                own.extend(others);
                #[expect(clippy::stable_sort_primitive, reason = "it merges two sorted sequences")]
                own.sort();
                own
            },
        );
        self.pending.settled = self.exact.as_ref().map_or(0, Vec::len);
    }

    /// Copies the sums and the histogram of `other` without allocating. Individual latencies are not copied.
    pub fn copy_from(&mut self, other: &Self) {
        self.tally = other.tally;
        histogram::copy(&other.histogram, &mut self.histogram);
        (self.exact, self.pending) = Default::default();
        self.add_zeros(other.pending.zeros);
        for nanos in other.exact.iter().flat_map(|kept| &kept[other.pending.settled..]) {
            self.add(*nanos, 1);
        }
    }

    pub fn count(&self) -> u64 {
        let stored = self.exact.as_ref().map_or(0, |kept| kept.len() - self.pending.settled);
        self.tally.count + self.pending.zeros + stored as u64
    }

    /// Returns the quantile `share` (0 to 1): the duration at or below which this share of the latencies lies. Zero if
    /// there are no latencies.
    pub fn quantile(&self, share: f64) -> Duration {
        let nanos = self.settled().quantiles([share]).map_or(0.0, |[nanos]| nanos);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the rank is within the recorded values"
        )]
        Duration::from_nanos(nanos.round() as u64)
    }

    fn quantiles_ms<const N: usize>(&self, shares: [f64; N]) -> Option<[f64; N]> {
        self.settled().quantiles(shares).map(|nanos| nanos.map(|nanos| nanos / 1e6))
    }

    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.settled().tally.max_nanos)
    }

    /// Returns the histogram in microseconds, with the fixed range that results documents use.
    pub fn histogram(&self) -> Histogram<u64> {
        histogram::with_bound(&self.settled().histogram, MAX_US)
    }

    pub fn sums(&self) -> LatencySums {
        self.settled().tally
    }

    /// Restores latencies from their sums and their histogram in microseconds; `None` if the sums and the histogram
    /// contradict each other.
    pub fn restored(sums: &LatencySums, histogram: Histogram<u64>) -> Option<Self> {
        let histogram = histogram::restored(histogram, MAX_US)?;
        let is_sound = sums.count == 0 || sums.min_nanos <= sums.max_nanos;
        (histogram.len() == sums.count && is_sound).then(|| Self {
            tally: *sums,
            histogram,
            ..Self::default()
        })
    }

    /// Returns the cumulative distribution for plots. Each pair has a share (0 to 1) and the milliseconds at or below
    /// which that share of the latencies lies. Milliseconds are rounded to three decimal places. Empty if nothing was
    /// recorded.
    pub fn curve(&self) -> Vec<[f64; 2]> {
        let values = self.quantiles_ms(CURVE).into_iter().flatten();
        CURVE.into_iter().zip(values).map(|(share, ms)| [share, (ms * 1e3).round() / 1e3]).collect()
    }

    /// Returns a histogram with a few bars, from the shortest latency to the longest.
    pub fn bars(&self) -> Vec<LatencyBar> {
        let settled = self.settled();
        let [min, max] = [settled.tally.min_nanos, settled.tally.max_nanos].map(|nanos| nanos.div_ceil(1000));
        let values: Vec<_> = histogram::recorded(&settled.histogram)
            .map(|(middle, count)| (middle.clamp(min, max), count))
            .collect();
        bars::bars(&values)
    }

    /// Returns the latencies that were recorded since `earlier`, an older copy of `self`, was made. Each pair has a
    /// latency in microseconds, to three digits, and its count. Pairs are in ascending order.
    pub fn recorded_since(&self, earlier: &Self) -> Vec<(u64, u64)> {
        histogram::recorded_since(&self.settled().histogram, &earlier.settled().histogram)
    }

    /// Returns the number of latencies between two durations, both included (at the histogram's resolution).
    pub fn count_between(&self, low: Duration, high: Duration) -> u64 {
        let micros = |duration: Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let histogram = &self.settled().histogram;
        // The range is checked first, because for a larger value a histogram returns the count of its last bucket.
        if micros(low) > histogram.max() { 0 } else { histogram.count_between(micros(low), micros(high)) }
    }

    pub fn figures(&self) -> LatencyFigures {
        let settled = self.settled();
        let Some(percentiles) = settled.quantiles(SHARES) else {
            return LatencyFigures::default();
        };
        let [p50, p75, p90, p95, p99, p999] = percentiles.map(|nanos| Some(nanos / 1e6));
        let tally = settled.tally;
        let deviation = settled.exact.as_deref().map_or_else(|| tally.deviation(), deviation);
        let LatencySums { count, min_nanos, max_nanos, .. } = tally;
        let [min, mean, stdev, max] =
            [min_nanos as f64, tally.mean(), deviation, max_nanos as f64].map(|nanos| Some(nanos / 1e6));
        LatencyFigures { count, min, mean, stdev, p50, p75, p90, p95, p99, p999, max }
    }

    /// Returns the quantiles for `shares`, in the order of `shares` and in nanoseconds. They are exact if all latencies are stored. Nothing
    /// may be pending. `None` if nothing was recorded.
    fn quantiles<const N: usize>(&self, shares: [f64; N]) -> Option<[f64; N]> {
        if self.tally.count == 0 {
            return None;
        }
        let places = shares.map(|share| Neighbours::new(share, self.tally.count));
        if let Some(sorted) = &self.exact {
            return Some(places.map(|place| place.between(|index| sorted[index])));
        }
        let mut ranks: Vec<u64> = places.iter().flat_map(|place| [place.below, place.above]).collect();
        ranks.sort_unstable();
        let known = self.at_ranks(&ranks);
        let value = |rank: usize| {
            let index = ranks.partition_point(|there| *there < rank as u64);
            known[index]
        };
        Some(places.map(|place| place.between(value)))
    }

    /// Returns, in nanoseconds, the latency at each of the given ranks, to the precision of the histogram. Ranks are
    /// counted from 0 and are in ascending order.
    fn at_ranks(&self, ranks: &[u64]) -> Vec<u64> {
        let mut known = Vec::with_capacity(ranks.len());
        let mut seen = 0;
        for (middle, count) in histogram::recorded(&self.histogram) {
            seen += count;
            let value = middle.saturating_mul(1000).clamp(self.tally.min_nanos, self.tally.max_nanos);
            while ranks.get(known.len()).is_some_and(|rank| *rank < seen) {
                known.push(value);
            }
        }
        known.resize(ranks.len(), self.tally.max_nanos);
        known
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, expecting = "an object")]
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

impl LatencyFigures {
    /// Names of the values of [`upper`](Self::upper).
    pub const UPPER: [&str; 7] = ["p50", "p75", "p90", "p95", "p99", "p99.9", "max"];

    /// Returns the median, the percentiles above it, and the maximum, in milliseconds.
    pub fn upper(&self) -> [Option<f64>; 7] {
        [self.p50, self.p75, self.p90, self.p95, self.p99, self.p999, self.max]
    }
}

/// Maximum number of individual latencies that are stored per kind of latency. With more latencies only the histogram
/// is used.
pub const EXACT_LATENCIES: usize = 1_000_000;

/// Returns the standard deviation (divisor n) of sorted latencies, in nanoseconds.
fn deviation(sorted: &[u64]) -> f64 {
    let count = sorted.len() as f64;
    let mean = sorted.iter().map(|nanos| u128::from(*nanos)).sum::<u128>() as f64 / count;
    let squares: f64 = sorted.iter().map(|nanos| (*nanos as f64 - mean) * (*nanos as f64 - mean)).sum();
    (squares / count).sqrt()
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Neighbours {
    /// Indices, counted from 0, of the two sorted values between which the quantile lies. Both indices are equal if the
    /// quantile is the last value.
    below: u64,
    above: u64,
    /// Position of the quantile between the two values: 0 at the lower value, 1 at the upper value.
    way: f64,
}

impl Neighbours {
    /// Returns the position of the quantile `share` (0 to 1) among `count` sorted values, of which there must be at
    /// least one.
    fn new(share: f64, count: u64) -> Self {
        let last = count.saturating_sub(1);
        let position = share * last as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the rank of a value fits"
        )]
        let below = (position as u64).min(last);
        Self { below, above: (below + 1).min(last), way: position - below as f64 }
    }

    fn between(self, value: impl Fn(usize) -> u64) -> f64 {
        let at = |place: u64| value(usize::try_from(place).unwrap_or(usize::MAX)) as f64;
        let (low, high) = (at(self.below), at(self.above));
        low + (high - low) * self.way
    }
}

#[cfg(test)]
mod tests {

    use proptest::prelude::*;

    use super::*;

    fn recorded(mut latencies: Latencies, micros: &[u64]) -> Latencies {
        for us in micros {
            latencies.record(Duration::from_micros(*us));
        }
        latencies
    }

    #[test]
    fn figures_are_in_milliseconds_and_null_when_empty() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.figures(), LatencyFigures::default());
        for ms in 1..=100 {
            latencies.record(Duration::from_millis(ms));
        }
        let figures = latencies.figures();
        assert_eq!(
            (figures.count, figures.min, figures.mean, figures.max),
            (100, Some(1.0), Some(50.5), Some(100.0))
        );
        assert!((figures.p50.unwrap() - 50.5).abs() < 0.03, "{figures:?}");
    }

    #[test]
    fn the_histogram_reports_equal_latencies_exactly() {
        let figures = recorded(Latencies::default(), &[600_000; 7]).figures();
        let told = [figures.min, figures.mean, figures.p50, figures.p99, figures.p999, figures.max];
        assert_eq!(told, [Some(600.0); 6]);
        assert_eq!(figures.stdev, Some(0.0));
    }

    #[test]
    fn all_that_was_kept_is_exact_until_there_are_too_many() {
        let mut latencies = recorded(Latencies::exact(), &[4000, 1000, 3000, 2000]);
        let figures = latencies.figures();
        assert_eq!((figures.p50, figures.p75, figures.p999), (Some(2.5), Some(3.25), Some(3.997)));
        let other = recorded(Latencies::exact(), &[599_999]);
        latencies.merge(&other);
        assert_eq!(latencies.quantile(1.0), Duration::from_micros(599_999));
        assert_eq!(latencies.quantile(0.5), Duration::from_millis(3));
        latencies.merge(&recorded(Latencies::default(), &[123_456]));
        assert_eq!(latencies.figures().max, Some(599.999));
        assert_ne!(
            latencies.quantile(0.8),
            Duration::from_micros(123_456),
            "the histogram is what both have"
        );
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
        assert!(latencies.quantile(0.7) >= Duration::from_hours(23));
    }

    proptest! {
        #[test]
        fn histogram_percentiles_are_exact_within_half_a_bucket(
            micros in prop::collection::vec(prop_oneof![0..3000_u64, 0..10_000_000_u64], 1..200),
            share in 0.0..=1.0_f64,
        ) {
            let exact = recorded(Latencies::exact(), &micros);
            let bucketed = recorded(Latencies::default(), &micros);
            let (there, here) = (exact.quantiles_ms([share]).unwrap()[0], bucketed.quantiles_ms([share]).unwrap()[0]);
            prop_assert!((there - here).abs() <= there * 0.0005 + 1e-9, "{there} {here}");
            let (all, same) = (exact.figures(), bucketed.figures());
            prop_assert_eq!((all.count, all.min, all.mean, all.max), (same.count, same.min, same.mean, same.max));
            prop_assert!((all.stdev.unwrap() - same.stdev.unwrap()).abs() <= 1e-9 * all.max.unwrap());
            for value in [same.p50, same.p75, same.p90, same.p95, same.p99, same.p999] {
                prop_assert!(same.min <= value && value <= same.max, "{:?}", same);
            }
        }
    }

    #[test]
    fn too_many_latencies_are_not_kept() {
        let few = recorded(Latencies::exact(), &[2, 1]);
        let mut many = few.clone();
        (0..EXACT_LATENCIES).for_each(|_| many.record(Duration::from_micros(1)));
        assert!(few.exact.is_some() && many.exact.is_none());
        assert_eq!(
            (many.count(), many.sums().count),
            (EXACT_LATENCIES as u64 + 2, EXACT_LATENCIES as u64 + 2)
        );
        let mut both = few.clone();
        both.merge(&many);
        assert!(both.exact.is_none());
        assert_eq!(both.count(), EXACT_LATENCIES as u64 + 4);
    }

    #[test]
    fn what_is_pending_is_in_every_figure() {
        for new in [Latencies::default, Latencies::exact] {
            let pending = recorded(new(), &[0, 7, 3000, 0]);
            let mut settled = pending.clone();
            settled.settle();
            let mut copy = Latencies::default();
            copy.copy_from(&pending);
            for other in [&settled, &copy] {
                assert_eq!((pending.count(), pending.sums(), pending.max()), (4, other.sums(), other.max()));
                assert_eq!(pending.histogram(), other.histogram());
            }
            assert_eq!(pending.figures(), settled.figures());
        }
    }

    #[test]
    fn a_percentile_is_interpolated_between_its_neighbours() {
        assert_eq!(Neighbours::new(0.5, 4), Neighbours { below: 1, above: 2, way: 0.5 });
        assert_eq!(Neighbours::new(1.0, 4), Neighbours { below: 3, above: 3, way: 0.0 });
        assert_eq!(Neighbours::new(0.0, 1), Neighbours { below: 0, above: 0, way: 0.0 });
    }
}
