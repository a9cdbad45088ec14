//! Kolmogorov-Smirnov test of whether two samples come from one distribution.
//!
//! The distance is the largest difference between the two empirical distribution functions. Its probability is the
//! asymptotic one with Stephens' correction for small samples (Press et al., "Numerical Recipes", third edition,
//! section 14.3.3; Stephens, "Use of the Kolmogorov-Smirnov, Cramér-von Mises and related statistics without extensive
//! tables", JRSS B 32, 1970). If values repeat, the test errs on the side of finding no difference.

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KolmogorovSmirnov {
    /// Largest difference between the empirical distribution functions of the two samples, 0 to 1.
    pub distance: f64,
    /// Probability that two samples from one distribution have a distance that is at least as large as the observed
    /// distance.
    pub p: f64,
}

impl KolmogorovSmirnov {
    pub fn new(one: &[f64], other: &[f64]) -> Self {
        if one.is_empty() || other.is_empty() {
            return Self { distance: 0.0, p: 1.0 };
        }
        let distance = distance(&sorted(one), &sorted(other));
        let effective = (one.len() as f64 * other.len() as f64) / (one.len() + other.len()) as f64;
        let root = effective.sqrt();
        Self { distance, p: beyond((root + 0.12 + 0.11 / root) * distance) }
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

fn distance(one: &[f64], other: &[f64]) -> f64 {
    let (mut i, mut j, mut largest) = (0, 0, 0.0_f64);
    while let (Some(a), Some(b)) = (one.get(i), other.get(j)) {
        let at = a.min(*b);
        // Values that are equal form a single step of the distribution function.
        while one.get(i).is_some_and(|value| *value <= at) {
            i += 1;
        }
        while other.get(j).is_some_and(|value| *value <= at) {
            j += 1;
        }
        let difference = i as f64 / one.len() as f64 - j as f64 / other.len() as f64;
        largest = largest.max(difference.abs());
    }
    largest
}

/// Returns the probability that a value of Kolmogorov's distribution exceeds `x`.
fn beyond(x: f64) -> f64 {
    use std::f64::consts::PI;
    if x <= 0.0 {
        return 1.0;
    }
    // There are two series for Kolmogorov's distribution. Each series converges fast where the other one does not.
    if x < 1.18 {
        let y = libm::exp(-PI * PI / (8.0 * x * x));
        let powers = [1.0, 9.0, 25.0, 49.0].map(|power| libm::pow(y, power));
        return (1.0 - (2.0 * PI).sqrt() / x * powers.iter().sum::<f64>()).clamp(0.0, 1.0);
    }
    let y = libm::exp(-2.0 * x * x);
    (2.0 * (y - libm::pow(y, 4.0) + libm::pow(y, 9.0))).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn evenly(from: f64, to: f64, count: usize) -> Vec<f64> {
        (0..count).map(|index| from + (to - from) * (index as f64 + 0.5) / count as f64).collect()
    }

    #[test]
    fn kolmogorov_s_distribution_has_its_published_points() {
        // Smirnov, "Table for estimating the goodness of fit of empirical distributions", 1948.
        for (x, p) in [
            (0.5, 0.963_945),
            (0.83, 0.496_3),
            (1.0, 0.27),
            (1.18, 0.123_5),
            (1.36, 0.049_5),
            (1.63, 0.009_85),
            (2.0, 0.000_671),
        ] {
            assert!((beyond(x) - p).abs() < 2e-4, "{x}: {}", beyond(x));
        }
        assert_eq!((beyond(0.0), beyond(1e-9), beyond(100.0)), (1.0, 1.0, 0.0));
    }

    #[test]
    fn the_distance_is_that_of_the_distribution_functions() {
        for (one, other, distance) in [
            (&[1.0, 2.0, 3.0][..], &[1.0, 2.0, 3.0][..], 0.0),
            (&[1.0, 2.0], &[3.0, 4.0], 1.0),
            (&[4.0, 3.0], &[1.0, 2.0], 1.0),
            (&[1.0, 2.0, 3.0, 4.0], &[2.5], 0.5),
            (&[1.0, 1.0, 1.0, 2.0], &[1.0, 2.0, 2.0, 2.0], 0.5),
        ] {
            let found = KolmogorovSmirnov::new(one, other).distance;
            assert!((found - distance).abs() < 1e-12, "{one:?} {other:?}: {found}");
        }
    }

    #[test]
    fn another_range_is_found_and_the_same_is_not() {
        let own = evenly(0.0, 1.0, 2000);
        assert!(KolmogorovSmirnov::new(&evenly(0.0, 1.0, 60), &own).p > 0.99);
        assert!(KolmogorovSmirnov::new(&evenly(0.0, 0.5, 60), &own).p < 1e-4);
        assert!(KolmogorovSmirnov::new(&evenly(0.2, 1.0, 300), &own).p < 1e-4);
        assert!(KolmogorovSmirnov::new(&[0.5], &own).p > 0.05);
        assert!((KolmogorovSmirnov::new(&[], &own).p - 1.0).abs() < f64::EPSILON);
    }

    proptest! {
        #[test]
        fn both_sides_are_alike_and_everything_is_a_probability(
            one in prop::collection::vec(-1e3..1e3_f64, 1..50),
            other in prop::collection::vec(-1e3..1e3_f64, 1..50),
        ) {
            let KolmogorovSmirnov { distance, p } = KolmogorovSmirnov::new(&one, &other);
            prop_assert!((0.0..=1.0).contains(&distance) && (0.0..=1.0).contains(&p));
            let turned = KolmogorovSmirnov::new(&other, &one);
            prop_assert!((turned.distance - distance).abs() < 1e-12);
        }
    }
}
