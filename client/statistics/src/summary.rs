//! Summary of one figure of many runs: mean, spread, percentiles and intervals.

use crate::certainty::intervals_of_means;
use crate::level::{Estimator, Interval, Level, Method};
use crate::moments;
use crate::percentile::percentile;

/// Summary of one figure over many runs, in the figure's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    pub count: usize,
    pub mean: f64,
    /// Sample standard deviation of the figure (divisor n - 1); `None` for a single run.
    pub deviation: Option<f64>,
    pub min: f64,
    /// 5th percentile of the figure. All percentiles are interpolated; see [`percentile`].
    pub p5: f64,
    pub p25: f64,
    pub p50: f64,
    pub p75: f64,
    pub p95: f64,
    pub max: f64,
    /// Confidence interval of the mean; `None` with fewer than five runs, which are too few.
    pub interval: Option<Interval>,
    pub skewness: Option<f64>,
    /// Confidence interval of the median, valid for any shape of the distribution. The interval has its own level,
    /// which is at least the requested level. `None` if there are too few runs for the requested level.
    pub median_interval: Option<Interval>,
}

impl Summary {
    /// Summarises a figure of many runs, one value per run in any fixed order.
    ///
    /// Returns `None` if there is no value, or if a value is not finite. The caller must leave out runs without the
    /// figure, and report these omissions.
    pub fn new(values: &[f64], level: Level, method: Method) -> Option<Self> {
        Self::of_each(&[values], level, method).pop()?
    }

    /// Summarises several figures, which may have different numbers of runs. This is much faster than one call of
    /// [`Summary::new`] per figure.
    pub fn of_each(figures: &[&[f64]], level: Level, method: Method) -> Vec<Option<Self>> {
        let usable = |values: &[f64]| values.iter().all(|value| value.is_finite());
        let intervals = intervals_of_means(figures, level, method);
        let summary = |(values, interval): (&&[f64], Option<Interval>)| {
            if !usable(values) {
                return None;
            }
            let mut sorted = values.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            let mean = moments::mean(values);
            Some(Self {
                count: values.len(),
                mean,
                deviation: moments::deviation(values, mean),
                min: percentile(&sorted, 0.0)?,
                p5: percentile(&sorted, 0.05)?,
                p25: percentile(&sorted, 0.25)?,
                p50: percentile(&sorted, 0.5)?,
                p75: percentile(&sorted, 0.75)?,
                p95: percentile(&sorted, 0.95)?,
                max: percentile(&sorted, 1.0)?,
                interval,
                skewness: skewness(values),
                median_interval: median_interval(&sorted, level),
            })
        };
        figures.iter().zip(intervals).map(summary).collect()
    }

    /// Returns the skewness of the figure if it exceeds chance and is too large for the number of runs. Such skewness
    /// makes the interval of the mean miss more often than its level promises. The interval of the median is then more
    /// informative.
    pub fn too_skewed(&self) -> Option<f64> {
        self.skewness.filter(|skewness| is_skewed(self.count, *skewness))
    }

    /// Returns the number of runs that would be needed for the interval of the mean to keep its level. Returns `None`
    /// if the figure is not too skewed for its number of runs.
    pub fn runs_enough(&self) -> Option<u64> {
        self.too_skewed().map(values_enough)
    }
}

// Confidence interval of the median without assumptions about the shape of the distribution. Its ends are two of the sampled values.
//
// The number of sampled values below the true median is binomial with probability one half. The interval from the k-th lowest to the k-th
// highest value therefore covers the median with a known probability. This is the sign test inverted (Conover, "Practical Nonparametric
// Statistics", 3rd edition 1999, section 3.2; David and Nagaraja, "Order Statistics", 3rd edition 2003, section 7.1). The probability is
// exact for continuous figures and a lower bound for others.

/// Returns the narrowest interval of the median between two of the values whose confidence is at least `level`. The result also states the
/// interval's actual level.
///
/// Returns `None` if even the interval from the lowest to the highest value does not reach `level`. At 95 % this happens for fewer than six
/// values. The values must be ascending and finite.
pub(crate) fn median_interval(sorted: &[f64], level: Level) -> Option<Interval> {
    let count = sorted.len();
    let mut outside = 0.0;
    let mut kept = None;
    // The confidence interval of the median omits the k smallest and the k largest values. It misses the median exactly
    // when at most k values lie on one side of the median.
    for left_out in 0..count / 2 {
        outside += 2.0 * one_side(count, left_out);
        if outside > level.error() {
            break;
        }
        kept = Some((left_out, outside));
    }
    let (left_out, error) = kept?;
    Some(Interval {
        low: sorted[left_out],
        high: sorted[count - 1 - left_out],
        level: Level::allowing(error.max(Level::STRICTEST.error()))?,
        estimator: Estimator::OrderStatistics,
    })
}

/// Returns the probability that exactly `below` of `count` values lie below the median. The probability is the binomial coefficient divided
/// by 2^`count`.
fn one_side(count: usize, below: usize) -> f64 {
    let factorial = |number: usize| libm::lgamma(number as f64 + 1.0);
    let ways = factorial(count) - factorial(below) - factorial(count - below);
    libm::exp(ways - count as f64 * std::f64::consts::LN_2)
}

// Skewness of a sample, and a test of whether it is too large to trust the interval of the mean.
//
// Skewness is G1, the adjusted Fisher-Pearson coefficient. Its standard error is that of normal samples (Joanes and
// Gill, "Comparing measures of sample skewness and kurtosis", The Statistician 47, 1998). A sample counts as skewed
// when two conditions hold. First, |G1| is more than two standard errors, which rarely happens by chance alone.
// Second, the sample has at most 25 G1² values, so an interval around the mean misses more often than its level
// promises (Cochran, "Sampling Techniques", 3rd edition 1977, section 2.15).

/// Cochran's factor for the size of a sample: a sample is large enough if it has more values than this factor times the
/// square of its skewness.
const ENOUGH: f64 = 25.0;

const BEYOND_LUCK: f64 = 2.0;

/// Returns the sample skewness G1, without unit; 0 for a symmetric sample. Returns `None` for fewer than three values,
/// and if all values are equal.
pub fn skewness(values: &[f64]) -> Option<f64> {
    if values.len() < 3 {
        return None;
    }
    let count = values.len() as f64;
    let mean = moments::mean(values);
    let deviation = moments::deviation(values, mean).filter(|deviation| *deviation > 0.0)?;
    let cube = |value: &f64| {
        let distance = (value - mean) / deviation;
        distance * distance * distance
    };
    let cubes: f64 = values.iter().map(cube).sum();
    let skewness = cubes * count / ((count - 1.0) * (count - 2.0));
    skewness.is_finite().then_some(skewness)
}

fn standard_error(count: f64) -> f64 {
    (6.0 * count * (count - 1.0) / ((count - 2.0) * (count + 1.0) * (count + 3.0))).sqrt()
}

fn is_skewed(count: usize, skewness: f64) -> bool {
    let count = count as f64;
    count >= 3.0
        && skewness.abs() > BEYOND_LUCK * standard_error(count)
        && count <= ENOUGH * skewness * skewness
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is above zero, and saturates"
)]
fn values_enough(skewness: f64) -> u64 {
    (ENOUGH * skewness * skewness).floor() as u64 + 1
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::level::Estimator;

    fn summary(values: &[f64]) -> Option<Summary> {
        Summary::new(values, Level::P95, Method::BySize { seed: 1 })
    }

    #[test]
    fn figures_agree_with_numpy() {
        let summary = summary(&[4.1, 3.7, 5.9, 4.4, 12.0, 3.9, 4.0]).unwrap();
        for (found, expected) in [
            (summary.mean, 5.428_571_428_571_429),
            (summary.deviation.unwrap(), 2.988_708_910_613_57),
            (summary.min, 3.7),
            (summary.p5, 3.76),
            (summary.p25, 3.95),
            (summary.p50, 4.1),
            (summary.p75, 5.15),
            (summary.p95, 10.17),
            (summary.max, 12.0),
        ] {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn one_run_has_neither_deviation_nor_interval() {
        let summary = summary(&[3.0]).unwrap();
        assert_eq!((summary.mean, summary.deviation, summary.interval), (3.0, None, None));
    }

    #[test]
    fn nothing_and_missing_figures_are_refused() {
        assert_eq!(summary(&[]), None);
        assert_eq!(summary(&[1.0, f64::NAN]), None);
        assert_eq!(summary(&[1.0, f64::INFINITY]), None);
    }

    #[test]
    fn both_estimators_agree_where_one_takes_over_from_the_other() {
        // A skewed figure: squares of evenly spread values.
        let values: Vec<f64> = (0..199).map(|run| f64::from(run) * f64::from(run) / 1e4).collect();
        let resampled = summary(&values).unwrap().interval.unwrap();
        let t = Summary::new(&values, Level::P95, Method::StudentT).unwrap().interval.unwrap();
        assert_eq!((resampled.estimator, t.estimator), (Estimator::Bootstrap, Estimator::StudentT));
        let width = t.high - t.low;
        assert!((resampled.low - t.low).abs() < 0.05 * width, "{resampled:?} {t:?}");
        assert!((resampled.high - t.high).abs() < 0.05 * width, "{resampled:?} {t:?}");
    }

    fn interval(count: u32) -> Option<Interval> {
        let sorted: Vec<f64> = (1..=count).map(f64::from).collect();
        median_interval(&sorted, Level::P95)
    }

    #[test]
    fn ranks_and_levels_are_those_of_the_binomial_distribution() {
        // 1 - 2 P(X < k), X binomial with n and one half; from the usual tables (Conover, table A3).
        for (count, low, high, coverage) in [
            (6, 1.0, 6.0, 0.968_75),
            (10, 2.0, 9.0, 0.978_515_625),
            (30, 10.0, 21.0, 0.957_226_1),
            (100, 40.0, 61.0, 0.964_799_8),
        ] {
            let found = interval(count).unwrap();
            assert_eq!(
                (found.low, found.high, found.estimator),
                (low, high, Estimator::OrderStatistics),
                "{count}"
            );
            assert!((found.level.coverage() - coverage).abs() < 1e-6, "{count}: {}", found.level.coverage());
        }
    }

    #[test]
    fn five_values_are_too_few_and_very_many_are_not_too_many() {
        assert_eq!(interval(5), None);
        assert_eq!(median_interval(&[], Level::P95), None);
        let found = interval(100_000).unwrap();
        assert!((found.level.coverage() - 0.95).abs() < 0.001 && found.high - found.low < 700.0, "{found:?}");
    }

    #[test]
    fn skewness_agrees_with_scipy() {
        // scipy.stats.skew([4.1, 3.7, 5.9, 4.4, 12.0, 3.9, 4.0], bias=False)
        let found = skewness(&[4.1, 3.7, 5.9, 4.4, 12.0, 3.9, 4.0]).unwrap();
        assert!((found - 2.349_373_301_434_19).abs() < 1e-9, "{found}");
        assert!(skewness(&[1.0, 2.0, 3.0]).unwrap().abs() < 1e-12);
        for none in [&[][..], &[1.0, 2.0], &[3.0; 9], &[f64::NAN, 1.0, 2.0]] {
            assert_eq!(skewness(none), None, "{none:?}");
        }
    }

    #[test]
    fn skewness_depends_on_its_standard_error_and_the_sample_size() {
        // Two standard errors are 1.37 with 10 values and 0.85 with 30; 25 · 1.05² is 27.6.
        assert!(!is_skewed(10, 1.3) && is_skewed(10, 1.4) && is_skewed(10, -1.4));
        assert!(!is_skewed(30, 1.05) && is_skewed(30, 1.2));
        assert!(!is_skewed(1000, 2.0) && is_skewed(90, 2.0));
        assert_eq!(values_enough(2.0), 101);
    }
}
