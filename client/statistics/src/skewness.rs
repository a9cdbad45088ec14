//! Skewness of a sample, and a test of whether it is too large to trust the interval of the mean.
//!
//! Skewness is G1, the adjusted Fisher-Pearson coefficient. Its standard error is that of normal samples (Joanes and
//! Gill, "Comparing measures of sample skewness and kurtosis", The Statistician 47, 1998). A sample counts as skewed
//! when two conditions hold. First, |G1| is more than two standard errors, which rarely happens by chance alone.
//! Second, the sample has at most 25 G1² values, so an interval around the mean misses more often than its level
//! promises (Cochran, "Sampling Techniques", 3rd edition 1977, section 2.15).

use crate::moments;

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

pub(crate) fn is_skewed(count: usize, skewness: f64) -> bool {
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
pub(crate) fn values_enough(skewness: f64) -> u64 {
    (ENOUGH * skewness * skewness).floor() as u64 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

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
