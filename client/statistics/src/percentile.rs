//! Percentiles by linear interpolation between order statistics.
//!
//! The method is type 7 of Hyndman and Fan ("Sample quantiles in statistical packages", The American Statistician 50,
//! 1996), the default of numpy and R. The arithmetic operations are those of numpy.

/// Returns the value below which the given share (0 to 1) of the sorted values lies. The result is interpolated between
/// the two neighbouring values.
///
/// Returns `None` if there are no values or the share is not within 0 to 1. The values must be ascending.
pub fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = Position::new(sorted.len(), share)?;
    Some(place.between(sorted[place.index], sorted[(place.index + 1).min(sorted.len() - 1)]))
}

/// Variant of [`percentile`] for unsorted values, which it reorders. This variant is faster than sorting for one or two
/// percentiles.
///
/// The values must not be NaN.
pub(crate) fn percentile_unsorted(values: &mut [f64], share: f64) -> Option<f64> {
    let place = Position::new(values.len(), share)?;
    let (_, low, above) = values.select_nth_unstable_by(place.index, f64::total_cmp);
    let low = *low;
    Some(place.between(low, above.iter().copied().min_by(f64::total_cmp).unwrap_or(low)))
}

struct Position {
    /// Index of the lower neighbour of the percentile among the sorted values. The upper neighbour is the next value.
    /// If the lower neighbour is the last value, it is also the upper neighbour.
    index: usize,
    /// Position of the percentile between its lower neighbour (0) and its upper neighbour (1).
    fraction: f64,
}

impl Position {
    fn new(count: usize, share: f64) -> Option<Self> {
        if !(0.0..=1.0).contains(&share) {
            return None;
        }
        let last = count.checked_sub(1)?;
        let position = last as f64 * share;
        let whole = position.floor();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the index is between 0 and `last`"
        )]
        let index = (whole as usize).min(last);
        Some(Self { index, fraction: position - whole })
    }

    /// Interpolates between two neighbouring values, starting from the nearer one, so that rounding cannot move the
    /// result outside their range.
    fn between(&self, low: f64, high: f64) -> f64 {
        let fraction = self.fraction;
        if fraction < 0.5 { low + (high - low) * fraction } else { high - (high - low) * (1.0 - fraction) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn percentiles_agree_with_numpy() {
        // numpy.percentile([4.1, 3.7, 5.9, 4.4, 12.0, 3.9, 4.0], [0, 5, 25, 50, 75, 95, 100])
        let sorted = [3.7, 3.9, 4.0, 4.1, 4.4, 5.9, 12.0];
        for (share, expected) in
            [(0.0, 3.7), (0.05, 3.76), (0.25, 3.95), (0.5, 4.1), (0.75, 5.15), (0.95, 10.17), (1.0, 12.0)]
        {
            let found = percentile(&sorted, share).unwrap();
            assert!((found - expected).abs() < 1e-12, "{share}: {found}");
        }
    }

    #[test]
    fn one_value_is_every_percentile() {
        assert_eq!(percentile(&[7.0], 0.05), Some(7.0));
    }

    #[test]
    fn nothing_and_shares_out_of_range_have_no_percentile() {
        assert_eq!(percentile(&[], 0.5), None);
        for share in [-0.01, 1.01, f64::NAN] {
            assert_eq!(percentile(&[1.0, 2.0], share), None);
        }
    }

    proptest! {
        #[test]
        fn percentiles_lie_between_the_extremes_and_rise(
            mut values in prop::collection::vec(-1e12..1e12_f64, 1..40),
            a in 0.0..=1.0_f64,
            b in 0.0..=1.0_f64,
        ) {
            let shuffled: Vec<f64> = values.iter().rev().copied().collect();
            values.sort_by(f64::total_cmp);
            let low = percentile(&values, a.min(b)).unwrap();
            prop_assert_eq!(percentile_unsorted(&mut shuffled.clone(), a.min(b)), Some(low));
            let high = percentile(&values, a.max(b)).unwrap();
            prop_assert!(values[0] <= low && low <= high && high <= *values.last().unwrap());
        }
    }
}
