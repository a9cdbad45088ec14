//! Holm's step-down correction for multiple comparisons.
//!
//! Holm, "A simple sequentially rejective multiple test procedure" (Scandinavian Journal of Statistics 6, 1979). Of
//! twenty comparisons at 5 %, one is expected to look like a difference by chance alone. With the correction, the
//! probability that *any* of the twenty looks like a difference by chance stays below 5 %.

use crate::level::Level;

/// Returns the p values (0 to 1) adjusted for multiple comparisons, in the given order.
///
/// The two sides of a comparison are distinguishable if its adjusted p value is below the error allowed for all
/// comparisons together. A p value that is NaN counts as 1.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![1.0; p_values.len()];
    let mut so_far = 0.0_f64;
    for (remaining, index) in steps(p_values) {
        // An adjusted p value is never below the adjusted value of a smaller p value.
        so_far = so_far.max((known(p_values[index]) * remaining as f64).min(1.0));
        adjusted[index] = so_far;
    }
    adjusted
}

/// Returns the confidence level for the interval of each comparison, in the order of `p_values`. `together` is the
/// level of all comparisons together. With the returned levels, intervals and Holm's correction agree: an interval
/// excludes "no difference" exactly when the adjusted p value is below the error of `together`.
///
/// The m comparisons are processed in the order of their p values, smallest first. The error of `together` is divided
/// by m for the first one, by m - 1 for the second one, and so on. After the first comparison that is not
/// distinguishable, all comparisons have the level of that comparison. Each interval agrees with its own test, but the
/// intervals need not all cover the truth at once. For simultaneous coverage, use [`Level::shared_by`] with the number
/// of comparisons.
pub fn holm_levels(p_values: &[f64], together: Level) -> Vec<Level> {
    let mut levels = vec![together; p_values.len()];
    let mut stopped = None;
    for (remaining, index) in steps(p_values) {
        let level = stopped.unwrap_or_else(|| together.shared_by(remaining));
        if known(p_values[index]) >= level.error() {
            stopped = Some(level);
        }
        levels[index] = level;
    }
    levels
}

/// Yields pairs (number of comparisons still to be tested, index of the comparison), smallest p value first. Equal p
/// values keep the given order.
fn steps(p_values: &[f64]) -> impl Iterator<Item = (usize, usize)> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| known(p_values[*a]).total_cmp(&known(p_values[*b])));
    (1..=p_values.len()).rev().zip(order)
}

fn known(p_value: f64) -> f64 {
    if p_value.is_nan() { 1.0 } else { p_value.clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn adjusted_values_agree_with_r() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-15, "{adjusted:?}");
        }
    }

    #[test]
    fn one_comparison_needs_no_correction() {
        assert_eq!(holm(&[0.04]), [0.04]);
        assert_eq!(holm_levels(&[0.04], Level::P95), [Level::P95]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn no_number_is_no_evidence() {
        assert_eq!(holm(&[f64::NAN, 0.01]), [1.0, 0.02]);
    }

    #[test]
    fn levels_loosen_up_to_the_first_that_is_not_distinguishable() {
        let levels = holm_levels(&[0.04, 0.001, 0.03, 0.045], Level::P95);
        let third = Level::P95.shared_by(3);
        assert_eq!(levels, [third, Level::P95.shared_by(4), third, third]);
    }

    proptest! {
        #[test]
        fn adjusted_values_keep_the_order_and_never_shrink(p in prop::collection::vec(0.0..=1.0_f64, 0..20)) {
            let adjusted = holm(&p);
            for (i, a) in adjusted.iter().enumerate() {
                prop_assert!(*a >= p[i] && *a <= 1.0);
                for (j, b) in adjusted.iter().enumerate() {
                    prop_assert!(p[i] > p[j] || a <= b);
                }
            }
        }

        #[test]
        fn levels_agree_with_adjusted_values(p in prop::collection::vec(0.0..0.1_f64, 1..8)) {
            let levels = holm_levels(&p, Level::P95);
            for ((p, level), adjusted) in p.iter().zip(levels).zip(holm(&p)) {
                // Values on the boundary may fall to either side by rounding.
                prop_assume!((adjusted - 0.05).abs() > 1e-12);
                prop_assert_eq!(*p < level.error(), adjusted < 0.05);
            }
        }
    }
}
