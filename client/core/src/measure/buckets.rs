//! Counts of whole numbers in the buckets of an HDR histogram with three significant digits.
//!
//! The layout is that of `hdrhistogram`, so that both know the same of what was recorded: numbers below 2048 have buckets of
//! their own, and each doubling above has 1024. What differs is the price: every attempt is recorded twice or more, so a
//! bucket is found in a few instructions, and memory reaches as far as numbers did.

use hdrhistogram::Histogram;

/// Buckets of one doubling, from the second on; the first has twice as many.
const OF_A_DOUBLING: usize = 1 << DIGITS;

const DIGITS: u32 = 10;

/// What is below this has a bucket of its own.
const APART: u64 = 2 << DIGITS;

/// More attempts of an op count as so many where they are told by buckets.
pub(super) const MOST_ATTEMPTS_PER_OP: u64 = 1_000_000;

/// How often numbers came, as far as their buckets tell.
#[derive(Clone, Debug)]
pub struct Buckets {
    /// Up to the highest doubling that was met.
    counts: Vec<u64>,
    total: u64,
    /// What is beyond all buckets counts as this.
    most: u64,
}

impl Buckets {
    /// Buckets up to this number, and to the end of its doubling.
    pub(crate) const fn up_to(most: u64) -> Self {
        Self { counts: Vec::new(), total: 0, most }
    }

    /// Records one.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.total += 1;
        match self.counts.get_mut(index(value)) {
            Some(count) => *count += 1,
            None => self.record_beyond(value),
        }
    }

    /// Records one that is greater than any before.
    #[cold]
    fn record_beyond(&mut self, value: u64) {
        let index = if index(value) <= self.last() { index(value) } else { index(self.most) };
        if index >= self.counts.len() {
            self.counts.resize((index / OF_A_DOUBLING + 1) * OF_A_DOUBLING, 0);
        }
        self.counts[index] += 1;
    }

    /// The last bucket that there can be.
    fn last(&self) -> usize {
        index(self.most) | (OF_A_DOUBLING - 1)
    }

    /// How many were recorded.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// How many lie between two numbers, both included, at the buckets' resolution.
    pub fn count_between(&self, low: u64, high: u64) -> u64 {
        let end = (index(high).min(self.last()) + 1).min(self.counts.len());
        let start = index(low).min(self.last()).min(end);
        self.counts[start..end].iter().sum()
    }

    /// The greatest number of the bucket at or below which this share (0 to 1) of all lies.
    pub fn value_at_quantile(&self, share: f64) -> u64 {
        self.to_histogram().value_at_quantile(share)
    }

    /// The middle of every bucket that is not empty, rising, with how many lie in it.
    pub(super) fn recorded(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let recorded = self.counts.iter().copied().enumerate().filter(|(_, count)| *count > 0);
        recorded.map(|(index, count)| (middle(index), count))
    }

    /// What was recorded after `earlier`, a copy of this from before: the middle of every bucket, rising, and how many.
    pub(super) fn recorded_since(&self, earlier: &Self) -> Vec<(u64, u64)> {
        let before = earlier.counts.iter().copied().chain(std::iter::repeat(0));
        let counts = self.counts.iter().zip(before).map(|(now, before)| now.saturating_sub(before));
        let recorded = counts.enumerate().filter(|(_, count)| *count > 0);
        recorded.map(|(index, count)| (middle(index), count)).collect()
    }

    /// The buckets of numbers up to this one, out of a histogram that has them; nothing when that counts in others.
    pub(super) fn restored(histogram: &Histogram<u64>, most: u64) -> Option<Self> {
        if histogram.sigfig() != 3 || histogram.low() != 1 {
            return None;
        }
        let mut buckets = Self::up_to(most);
        for step in histogram.iter_recorded() {
            let index = index(step.value_iterated_to());
            if index > buckets.last() {
                return None;
            }
            if index >= buckets.counts.len() {
                buckets.counts.resize((index / OF_A_DOUBLING + 1) * OF_A_DOUBLING, 0);
            }
            buckets.counts[index] += step.count_at_value();
            buckets.total = buckets.total.checked_add(step.count_at_value())?;
        }
        Some(buckets)
    }

    /// Attempts per op, out of a histogram of them; nothing when that counts in other buckets.
    pub fn of_attempts_per_op(histogram: &Histogram<u64>) -> Option<Self> {
        Self::restored(histogram, MOST_ATTEMPTS_PER_OP)
    }

    /// Adds everything recorded in `other`, of the same range.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.saturating_add(*more);
        }
        self.total = self.total.saturating_add(other.total);
    }

    /// Makes this a copy of `other`, reusing its memory.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.counts.clone_from(&other.counts);
        (self.total, self.most) = (other.total, other.most);
    }

    /// The same as others read it.
    pub fn to_histogram(&self) -> Histogram<u64> {
        let mut histogram =
            Histogram::new_with_bounds(1, self.most, 3).expect("the bounds are constants that are accepted");
        for (index, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            histogram.saturating_record_n(bucket(index).0, *count);
        }
        histogram
    }
}

/// The bucket of a number.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "it is shifted to less than 12 bits")]
fn index(value: u64) -> usize {
    let doublings = (value | (APART - 1)).ilog2() - DIGITS;
    doublings as usize * OF_A_DOUBLING + (value >> doublings) as usize
}

/// The number in the middle of a bucket.
fn middle(index: usize) -> u64 {
    let (low, width) = bucket(index);
    low + width / 2
}

/// The least number in a bucket, and how many there are.
fn bucket(index: usize) -> (u64, u64) {
    let doublings = (index / OF_A_DOUBLING).saturating_sub(1);
    let within = (index - doublings * OF_A_DOUBLING) as u64;
    (within << doublings, 1 << doublings)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers of every size, and those at the edges of buckets.
    fn numbers() -> impl Strategy<Value = Vec<u64>> {
        let edge = (0..40_u32, 0..3_u64).prop_map(|(bits, off)| ((1_u64 << bits) + off).saturating_sub(1));
        let any = (0..64_u32, any::<u64>()).prop_map(|(bits, number)| number >> bits);
        prop::collection::vec(prop_oneof![edge, any, 0..5000_u64], 0..60)
    }

    fn both(numbers: &[u64], most: u64) -> (Buckets, Histogram<u64>) {
        let (mut buckets, mut histogram) =
            (Buckets::up_to(most), Histogram::new_with_bounds(1, most, 3).unwrap());
        for number in numbers {
            buckets.record(*number);
            histogram.saturating_record(*number);
        }
        (buckets, histogram)
    }

    proptest! {
        #[test]
        fn it_knows_what_hdrhistogram_knows(
            numbers in numbers(),
            others in numbers(),
            most in prop_oneof![Just(1_000_000), Just(86_400_000_000_u64)],
            ends in (any::<u64>(), any::<u64>(), 0..64_u32),
        ) {
            let (mut buckets, mut histogram) = both(&numbers, most);
            let (more, other) = both(&others, most);
            buckets.merge(&more);
            histogram.add(&other).unwrap();
            prop_assert_eq!(buckets.count(), histogram.len());
            let (low, high) = (ends.0.min(ends.1) >> ends.2, ends.0.max(ends.1) >> ends.2);
            prop_assert_eq!(buckets.count_between(low, high), histogram.count_between(low, high));
            let recorded: Vec<_> = histogram
                .iter_recorded()
                .map(|step| (histogram.median_equivalent(step.value_iterated_to()), step.count_at_value()))
                .collect();
            prop_assert_eq!(buckets.recorded().collect::<Vec<_>>(), recorded);
            prop_assert_eq!(buckets.to_histogram(), histogram.clone());
            for share in [0.0, 0.5, 0.99, 1.0] {
                prop_assert_eq!(buckets.value_at_quantile(share), histogram.value_at_quantile(share));
            }
            let restored = Buckets::restored(&histogram, most).unwrap();
            prop_assert_eq!((&restored.counts, restored.count()), (&buckets.counts, buckets.count()));
            prop_assert!(buckets.recorded_since(&restored).is_empty());
            let mut copy = Buckets::up_to(1);
            copy.copy_from(&buckets);
            prop_assert_eq!(copy.to_histogram(), histogram);
        }
    }

    #[test]
    fn memory_reaches_as_far_as_numbers_do() {
        let mut buckets = Buckets::up_to(86_400_000_000);
        buckets.record(999);
        assert_eq!(buckets.counts.len(), 1024);
        buckets.record(u64::MAX);
        assert_eq!(buckets.counts.len(), 28_672);
    }
}
