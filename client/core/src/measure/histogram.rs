//! Histograms of `hdrhistogram` with three significant digits. Their memory grows with the recorded values, up to a
//! bound.
//!
//! A value is recorded as the bound if it is at least the next power of two above the bound. A value between the bound
//! and that power of two is recorded unchanged.

use hdrhistogram::Histogram;

/// Maximum value of latency histograms: a day, in microseconds.
pub const MAX_US: u64 = 86_400_000_000;

pub const MAX_ATTEMPTS_PER_OP: u64 = 1_000_000;

pub fn empty() -> Histogram<u64> {
    Histogram::new(3).expect("three significant digits are accepted")
}

#[inline]
pub(super) fn record(histogram: &mut Histogram<u64>, value: u64, count: u64, bound: u64) {
    let value = if value < bound.next_power_of_two() { value } else { bound };
    histogram.record_n(value, count).expect("an auto-resizing histogram accepts every value");
}

pub(crate) fn copy(histogram: &Histogram<u64>, copy: &mut Histogram<u64>) {
    copy.set_to(histogram).expect("an auto-resizing histogram accepts every value");
}

/// Returns a pair for every bucket that is not empty: the bucket's middle value and its count. The pairs are in
/// ascending order.
pub(super) fn recorded(histogram: &Histogram<u64>) -> impl Iterator<Item = (u64, u64)> + '_ {
    histogram
        .iter_recorded()
        .map(|step| (histogram.median_equivalent(step.value_iterated_to()), step.count_at_value()))
}

/// Returns the values that were recorded since `earlier`, an older copy of `histogram`, was made. The result consists
/// of pairs of a bucket's middle value and a count, as in [`recorded`].
pub(super) fn recorded_since(histogram: &Histogram<u64>, earlier: &Histogram<u64>) -> Vec<(u64, u64)> {
    // The range is checked first, because for a larger value a histogram returns the count of its last bucket.
    let before = |value| if value <= earlier.max() { earlier.count_at(value) } else { 0 };
    recorded(histogram)
        .map(|(value, count)| (value, count.saturating_sub(before(value))))
        .filter(|(_, count)| *count > 0)
        .collect()
}

pub fn with_bound(histogram: &Histogram<u64>, bound: u64) -> Histogram<u64> {
    let mut bounded =
        Histogram::new_with_bounds(1, bound, 3).expect("the bounds are constants that are accepted");
    bounded.add(histogram).expect("values above the bound were recorded as the bound");
    bounded
}

/// Converts the histogram of a results document, which has a fixed size, to a histogram that grows when needed. Returns
/// `None` if its buckets differ from those of this module, if a value is above `bound`, or if the total overflows.
pub fn restored(mut document: Histogram<u64>, bound: u64) -> Option<Histogram<u64>> {
    let has_our_buckets = document.sigfig() == 3 && document.low() == 1;
    if !has_our_buckets || document.max() >= bound.next_power_of_two() {
        return None;
    }
    document.iter_recorded().try_fold(0_u64, |total, step| total.checked_add(step.count_at_value()))?;
    document.auto(true);
    Some(document)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers() -> impl Strategy<Value = Vec<u64>> {
        let edge = (0..40_u32, 0..3_u64).prop_map(|(bits, off)| ((1_u64 << bits) + off).saturating_sub(1));
        let any = (0..64_u32, any::<u64>()).prop_map(|(bits, number)| number >> bits);
        prop::collection::vec(prop_oneof![edge, any, 0..5000_u64], 0..60)
    }

    fn both(numbers: &[u64], bound: u64) -> (Histogram<u64>, Histogram<u64>) {
        let (mut grown, mut fixed) = (empty(), Histogram::new_with_bounds(1, bound, 3).unwrap());
        for number in numbers {
            record(&mut grown, *number, 1, bound);
            fixed.saturating_record(*number);
        }
        (grown, fixed)
    }

    proptest! {
        #[test]
        fn one_that_grows_equals_one_of_fixed_range(
            numbers in numbers(),
            others in numbers(),
            bound in prop_oneof![Just(MAX_ATTEMPTS_PER_OP), Just(MAX_US)],
        ) {
            let (mut grown, mut fixed) = both(&numbers, bound);
            let earlier = grown.clone();
            let (more, other) = both(&others, bound);
            grown += &more;
            fixed += &other;
            prop_assert_eq!(grown.len(), fixed.len());
            prop_assert_eq!(recorded(&grown).collect::<Vec<_>>(), recorded(&fixed).collect::<Vec<_>>());
            prop_assert_eq!(recorded_since(&grown, &earlier), recorded(&other).collect::<Vec<_>>());
            for share in [0.0, 0.5, 0.99, 1.0] {
                prop_assert_eq!(grown.value_at_quantile(share), fixed.value_at_quantile(share));
            }
            let document = with_bound(&grown, bound);
            prop_assert_eq!((document.high(), document.distinct_values()), (bound, fixed.distinct_values()));
            prop_assert_eq!(&document, &fixed);
            let mut again = restored(fixed, bound).unwrap();
            prop_assert_eq!(with_bound(&again, bound), document);
            copy(&earlier, &mut again);
            prop_assert_eq!(with_bound(&again, bound), with_bound(&earlier, bound));
        }
    }

    #[test]
    fn memory_grows_with_the_values_up_to_the_bound() {
        let mut histogram = empty();
        record(&mut histogram, 999, 1, MAX_US);
        assert_eq!(histogram.distinct_values(), 2048);
        record(&mut histogram, u64::MAX, 1, MAX_US);
        assert_eq!((histogram.distinct_values(), histogram.max()), (28_672, MAX_US | 0x03ff_ffff));
    }

    #[test]
    fn only_a_histogram_with_our_buckets_and_range_is_restored() {
        let other = |low, bound, digits| Histogram::new_with_bounds(low, bound, digits).unwrap();
        assert!(restored(other(1, 1000, 3), MAX_ATTEMPTS_PER_OP).is_some());
        assert!(restored(other(2, 1000, 3), MAX_ATTEMPTS_PER_OP).is_none());
        assert!(restored(other(1, 1000, 2), MAX_ATTEMPTS_PER_OP).is_none());
        let (mut beyond, mut overflowing) = (other(1, MAX_US, 3), other(1, 1000, 3));
        beyond.record(1 << 20).unwrap();
        assert!(restored(beyond, MAX_ATTEMPTS_PER_OP).is_none());
        for value in [1, 2] {
            overflowing.record_n(value, u64::MAX).unwrap();
        }
        assert!(restored(overflowing, MAX_ATTEMPTS_PER_OP).is_none());
    }
}
