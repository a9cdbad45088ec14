//! Jain's fairness index: a measure of how evenly a resource is shared.

/// Returns Jain's fairness index, (Σx)² / (n Σx²). The index ranges from 1/n (one participant has everything) to 1 (all
/// participants have the same).
///
/// Jain, Chiu and Hawe, "A quantitative measure of fairness and discrimination for resource allocation in shared
/// computer systems" (DEC research report TR-301, 1984). Returns `None` if there are no shares, if a share is negative
/// or not finite, or if all shares are 0.
pub fn jain(shares: &[f64]) -> Option<f64> {
    jain_among(shares, shares.len())
}

/// Variant of [`jain`] for `sharing` participants. Participants that are not listed in `shares` got nothing.
pub fn jain_among(shares: &[f64], sharing: usize) -> Option<f64> {
    if !shares.iter().all(|share| share.is_finite() && *share >= 0.0) {
        return None;
    }
    let largest = shares.iter().copied().fold(0.0, f64::max);
    if largest <= 0.0 {
        return None;
    }
    // Shares are divided by the largest one, so that no square overflows or underflows.
    let (mut sum, mut squares) = (0.0, 0.0);
    for share in shares.iter().map(|share| share / largest) {
        sum += share;
        squares += share * share;
    }
    let count = sharing as f64;
    Some((sum * sum / (count * squares)).clamp(1.0 / count, 1.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equal_shares_are_fair() {
        assert_eq!(jain(&[3.0, 3.0, 3.0]), Some(1.0));
    }

    #[test]
    fn one_client_with_everything_has_the_lowest_jain_index() {
        assert_eq!(jain(&[0.0, 5.0, 0.0, 0.0]), Some(0.25));
    }

    #[test]
    fn the_index_follows_its_formula() {
        // (1 + 2 + 3)² / (3 · (1 + 4 + 9))
        assert!((jain(&[1.0, 2.0, 3.0]).unwrap() - 36.0 / 42.0).abs() < 1e-15);
    }

    #[test]
    fn what_is_no_share_has_no_index() {
        for shares in [&[][..], &[0.0, 0.0], &[-1.0, 2.0], &[f64::NAN], &[f64::INFINITY, 1.0]] {
            assert_eq!(jain(shares), None, "{shares:?}");
        }
    }

    proptest! {
        #[test]
        fn the_index_lies_between_one_nth_and_one(
            shares in prop::collection::vec(prop_oneof![Just(0.0), 0.0..1e300_f64, 0.0..1e-300_f64], 1..30),
        ) {
            if let Some(index) = jain(&shares) {
                prop_assert!(index >= 1.0 / shares.len() as f64 && index <= 1.0, "{index}");
            }
        }
    }
}
