//! Confidence interval and p value of a mean, by Student's t or by the bootstrap.

use crate::bootstrap::{Bootstrap, ResampledMeans};
use crate::level::{Estimator, Interval, Level, Method};
use crate::{moments, student_t};

const RESAMPLES: usize = 10_000;

/// Estimate of a population's mean, with its uncertainty, computed from a sample of the population.
pub(crate) enum Certainty {
    StudentT {
        mean: f64,
        error: f64,
        /// Degrees of freedom of Student's t, at least four.
        freedom: f64,
    },
    Bootstrap(Bootstrap),
}

impl Certainty {
    pub(crate) fn of_mean(values: &[f64], method: Method) -> Option<Self> {
        let estimator = method.estimator(values.len())?;
        if let (Estimator::Bootstrap, Method::BySize { seed }) = (estimator, method) {
            return Bootstrap::of_mean(values, RESAMPLES, seed).map(Self::Bootstrap);
        }
        let count = values.len() as f64;
        let mean = moments::mean(values);
        let error = moments::deviation(values, mean)? / count.sqrt();
        Some(Self::StudentT { mean, error, freedom: count - 1.0 })
    }

    pub(crate) fn interval(&self, level: Level) -> Interval {
        match self {
            Self::Bootstrap(bootstrap) => bootstrap.interval(level),
            Self::StudentT { mean, error, freedom } => {
                let reach = error * student_t::quantile_above(level.error() / 2.0, *freedom);
                Interval { low: mean - reach, high: mean + reach, level, estimator: Estimator::StudentT }
            }
        }
    }

    /// Returns the two-sided p value (0 to 1) of the hypothesis that the mean equals `claim`.
    ///
    /// The p value is below the error of a confidence level (0.05 for 95 %) exactly when the interval at this level
    /// excludes `claim`.
    pub(crate) fn p_value(&self, claim: f64) -> f64 {
        match self {
            Self::Bootstrap(bootstrap) => bootstrap.p_value(claim),
            Self::StudentT { mean, error, freedom } => {
                let distance = (mean - claim).abs();
                if distance <= 0.0 {
                    return 1.0;
                }
                // If all values are equal, the standard error is 0. Any distance is then infinitely many standard
                // errors, so the p value is 0.
                if *error <= 0.0 { 0.0 } else { 2.0 * student_t::share_above(distance / error, *freedom) }
            }
        }
    }
}

/// Returns the confidence interval of each figure's mean, as [`Certainty`] computes it.
///
/// Fast path: figures with the same number of values are resampled together, which takes a small part of the time that
/// separate resampling would take.
pub(crate) fn intervals_of_means(figures: &[&[f64]], level: Level, method: Method) -> Vec<Option<Interval>> {
    let mut intervals = vec![None; figures.len()];
    let mut lengths: Vec<usize> = figures.iter().map(|values| values.len()).collect();
    lengths.sort_unstable();
    lengths.dedup();
    for length in lengths {
        let numbers: Vec<usize> =
            (0..figures.len()).filter(|number| figures[*number].len() == length).collect();
        let these: Vec<&[f64]> = numbers.iter().map(|number| figures[*number]).collect();
        let found: Vec<Option<Interval>> = match (method.estimator(length), method) {
            (Some(Estimator::Bootstrap), Method::BySize { seed }) => {
                let means = ResampledMeans::of_each(&these, RESAMPLES, seed);
                means.into_iter().map(|means| Some(means?.interval(level))).collect()
            }
            _ => {
                these.iter().map(|values| Some(Certainty::of_mean(values, method)?.interval(level))).collect()
            }
        };
        for (number, interval) in numbers.into_iter().zip(found) {
            intervals[number] = interval;
        }
    }
    intervals
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [f64; 7] = [4.1, 3.7, 5.9, 4.4, 12.0, 3.9, 4.0];

    #[test]
    fn few_values_get_the_interval_and_p_value_of_students_t() {
        let certainty = Certainty::of_mean(&VALUES, Method::BySize { seed: 1 }).unwrap();
        // scipy 1.17.1, stats.t.interval(0.95, 6, mean, stats.sem) and stats.ttest_1samp(values, 3).pvalue
        let interval = certainty.interval(Level::P95);
        assert!((interval.low - 2.664_476_699_630_214_7).abs() < 1e-9, "{interval:?}");
        assert!((interval.high - 8.192_666_157_512_644).abs() < 1e-9, "{interval:?}");
        assert!(
            (certainty.p_value(3.0) - 0.075_117_658_032_542_47).abs() < 1e-9,
            "{}",
            certainty.p_value(3.0)
        );
    }

    #[test]
    fn four_values_yield_no_certainty() {
        assert!(Certainty::of_mean(&VALUES[..4], Method::StudentT).is_none());
    }

    #[test]
    fn equal_values_leave_no_doubt() {
        for count in [5, 30, 300] {
            let certainty = Certainty::of_mean(&vec![0.1; count], Method::BySize { seed: 1 }).unwrap();
            let interval = certainty.interval(Level::P95);
            assert!(interval.low >= 0.1 && interval.high <= 0.1, "{count}: {interval:?}");
            assert!(certainty.p_value(0.1) >= 1.0 && certainty.p_value(0.2) < 0.001, "{count}");
        }
    }

    #[test]
    fn intervals_of_several_figures_are_those_of_each() {
        let figures: Vec<Vec<f64>> = [7, 40, 3, 40, 40, 250, 40]
            .into_iter()
            .enumerate()
            .map(|(number, count)| {
                VALUES.iter().map(|value| value + number as f64).cycle().take(count).collect()
            })
            .chain([vec![0.3; 40]])
            .collect();
        let slices: Vec<&[f64]> = figures.iter().map(Vec::as_slice).collect();
        let method = Method::BySize { seed: 1 };
        let alone = |values: &&[f64]| Some(Certainty::of_mean(values, method)?.interval(Level::P95));
        let expected: Vec<Option<Interval>> = slices.iter().map(alone).collect();
        assert_eq!(intervals_of_means(&slices, Level::P95, method), expected);
        assert_eq!(expected.iter().filter(|interval| interval.is_none()).count(), 1);
    }

    #[test]
    fn p_values_and_intervals_agree() {
        for count in [7, 40] {
            let values: Vec<f64> = VALUES.iter().copied().cycle().take(count).collect();
            let certainty = Certainty::of_mean(&values, Method::BySize { seed: 1 }).unwrap();
            for claim in (20..100).map(|tenths| f64::from(tenths) / 10.0) {
                for error in [0.2, 0.05, 0.01] {
                    let interval = certainty.interval(Level::allowing(error).unwrap());
                    assert_eq!(
                        interval.includes(claim),
                        certainty.p_value(claim) >= error,
                        "{count} {claim}"
                    );
                }
            }
        }
    }
}
