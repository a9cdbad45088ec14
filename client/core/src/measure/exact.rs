//! Exact latencies, for experiments small enough to keep them all: percentiles without a histogram's rounding.

use super::LatencyFigures;

/// The most latencies that are kept; above it the histogram alone counts.
pub const EXACT_LATENCIES: usize = 1_000_000;

/// Every latency, in nanoseconds, until there are too many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exact(Option<Vec<u64>>);

impl Exact {
    pub(crate) fn kept() -> Self {
        Self(Some(Vec::new()))
    }

    pub(crate) fn record(&mut self, nanos: u64) {
        if let Some(kept) = &mut self.0 {
            kept.push(nanos);
            if kept.len() > EXACT_LATENCIES {
                self.0 = None;
            }
        }
    }

    /// Milliseconds below which these shares (0 to 1) lie; none when not all were kept.
    pub(crate) fn quantiles_ms(&self, shares: &[f64]) -> Option<Vec<f64>> {
        let sorted = self.sorted()?;
        if sorted.is_empty() {
            return Some(Vec::new());
        }
        Some(shares.iter().map(|share| interpolated(&sorted, *share) / 1e6).collect())
    }

    fn sorted(&self) -> Option<Vec<u64>> {
        let mut sorted = self.0.clone()?;
        sorted.sort_unstable();
        Some(sorted)
    }

    /// The figures, with percentiles by linear interpolation between neighbours; none when not all were kept.
    pub(crate) fn figures(&self) -> Option<LatencyFigures> {
        let sorted = self.sorted()?;
        let count = sorted.len() as f64;
        let (Some(min), Some(max)) = (sorted.first(), sorted.last()) else {
            return Some(LatencyFigures::default());
        };
        let ms = |nanos: f64| Some(nanos / 1e6);
        let mean = sorted.iter().map(|nanos| u128::from(*nanos)).sum::<u128>() as f64 / count;
        let squares: f64 = sorted.iter().map(|nanos| (*nanos as f64 - mean) * (*nanos as f64 - mean)).sum();
        let at = |share: f64| ms(interpolated(&sorted, share));
        Some(LatencyFigures {
            count: sorted.len() as u64,
            min: ms(*min as f64),
            mean: ms(mean),
            stdev: ms((squares / count).sqrt()),
            p50: at(0.5),
            p75: at(0.75),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            max: ms(*max as f64),
        })
    }
}

/// The value at this share (0 to 1) of sorted values that are not empty.
fn interpolated(sorted: &[u64], share: f64) -> f64 {
    let position = share * (sorted.len() - 1) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is an index")]
    let below = position as usize;
    let above = (below + 1).min(sorted.len() - 1);
    let (low, high) = (sorted[below] as f64, sorted[above] as f64);
    low + (high - low) * (position - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_interpolated_and_too_many_latencies_are_dropped() {
        let mut exact = Exact::kept();
        assert_eq!(exact.figures(), Some(LatencyFigures::default()));
        for ms in [4, 1, 3, 2] {
            exact.record(ms * 1_000_000);
        }
        let figures = exact.figures().unwrap();
        assert_eq!((figures.p50, figures.p75, figures.max), (Some(2.5), Some(3.25), Some(4.0)));
        assert_eq!((figures.mean, figures.count), (Some(2.5), 4));
        for _ in 0..EXACT_LATENCIES {
            exact.record(1);
        }
        assert_eq!(exact.figures(), None);
        assert_eq!(Exact::default().figures(), None);
    }
}
