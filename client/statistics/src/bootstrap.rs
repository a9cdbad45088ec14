//! Bias-corrected and accelerated bootstrap (BCa): confidence intervals without assumptions about the shape of the
//! distribution.
//!
//! Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 14. The ends of the interval are
//! percentiles of the resampled statistics. These percentiles are corrected by a bias z0 and by an acceleration a. The
//! bias is the distance of the observed statistic from the median of the resampled statistics. The acceleration is the
//! change of the statistic's error with its value, estimated by the jackknife.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::level::{Estimator, Interval, Level};
use crate::percentile::{percentile, percentile_unsorted};
use crate::{moments, normal};

/// Resampled statistics of one sample. Intervals at any level can be computed from them without another resampling.
#[derive(Clone, Debug)]
pub struct Bootstrap {
    /// Resampled statistics in ascending order. All are finite, and there is at least one.
    sorted: Vec<f64>,
    correction: Correction,
}

#[derive(Clone, Copy, Debug)]
struct Correction {
    /// Bias z0 of the bootstrap, in standard normal units.
    bias: f64,
    /// Acceleration a of the bootstrap, without unit.
    acceleration: f64,
}

/// Resampled means of one sample, for a single interval. Fast path: skips sorting the means, because the two
/// percentiles that are needed can be selected without sorting.
pub(crate) struct ResampledMeans {
    /// Resampled means of the sample. All are finite, and there is at least one.
    drawn: Vec<f64>,
    correction: Correction,
}

impl Bootstrap {
    /// Resamples any statistic of the values. The same seed gives the same figures on every machine.
    ///
    /// Returns `None` if there are fewer than two values or no resamples, or if the statistic of a resample is not
    /// finite. Also returns `None` if the observed statistic lies outside the range of the resampled statistics,
    /// because its bias is then infinite.
    pub fn new(
        values: &[f64],
        statistic: impl Fn(&[f64]) -> f64,
        resamples: usize,
        seed: u64,
    ) -> Option<Self> {
        if values.len() < 2 {
            return None;
        }
        let mut sample = values.to_vec();
        let drawn = resample(values, resamples, seed, |picks| {
            sample.iter_mut().zip(picks).for_each(|(slot, pick)| *slot = pick);
            statistic(&sample)
        });
        let acceleration = || {
            let left_one_out: Vec<f64> = (0..values.len())
                .map(|left_out| statistic(&[&values[..left_out], &values[left_out + 1..]].concat()))
                .collect();
            acceleration(&left_one_out)
        };
        let correction = Correction::new(&drawn, statistic(values), acceleration)?;
        Some(Self::sorted(ResampledMeans { drawn, correction }))
    }

    /// Resamples the mean of the values. Fast path: draws the same samples as [`Bootstrap::new`], but does not copy
    /// them.
    pub fn of_mean(values: &[f64], resamples: usize, seed: u64) -> Option<Self> {
        ResampledMeans::of_each(&[values], resamples, seed).pop()?.map(Self::sorted)
    }

    fn sorted(ResampledMeans { mut drawn, correction }: ResampledMeans) -> Self {
        drawn.sort_unstable_by(f64::total_cmp);
        Self { sorted: drawn, correction }
    }

    /// Returns the bootstrap confidence interval at the given level. The interval's width is zero if all values of the
    /// sample are equal.
    ///
    /// The ends of the interval stay within the range of the resampled statistics. A level whose error is near 1 /
    /// resamples therefore cannot be reached.
    pub fn interval(&self, level: Level) -> Interval {
        self.correction.interval(level, |share| percentile(&self.sorted, share))
    }

    /// Returns the two-sided p value (0 to 1) of the hypothesis that the statistic equals `claim`.
    ///
    /// The p value is the error of the narrowest interval that still includes `claim`. The p value is never below about
    /// 2 / resamples.
    pub fn p_value(&self, claim: f64) -> f64 {
        let below = self.sorted.partition_point(|statistic| *statistic < claim);
        let up_to = self.sorted.partition_point(|statistic| *statistic <= claim);
        let last = self.sorted.len() - 1;
        // The p value of `claim` depends on the position of `claim` among the sorted statistics. If some statistics
        // equal `claim`, its position may be the position of any of them. If none do, its position lies between its two
        // neighbours.
        let (low, high) = if below < up_to {
            (below as f64, (up_to - 1) as f64)
        } else if below == 0 || below > last {
            (below as f64, below as f64)
        } else {
            let (left, right) = (self.sorted[below - 1], self.sorted[below]);
            let place = (below - 1) as f64 + (claim - left) / (right - left);
            (place, place)
        };
        let one_sided = |place: f64| self.unmoved(place / last.max(1) as f64);
        (2.0 * one_sided(high).min(1.0 - one_sided(low))).clamp(0.0, 1.0)
    }

    /// Inverts the correction for bias and acceleration. Returns the error for which [`Bootstrap::interval`] uses this
    /// share of the resampled statistics as its end.
    fn unmoved(&self, share: f64) -> f64 {
        let finest = 1.0 / (self.sorted.len() + 1) as f64;
        let Correction { bias, acceleration } = self.correction;
        let moved = normal::quantile(share.clamp(finest, 1.0 - finest)) - bias;
        let stretch = 1.0 + acceleration * moved;
        let z = if stretch > 0.0 { moved / stretch } else { f64::INFINITY.copysign(moved) };
        normal::share_below(z - bias)
    }
}

impl ResampledMeans {
    /// Resamples the mean of each list with the same random draws as [`Bootstrap::of_mean`]. All lists must have the
    /// same length.
    pub(crate) fn of_each(lists: &[&[f64]], resamples: usize, seed: u64) -> Vec<Option<Self>> {
        let length = lists.first().map_or(0, |values| values.len());
        if length < 2 {
            return lists.iter().map(|_| None).collect();
        }
        let observed: Vec<f64> = lists.iter().map(|values| moments::mean(values)).collect();
        // Resample the distances of the values from their mean, not the values themselves. If all values are equal, all
        // distances are 0, so every resampled mean is exactly the mean of the values.
        let distances = |(values, mean): (&&[f64], &f64)| values.iter().map(|value| value - mean).collect();
        let distances: Vec<Vec<f64>> = lists.iter().zip(&observed).map(distances).collect();
        // Fast path: a list of equal values is not resampled, because every resample has the same mean.
        let vary = |list: &&[f64]| list.iter().any(|distance| *distance != 0.0);
        let varying: Vec<&[f64]> = distances.iter().map(Vec::as_slice).filter(vary).collect();
        let mut means = means(&varying, length, resamples, seed).into_iter();
        let of = |(distances, mean): (&Vec<f64>, f64)| {
            let drawn = if vary(&distances.as_slice()) { means.next() } else { None };
            let drawn = drawn.unwrap_or_else(|| vec![0.0; resamples]);
            let drawn: Vec<f64> = drawn.into_iter().map(|distance| mean + distance).collect();
            // For the acceleration, each value is left out once (jackknife). Without the value, the mean moves away
            // from it, in proportion to the value's distance from the mean. The factor of proportionality cancels out
            // in the acceleration, because it is the same for all values.
            let left_out = || acceleration(&distances.iter().map(|distance| -distance).collect::<Vec<_>>());
            Some(Self { correction: Correction::new(&drawn, mean, left_out)?, drawn })
        };
        distances.iter().zip(observed).map(of).collect()
    }

    pub(crate) fn interval(mut self, level: Level) -> Interval {
        self.correction.interval(level, |share| percentile_unsorted(&mut self.drawn, share))
    }
}

impl Correction {
    fn new(drawn: &[f64], observed: f64, acceleration: impl FnOnce() -> f64) -> Option<Self> {
        let finite = observed.is_finite() && drawn.iter().all(|statistic| statistic.is_finite());
        if !finite || drawn.is_empty() {
            return None;
        }
        let highest = drawn.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let spread = highest - drawn.iter().copied().fold(f64::INFINITY, f64::min);
        // Resampled statistics that differ by at most `slack` count as equal. The reason is that sums of the same
        // values in different orders differ by rounding.
        let slack = 1e-9 * spread;
        let below = drawn.iter().filter(|statistic| **statistic < observed - slack).count();
        let up_to = drawn.iter().filter(|statistic| **statistic <= observed + slack).count();
        let bias = normal::quantile((below + up_to) as f64 / (2 * drawn.len()) as f64);
        let acceleration = if spread > 0.0 { acceleration() } else { 0.0 };
        (bias.is_finite() && acceleration.is_finite()).then_some(Self { bias, acceleration })
    }

    fn interval(self, level: Level, mut percentile: impl FnMut(f64) -> Option<f64>) -> Interval {
        let mut end = |z: f64| {
            let moved = self.bias + z;
            let shrink = 1.0 - self.acceleration * moved;
            // The correction has a pole where `shrink` is 0. Beyond the pole, the corrected share has reached its
            // limit, 0 or 1.
            let z = if shrink > 0.0 { self.bias + moved / shrink } else { f64::INFINITY.copysign(moved) };
            percentile(normal::share_below(z)).expect("resamples exist and shares are within 0 to 1")
        };
        let reach = -normal::quantile(level.error() / 2.0);
        Interval { low: end(-reach), high: end(reach), level, estimator: Estimator::Bootstrap }
    }
}

/// Returns the acceleration a of the bootstrap. Each entry of `left_one_out` is the statistic with one value left out
/// (Efron and Tibshirani, formula 14.15).
fn acceleration(left_one_out: &[f64]) -> f64 {
    let mean = moments::mean(left_one_out);
    let (mut squares, mut cubes) = (0.0, 0.0);
    for statistic in left_one_out {
        let distance = mean - statistic;
        squares += distance * distance;
        cubes += distance * distance * distance;
    }
    if squares > 0.0 { cubes / (6.0 * squares * squares.sqrt()) } else { 0.0 }
}

/// Returns means of samples drawn with replacement, from one list of values or from many at once.
///
/// The drawn indices depend on the seed and on the number of values, not on the values themselves. Lists of the same
/// length therefore share one sequence of random numbers, and each list gets the same means as if it were resampled
/// alone.
pub(crate) fn resample(
    values: &[f64],
    resamples: usize,
    seed: u64,
    mut statistic: impl FnMut(&mut dyn Iterator<Item = f64>) -> f64,
) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..resamples)
        .map(|_| statistic(&mut (0..values.len()).map(|_| values[below(&mut rng, values.len())])))
        .collect()
}

/// Draws `resamples` samples from each list, and returns the means of the samples per list, in the order of drawing. Every list must have
/// `length` values.
pub(crate) fn means(lists: &[&[f64]], length: usize, resamples: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut means = Vec::with_capacity(lists.len());
    let mut rest = lists;
    while !rest.is_empty() {
        let width = rest.len().min(16);
        let (these, others) = rest.split_at(width);
        means.extend(match width {
            1 => means_of::<1>(these, length, resamples, seed),
            2..=4 => means_of::<4>(these, length, resamples, seed),
            5..=8 => means_of::<8>(these, length, resamples, seed),
            _ => means_of::<16>(these, length, resamples, seed),
        });
        rest = others;
    }
    means
}

/// Variant of [`means`] that computes the sums of at most `WIDTH` lists together. The sums are independent of each
/// other, so the processor can compute them in parallel.
fn means_of<const WIDTH: usize>(
    lists: &[&[f64]],
    length: usize,
    resamples: usize,
    seed: u64,
) -> Vec<Vec<f64>> {
    let mut rows = vec![[0.0; WIDTH]; length];
    for (column, list) in lists.iter().enumerate() {
        for (row, value) in rows.iter_mut().zip(*list) {
            row[column] = *value;
        }
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut means: Vec<Vec<f64>> = lists.iter().map(|_| Vec::with_capacity(resamples)).collect();
    for _ in 0..resamples {
        let mut sums = [0.0; WIDTH];
        for _ in 0..length {
            let row = &rows[below(&mut rng, length)];
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        means.iter_mut().zip(sums).for_each(|(means, sum)| means.push(sum / length as f64));
    }
    means
}

/// Draws a random index below `limit`. The index is the upper half of the 128-bit product of a random number and `limit`. For lists as long
/// as any list of runs, its bias is below 2^-50.
#[expect(clippy::cast_possible_truncation, reason = "it is below the limit")]
fn below(rng: &mut impl Rng, limit: usize) -> usize {
    ((u128::from(rng.next_u64()) * limit as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {

    use super::*;

    /// Quantiles of an exponential distribution of mean 10: skewed, like makespans.
    const SKEWED: [f64; 30] = [
        0.17, 0.51, 0.87, 1.24, 1.63, 2.03, 2.44, 2.88, 3.33, 3.81, 4.31, 4.83, 5.39, 5.98, 6.6, 7.27, 7.99,
        8.75, 9.59, 10.5, 11.5, 12.61, 13.86, 15.29, 16.96, 18.97, 21.48, 24.85, 29.96, 40.94,
    ];

    fn assert_ends(bootstrap: &Bootstrap, error: f64, low: (f64, f64), high: (f64, f64)) {
        let interval = bootstrap.interval(Level::allowing(error).unwrap());
        assert!((interval.low - low.0).abs() <= low.1, "{interval:?}, expected {low:?}");
        assert!((interval.high - high.0).abs() <= high.1, "{interval:?}, expected {high:?}");
    }

    // The expected ends are means over eight generators (numpy default_rng(0) to (7)) of scipy 1.17.1,
    // stats.bootstrap((SKEWED,), f, method='BCa', n_resamples=100000, confidence_level=1 - error), with f numpy.mean,
    // median and std(ddof=1). The second number of each pair is the tolerance: about four standard deviations between
    // the generators.

    #[test]
    fn intervals_of_the_mean_agree_with_scipy() {
        let bootstrap = Bootstrap::of_mean(&SKEWED, 100_000, 1).unwrap();
        assert_ends(&bootstrap, 0.05, (7.0931, 0.045), (14.088, 0.15));
        assert_ends(&bootstrap, 0.01, (6.3879, 0.06), (15.696, 0.2));
    }

    #[test]
    fn intervals_of_other_statistics_agree_with_scipy() {
        let median = |sample: &[f64]| {
            let mut sorted = sample.to_vec();
            sorted.sort_by(f64::total_cmp);
            percentile(&sorted, 0.5).unwrap()
        };
        let medians = Bootstrap::new(&SKEWED, median, 100_000, 1).unwrap();
        assert_ends(&medians, 0.05, (4.06, 1e-9), (11.0, 1e-9));

        let deviation = |sample: &[f64]| moments::deviation(sample, moments::mean(sample)).unwrap();
        let deviations = Bootstrap::new(&SKEWED, deviation, 100_000, 1).unwrap();
        assert_ends(&deviations, 0.05, (6.8517, 0.04), (14.256, 0.25));
    }

    #[test]
    fn the_fast_way_to_the_mean_gives_the_same_interval() {
        let mean = |sample: &[f64]| sample.iter().sum::<f64>() / sample.len() as f64;
        let slow = Bootstrap::new(&SKEWED, mean, 2000, 7).unwrap().interval(Level::P95);
        let fast = Bootstrap::of_mean(&SKEWED, 2000, 7).unwrap().interval(Level::P95);
        assert!((slow.low - fast.low).abs() < 1e-9 && (slow.high - fast.high).abs() < 1e-9);
    }

    #[test]
    fn the_same_seed_gives_the_same_bits() {
        let interval = |seed| Bootstrap::of_mean(&SKEWED, 1000, seed).unwrap().interval(Level::P95);
        assert_eq!(interval(3), interval(3));
        assert_ne!(interval(3), interval(4));
        // Pinned: these change only with the generator, `libm` or the rule, and then every saved interval changes too.
        assert_eq!((interval(3).low, interval(3).high), (7.090_998_118_212_053, 14.455_805_812_674_717));
    }

    #[test]
    fn equal_values_have_an_interval_of_zero_width() {
        let interval = Bootstrap::of_mean(&[0.1; 23], 500, 1).unwrap().interval(Level::P95);
        assert!(interval.high <= interval.low, "{interval:?}");
    }

    #[test]
    fn a_claim_beyond_all_resamples_has_the_finest_p_value() {
        let bootstrap = Bootstrap::of_mean(&SKEWED, 1000, 1).unwrap();
        assert!(bootstrap.p_value(1000.0) < 0.01 && bootstrap.p_value(1000.0) > 0.0);
        assert!(bootstrap.p_value(-1000.0) < 0.01);
        assert!(bootstrap.p_value(9.8) > 0.5);
    }

    #[test]
    fn what_has_no_interval_is_refused() {
        assert!(Bootstrap::of_mean(&[1.0], 100, 1).is_none() && Bootstrap::of_mean(&[], 100, 1).is_none());
        assert!(Bootstrap::of_mean(&SKEWED, 0, 1).is_none());
        assert!(Bootstrap::of_mean(&[1.0, f64::NAN, 2.0], 100, 1).is_none());
        assert!(Bootstrap::new(&SKEWED, |_| f64::INFINITY, 100, 1).is_none());
    }

    #[test]
    fn drawn_together_every_list_has_the_means_that_it_has_alone() {
        let list = |number: u32| -> Vec<f64> {
            (0..23).map(|run| f64::from(run * run + number * run) / f64::from(number + 3)).collect()
        };
        let lists: Vec<Vec<f64>> = (0..30).map(list).collect();
        for count in [1, 2, 4, 5, 8, 9, 16, 17, 30] {
            let these: Vec<&[f64]> = lists[..count].iter().map(Vec::as_slice).collect();
            let together = means(&these, 23, 50, 7);
            assert_eq!(together.len(), count);
            for (list, means) in these.iter().zip(together) {
                assert_eq!(means, resample(list, 50, 7, |picks| picks.sum::<f64>() / 23.0));
            }
        }
        assert!(means(&[], 23, 50, 7).is_empty());
    }
}
