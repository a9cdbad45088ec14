//! Summary of one figure of many runs: mean, spread, percentiles and intervals.

use crate::{
    certainty::intervals_of_means,
    interval::{Interval, Method},
    level::Level,
    median::median_interval,
    moments,
    percentile::percentile,
    skewness::{is_skewed, skewness, values_enough},
};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Estimator;

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
}
