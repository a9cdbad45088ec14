//! Sums of latencies that are exact for any number of latencies.

/// Count, minimum, maximum and exact sums of recorded latencies, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencySums {
    pub count: u64,
    /// Shortest latency in nanoseconds; `u64::MAX` if nothing was recorded.
    pub min_nanos: u64,
    pub max_nanos: u64,
    pub sum: u128,
    /// Sum of the squares of latencies. The sum saturates on overflow, and then the standard deviation is meaningless.
    pub squares: u128,
}

impl Default for LatencySums {
    fn default() -> Self {
        Self { count: 0, min_nanos: u64::MAX, max_nanos: 0, sum: 0, squares: 0 }
    }
}

impl LatencySums {
    #[inline]
    pub(super) fn record(&mut self, nanos: u64, count: u64) {
        self.count += count;
        self.min_nanos = self.min_nanos.min(nanos);
        self.max_nanos = self.max_nanos.max(nanos);
        self.sum += u128::from(nanos) * u128::from(count);
        let squares = (u128::from(nanos) * u128::from(nanos)).saturating_mul(count.into());
        self.squares = self.squares.saturating_add(squares);
    }

    pub(super) fn mean_and_max_ms(&self) -> Option<(f64, f64)> {
        (self.count > 0).then(|| (self.mean() / 1e6, self.max_nanos as f64 / 1e6))
    }

    pub fn add(&mut self, other: &Self) {
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

    fn sums_of(latencies: &[u64]) -> LatencySums {
        let mut sums = LatencySums::default();
        for nanos in latencies {
            sums.record(*nanos, 1);
        }
        sums
    }

    #[test]
    fn equal_latencies_have_exactly_their_mean_and_no_deviation() {
        let sums = sums_of(&[600_000_001; 1000]);
        assert_eq!((sums.mean(), sums.deviation()), (600_000_001.0, 0.0));
    }

    #[test]
    fn a_small_deviation_is_not_drowned_by_a_large_mean() {
        let day = 86_400_000_000_000;
        let sums = sums_of(&[day + 2, day + 4, day + 4, day + 4, day + 5, day + 5, day + 7, day + 9]);
        assert!((sums.deviation() - 2.0).abs() < 1e-15);
    }

    #[test]
    fn what_is_merged_is_as_if_it_had_been_recorded_at_once() {
        let mut merged = sums_of(&[3, 9]);
        merged.add(&sums_of(&[]));
        merged.add(&sums_of(&[1]));
        assert_eq!((merged.count, merged.min_nanos, merged.max_nanos), (3, 1, 9));
        assert_eq!(
            (merged.mean(), merged.deviation()),
            (sums_of(&[1, 3, 9]).mean(), sums_of(&[1, 3, 9]).deviation())
        );
    }

    #[test]
    fn sums_beyond_all_bounds_do_not_wrap() {
        let sums = sums_of(&[u64::MAX; 3]);
        assert!(sums.deviation().is_finite());
        assert!((sums.mean() / u64::MAX as f64 - 1.0).abs() < 1e-9);
    }
}
