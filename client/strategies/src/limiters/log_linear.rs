//! Histogram of latencies with two significant digits, and its quantiles.
//!
//! Source: openhistogram/libcircllhist `src/circllhist.c` (`int_scale_to_hist_bucket`, `hist_approx_quantile`), which
//! Envoy uses. There are 90 bins per power of ten. Quantiles assume that values are spread evenly within a bin. So they
//! are slightly too high if all values are at the lower end of a bin. For example, the median of many values of 5 ms is
//! 5.05 ms.

const BINS: usize = 90;

/// Number of powers of ten that fit into a `u64`.
const POWERS: usize = 20;

#[derive(Clone, Debug)]
pub(super) struct LogLinear {
    zeros: u32,
    counts: Vec<u32>,
    total: u32,
}

impl LogLinear {
    pub(super) fn new() -> Self {
        Self { zeros: 0, counts: vec![0; BINS * POWERS], total: 0 }
    }

    pub(super) fn total(&self) -> u32 {
        self.total
    }

    pub(super) fn insert(&mut self, value: u64) {
        let count = bin(value).map_or(&mut self.zeros, |bin| &mut self.counts[bin]);
        *count = count.saturating_add(1);
        self.total = self.total.saturating_add(1);
    }

    pub(super) fn clear(&mut self) {
        self.zeros = 0;
        self.total = 0;
        self.counts.fill(0);
    }

    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = f64::from(self.total) * share;
        let zeros = (self.zeros > 0).then_some((0.0, 0.0, f64::from(self.zeros)));
        let others = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let bins = zeros.into_iter().chain(others.map(|(bin, count)| {
            let width = libm::pow(10.0, (bin / BINS) as f64) / 10.0;
            ((bin % BINS + 10) as f64 * width, width, f64::from(*count))
        }));
        let mut below = 0.0;
        let mut found = None;
        for (left, width, count) in bins {
            found = Some(left + ((wanted - below) / count).clamp(0.0, 1.0) * width);
            below += count;
            if below >= wanted {
                break;
            }
        }
        found
    }
}

#[expect(clippy::cast_possible_truncation, reason = "there are two digits left")]
fn bin(value: u64) -> Option<usize> {
    let power = value.checked_ilog10()?;
    let digits = if power == 0 { value * 10 } else { value / 10_u64.pow(power - 1) };
    Some(power as usize * BINS + digits as usize - 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> LogLinear {
        let mut histogram = LogLinear::new();
        values.iter().copied().for_each(|value| histogram.insert(value));
        histogram
    }

    #[track_caller]
    fn quantile(values: &[u64], share: f64, wanted: f64) {
        let found = of(values).quantile(share).expect("there are values");
        assert!((found - wanted).abs() < 1e-6 * wanted.max(1.0), "{found} instead of {wanted}");
    }

    #[test]
    fn values_keep_two_digits_and_lie_evenly_in_their_bin() {
        quantile(&[1000, 2000, 3000, 4000, 5000], 0.5, 3050.0);
        quantile(&[13_999; 50], 0.5, 13_500.0);
        quantile(&[600_123; 4], 0.25, 602_500.0);
        quantile(&[7; 10], 0.5, 7.05);
        quantile(&[0, 0, 0, 8], 0.5, 0.0);
    }

    #[test]
    fn the_ends_of_bins_are_quantiles_themselves() {
        quantile(&[10, 20], 0.5, 11.0);
        quantile(&[10, 20], 0.0, 10.0);
        quantile(&[10, 20], 1.0, 21.0);
    }

    #[test]
    fn it_takes_every_value_and_forgets_all() {
        let mut histogram = of(&[0, 1, 9, 10, 99, 100, u64::MAX]);
        assert_eq!(histogram.total(), 7);
        histogram.clear();
        assert_eq!((histogram.total(), histogram.quantile(0.5)), (0, None));
    }
}
