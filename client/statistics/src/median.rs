//! Confidence interval of the median without assumptions about the shape of the distribution. Its ends are two of the sampled values.
//!
//! The number of sampled values below the true median is binomial with probability one half. The interval from the k-th lowest to the k-th
//! highest value therefore covers the median with a known probability. This is the sign test inverted (Conover, "Practical Nonparametric
//! Statistics", 3rd edition 1999, section 3.2; David and Nagaraja, "Order Statistics", 3rd edition 2003, section 7.1). The probability is
//! exact for continuous figures and a lower bound for others.

use crate::{
    interval::{Estimator, Interval},
    level::Level,
};

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
