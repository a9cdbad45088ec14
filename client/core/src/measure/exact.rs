//! Storage of all individual latencies, for experiments that are small enough. Percentiles of stored latencies are free
//! of the rounding of a histogram.

use std::borrow::Cow;

/// Maximum number of individual latencies that are stored per kind of latency. With more latencies only the histogram
/// is used.
pub const EXACT_LATENCIES: usize = 1_000_000;

#[derive(Clone, Debug, Default)]
pub(super) struct Exact(Option<Vec<u64>>);

impl Exact {
    pub(super) fn kept() -> Self {
        Self(Some(Vec::new()))
    }

    pub(super) fn record(&mut self, nanos: u64) {
        if let Some(kept) = &mut self.0 {
            kept.push(nanos);
            if kept.len() > EXACT_LATENCIES {
                self.0 = None;
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        match (&mut self.0, &other.0) {
            (Some(kept), Some(others)) if kept.len() + others.len() <= EXACT_LATENCIES => kept.extend(others),
            _ => self.0 = None,
        }
    }

    pub(super) fn sort(&mut self) {
        if let Some(kept) = &mut self.0 {
            kept.sort_unstable();
        }
    }

    /// Returns all latencies in ascending order; `None` if some were not stored. The latencies are copied only if they
    /// have not been sorted yet.
    pub(super) fn sorted(&self) -> Option<Cow<'_, [u64]>> {
        let kept = self.0.as_deref()?;
        if kept.is_sorted() {
            return Some(Cow::Borrowed(kept));
        }
        let mut sorted = kept.to_vec();
        #[expect(
            clippy::stable_sort_primitive,
            reason = "merged latencies are sorted sequences, which it merges"
        )]
        sorted.sort();
        Some(Cow::Owned(sorted))
    }
}

/// Returns the standard deviation (divisor n) of sorted latencies, in nanoseconds.
pub(super) fn deviation(sorted: &[u64]) -> f64 {
    let count = sorted.len() as f64;
    let mean = sorted.iter().map(|nanos| u128::from(*nanos)).sum::<u128>() as f64 / count;
    let squares: f64 = sorted.iter().map(|nanos| (*nanos as f64 - mean) * (*nanos as f64 - mean)).sum();
    (squares / count).sqrt()
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Neighbours {
    /// Indices, counted from 0, of the two sorted values between which the quantile lies. Both indices are equal if the
    /// quantile is the last value.
    pub(super) below: u64,
    pub(super) above: u64,
    /// Position of the quantile between the two values: 0 at the lower value, 1 at the upper value.
    way: f64,
}

impl Neighbours {
    /// Returns the position of the quantile `share` (0 to 1) among `count` sorted values, of which there must be at
    /// least one.
    pub(super) fn new(share: f64, count: u64) -> Self {
        let last = count.saturating_sub(1);
        let position = share * last as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the rank of a value fits"
        )]
        let below = (position as u64).min(last);
        Self { below, above: (below + 1).min(last), way: position - below as f64 }
    }

    pub(super) fn between(self, value: impl Fn(usize) -> u64) -> f64 {
        let at = |place: u64| value(usize::try_from(place).unwrap_or(usize::MAX)) as f64;
        let (low, high) = (at(self.below), at(self.above));
        low + (high - low) * self.way
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_latencies_are_not_kept() {
        let mut exact = Exact::kept();
        exact.record(2);
        exact.record(1);
        assert_eq!(exact.sorted().as_deref(), Some(&[1, 2][..]));
        let mut more = exact.clone();
        for _ in 0..EXACT_LATENCIES {
            exact.record(1);
        }
        assert_eq!(exact.sorted(), None);
        more.merge(&exact);
        assert_eq!((more.sorted(), Exact::default().sorted()), (None, None));
    }

    #[test]
    fn a_percentile_is_interpolated_between_its_neighbours() {
        assert_eq!(Neighbours::new(0.5, 4), Neighbours { below: 1, above: 2, way: 0.5 });
        assert_eq!(Neighbours::new(1.0, 4), Neighbours { below: 3, above: 3, way: 0.0 });
        assert_eq!(Neighbours::new(0.0, 1), Neighbours { below: 0, above: 0, way: 0.0 });
    }
}
