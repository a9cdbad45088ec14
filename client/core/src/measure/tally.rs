//! Sums of latencies that are exact for any number of latencies.

#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    pub(super) count: u64,
    pub(super) min_nanos: u64,
    pub(super) max_nanos: u64,
    sum: u128,
    /// Sum of the squares of latencies. The sum saturates on overflow, and then the standard deviation is meaningless.
    squares: u128,
}

/// Count, minimum, maximum and exact sums of recorded latencies, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencySums {
    pub count: u64,
    /// Shortest latency in nanoseconds; `u64::MAX` if nothing was recorded.
    pub min_nanos: u64,
    pub max_nanos: u64,
    pub sum: u128,
    pub squares: u128,
}

impl LatencySums {
    pub fn add(&mut self, other: &Self) {
        let mut sum = Tally::of_sums(self);
        sum.merge(&Tally::of_sums(other));
        *self = sum.sums();
    }
}

impl Default for LatencySums {
    fn default() -> Self {
        Tally::default().sums()
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self { count: 0, min_nanos: u64::MAX, max_nanos: 0, sum: 0, squares: 0 }
    }
}

impl Tally {
    pub(super) fn record(&mut self, nanos: u64) {
        self.count += 1;
        self.min_nanos = self.min_nanos.min(nanos);
        self.max_nanos = self.max_nanos.max(nanos);
        self.sum += u128::from(nanos);
        self.squares = self.squares.saturating_add(u128::from(nanos) * u128::from(nanos));
    }

    #[inline]
    pub(super) fn record_zero(&mut self) {
        self.count += 1;
        self.min_nanos = 0;
    }

    pub(super) fn sums(&self) -> LatencySums {
        let Self { count, min_nanos, max_nanos, sum, squares } = *self;
        LatencySums { count, min_nanos, max_nanos, sum, squares }
    }

    pub(super) fn of_sums(sums: &LatencySums) -> Self {
        let LatencySums { count, min_nanos, max_nanos, sum, squares } = *sums;
        Self { count, min_nanos, max_nanos, sum, squares }
    }

    pub(super) fn mean_and_max_ms(&self) -> Option<(f64, f64)> {
        (self.count > 0).then(|| (self.mean() / 1e6, self.max_nanos as f64 / 1e6))
    }

    pub(super) fn merge(&mut self, other: &Self) {
        // Additions saturate, because sums that were read from a document may have any value.
        self.count = self.count.saturating_add(other.count);
        self.min_nanos = self.min_nanos.min(other.min_nanos);
        self.max_nanos = self.max_nanos.max(other.max_nanos);
        self.sum = self.sum.saturating_add(other.sum);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// Returns the mean latency in nanoseconds; NaN if nothing was recorded.
    pub(super) fn mean(&self) -> f64 {
        self.sum as f64 / self.count as f64
    }

    /// Returns the standard deviation of the latencies (divisor n) in nanoseconds; 0 if nothing was recorded.
    pub(super) fn deviation(&self) -> f64 {
        let count = u128::from(self.count);
        // The standard deviation is computed from a difference of two sums. The difference is taken in whole numbers,
        // because a difference of two nearly equal floats would consist of rounding errors.
        let exact = count
            .checked_mul(self.squares)
            .zip(self.sum.checked_mul(self.sum))
            .map(|(squares, square)| squares.saturating_sub(square) as f64 / (count as f64 * count as f64));
        let rounded = || self.squares as f64 / count as f64 - self.mean() * self.mean();
        exact.unwrap_or_else(rounded).max(0.0).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(latencies: &[u64]) -> Tally {
        let mut tally = Tally::default();
        for nanos in latencies {
            tally.record(*nanos);
        }
        tally
    }

    #[test]
    fn equal_latencies_have_exactly_their_mean_and_no_deviation() {
        let tally = tally(&[600_000_001; 1000]);
        assert_eq!((tally.mean(), tally.deviation()), (600_000_001.0, 0.0));
    }

    #[test]
    fn a_small_deviation_is_not_drowned_by_a_large_mean() {
        let day = 86_400_000_000_000;
        let tally = tally(&[day + 2, day + 4, day + 4, day + 4, day + 5, day + 5, day + 7, day + 9]);
        assert!((tally.deviation() - 2.0).abs() < 1e-15);
    }

    #[test]
    fn what_is_merged_is_as_if_it_had_been_recorded_at_once() {
        let mut merged = tally(&[3, 9]);
        merged.merge(&tally(&[]));
        merged.merge(&tally(&[1]));
        assert_eq!((merged.count, merged.min_nanos, merged.max_nanos), (3, 1, 9));
        assert_eq!(
            (merged.mean(), merged.deviation()),
            (tally(&[1, 3, 9]).mean(), tally(&[1, 3, 9]).deviation())
        );
    }

    #[test]
    fn sums_beyond_all_bounds_do_not_wrap() {
        let tally = tally(&[u64::MAX; 3]);
        assert!(tally.deviation().is_finite());
        assert!((tally.mean() / u64::MAX as f64 - 1.0).abs() < 1e-9);
    }
}
