//! Histograms whose number of bins depends on the available rows or columns.

use std::time::Duration;

use loadgen_core::{Latencies, Snapshot};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bin {
    pub(crate) label: String,
    /// Share of all ended ops that are in the bin, 0 to 1.
    pub(crate) share: f64,
}

const FIRST_ATTEMPTS: [u64; 10] = [1, 2, 3, 4, 6, 10, 20, 50, 100, 1_000];

pub(crate) fn attempts_per_op(snapshot: &Snapshot, rows: usize) -> Vec<Bin> {
    let histogram = &snapshot.attempts_per_op;
    let firsts = &FIRST_ATTEMPTS[..rows.min(FIRST_ATTEMPTS.len())];
    let total = histogram.len().max(1) as f64;
    let bin = |(index, &first): (usize, &u64)| {
        let last = firsts.get(index + 1).map(|next| next - 1);
        let label = match last {
            None => format!("{first}+"),
            Some(last) if last == first => first.to_string(),
            Some(last) => format!("{first}–{last}"),
        };
        let count = histogram.count_between(first, last.unwrap_or(u64::MAX));
        Bin { label, share: count as f64 / total }
    };
    firsts.iter().enumerate().map(bin).collect()
}

pub(crate) fn latency_bins(latencies: &Latencies, end: Duration, bins: u32) -> Vec<u64> {
    let step = (end / bins.max(1)).max(Duration::from_micros(1));
    let low = |bin: u32| step * bin + Duration::from_micros(u64::from(bin > 0));
    (0..bins).map(|bin| latencies.count_between(low(bin), step * (bin + 1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(attempts: &[u64]) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for &attempts in attempts {
            snapshot.attempts_per_op += attempts;
        }
        snapshot
    }

    #[test]
    fn attempts_fall_into_bins_and_the_rest_into_the_last() {
        let bins = attempts_per_op(&snapshot(&[1, 1, 2, 5, 7, 9_999]), 4);
        let labels: Vec<_> = bins.iter().map(|bin| bin.label.as_str()).collect();
        assert_eq!(labels, ["1", "2", "3", "4+"]);
        assert!((bins[0].share - 2.0 / 6.0).abs() < 1e-9 && (bins[3].share - 0.5).abs() < 1e-9, "{bins:?}");
        assert_eq!(attempts_per_op(&snapshot(&[]), 99).len(), FIRST_ATTEMPTS.len());
    }

    #[test]
    fn every_latency_is_in_one_bin() {
        let mut latencies = Latencies::default();
        (1..=1_000).for_each(|ms| latencies.record(Duration::from_millis(ms)));
        let bins = latency_bins(&latencies, Duration::from_secs(1), 10);
        assert!(bins.iter().all(|count| (95..=105).contains(count)), "{bins:?}");
    }
}
