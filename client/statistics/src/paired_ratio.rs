//! One strategy against another on the same luck: the ratio of a figure, run by run.
//!
//! Runs of the same block (seed) are paired, because most of what differs between runs is the luck both share.
//! Ratios are averaged as logarithms, so that twice and half cancel out; the mean is geometric.

use crate::{
    certainty::Certainty,
    interval::{Interval, Method},
    level::Level,
    moments,
    verdict::{Margin, Verdict},
};

/// How two strategies' figures compare, the first over the second.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PairedRatio {
    /// How many pairs of runs, at least one.
    pub pairs: usize,
    /// The geometric mean of the paired ratios, above 0; 1 is no difference.
    pub ratio: f64,
    /// Where the ratio lies; `None` below five pairs.
    pub interval: Option<Interval>,
    /// The two-sided p value (0 to 1) of "the ratio is 1", for [`holm`](fn@crate::holm); `None` below five pairs.
    ///
    /// From the same estimator as the interval. The bootstrap's cannot get below about 2 in 10 000, so with more
    /// than about 200 comparisons prefer [`Method::StudentT`].
    pub p_value: Option<f64>,
    /// What the interval lets one say.
    pub verdict: Verdict,
}

/// How to compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// How sure the interval is to be; see [`holm_levels`](crate::holm_levels) for many comparisons.
    pub level: Level,
    /// Who chooses the estimator.
    pub method: Method,
    /// How small a difference does not matter.
    pub margin: Margin,
}

/// Why two sets of runs have no paired ratio.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum Incomparable {
    /// There is nothing to compare.
    #[error("there are no pairs of runs to compare")]
    NoPairs,
    /// Some runs have no partner.
    #[error("{first} runs cannot be paired with {second}; give both strategies the same repeats")]
    UnequalLengths {
        /// The runs of the first strategy.
        first: usize,
        /// The runs of the second strategy.
        second: usize,
    },
    /// A ratio needs figures above 0, and finite ones.
    #[error("`{value}` has no ratio; only finite figures above 0 can be compared")]
    NotPositive {
        /// The first such figure.
        value: f64,
    },
}

impl PairedRatio {
    /// Compares the runs of two strategies, paired by position.
    pub fn of(first: &[f64], second: &[f64], comparison: Comparison) -> Result<Self, Incomparable> {
        if first.len() != second.len() {
            return Err(Incomparable::UnequalLengths { first: first.len(), second: second.len() });
        }
        if first.is_empty() {
            return Err(Incomparable::NoPairs);
        }
        let unusable = |value: &&f64| !(value.is_finite() && **value > 0.0);
        if let Some(&value) = first.iter().chain(second).find(unusable) {
            return Err(Incomparable::NotPositive { value });
        }
        // Quotients first, so that equal ratios have equal logarithms. One that leaves the range of floats has not.
        let log_ratio = |(a, b): (&f64, &f64)| {
            let ratio = a / b;
            if ratio.is_normal() { libm::log(ratio) } else { libm::log(*a) - libm::log(*b) }
        };
        let logs: Vec<f64> = first.iter().zip(second).map(log_ratio).collect();
        let certainty = Certainty::of_mean(&logs, comparison.method);
        let interval = certainty.as_ref().map(|known| known.interval(comparison.level).map(libm::exp));
        Ok(Self {
            pairs: logs.len(),
            ratio: libm::exp(moments::mean(&logs)),
            interval,
            p_value: certainty.map(|known| known.p_value(0.0)),
            verdict: Verdict::on(interval.as_ref(), comparison.margin),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: [f64; 8] = [20.1, 25.3, 22.8, 30.2, 27.9, 21.4, 24.6, 26.0];
    const COMPARISON: Comparison =
        Comparison { level: Level::P95, method: Method::BySize { seed: 1 }, margin: Margin::TWO_PERCENT };

    /// The base's runs, each times a factor around `ratio`.
    fn against_base(ratio: f64, count: usize) -> (Vec<f64>, Vec<f64>) {
        let wobble = [1.01, 0.98, 1.03, 0.99, 1.0, 0.97, 1.02, 1.005];
        let base: Vec<f64> = BASE.into_iter().cycle().take(count).collect();
        let other =
            base.iter().zip(wobble.iter().cycle()).map(|(run, factor)| run * ratio * factor).collect();
        (other, base)
    }

    fn compare(ratio: f64, count: usize) -> PairedRatio {
        let (other, base) = against_base(ratio, count);
        PairedRatio::of(&other, &base, COMPARISON).unwrap()
    }

    #[test]
    fn few_pairs_agree_with_scipys_paired_t_test() {
        let (other, base) = against_base(0.9, 8);
        let found = PairedRatio::of(&other, &base, COMPARISON).unwrap();
        // scipy 1.17.1: r = log(other / base); exp of mean(r) and of stats.t.interval(0.95, 7, mean(r), sem(r));
        // stats.ttest_rel(log(other), log(base)).pvalue
        let interval = found.interval.unwrap();
        for (found, expected) in [
            (found.ratio, 0.900_403_633_749_369_3),
            (interval.low, 0.885_407_555_771_667_1),
            (interval.high, 0.915_653_699_117_677_6),
            (found.p_value.unwrap() / 1.560_465_282_615_465_6e-6, 1.0),
        ] {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
        assert_eq!(found.verdict, Verdict::Lower);
    }

    #[test]
    fn many_pairs_are_resampled_and_agree_with_scipy() {
        let found = compare(1.2, 24);
        // scipy 1.17.1: exp of stats.bootstrap((r,), mean, method='BCa', n_resamples=100000), means over eight
        // generators; four standard deviations of a tenth of the resamples allowed.
        let interval = found.interval.unwrap();
        assert!((interval.low - 1.19138).abs() < 9e-4, "{interval:?}");
        assert!((interval.high - 1.20939).abs() < 9e-4, "{interval:?}");
        assert_eq!(found.verdict, Verdict::Higher);
        assert!(found.p_value.unwrap() < 0.001);
    }

    #[test]
    fn the_verdict_follows_the_interval() {
        assert_eq!(compare(1.0, 4).verdict, Verdict::TooFew);
        assert_eq!(compare(1.01, 8).verdict, Verdict::NotDistinguishable);
        assert_eq!(compare(1.0, 8).verdict, Verdict::Equivalent);
        assert_eq!(compare(1.0, 40).verdict, Verdict::Equivalent);
    }

    #[test]
    fn four_pairs_have_a_ratio_only() {
        let found = compare(2.0, 4);
        assert!((found.ratio - 2.0).abs() < 0.02);
        assert_eq!((found.interval, found.p_value), (None, None));
    }

    #[test]
    fn a_strategy_is_exactly_equivalent_to_itself() {
        for count in [5, 20, 200] {
            let base: Vec<f64> = BASE.into_iter().cycle().take(count).collect();
            let found = PairedRatio::of(&base, &base, COMPARISON).unwrap();
            let interval = found.interval.unwrap();
            assert_eq!((found.ratio, interval.low, interval.high), (1.0, 1.0, 1.0));
            assert_eq!((found.p_value, found.verdict), (Some(1.0), Verdict::Equivalent));
        }
    }

    #[test]
    fn swapping_the_strategies_turns_the_ratio_over() {
        let (other, base) = against_base(0.9, 8);
        let (there, back) = (
            PairedRatio::of(&other, &base, COMPARISON).unwrap(),
            PairedRatio::of(&base, &other, COMPARISON).unwrap(),
        );
        assert!((there.ratio * back.ratio - 1.0).abs() < 1e-12);
        assert!((there.p_value.unwrap() - back.p_value.unwrap()).abs() < 1e-12);
        assert_eq!(back.verdict, Verdict::Higher);
    }

    #[test]
    fn what_cannot_be_compared_says_why() {
        let of = |first: &[f64], second: &[f64]| PairedRatio::of(first, second, COMPARISON).unwrap_err();
        assert_eq!(of(&[], &[]), Incomparable::NoPairs);
        assert_eq!(of(&[1.0], &[1.0, 2.0]), Incomparable::UnequalLengths { first: 1, second: 2 });
        assert_eq!(of(&[1.0, 0.0], &[1.0, 2.0]), Incomparable::NotPositive { value: 0.0 });
        assert_eq!(of(&[1.0], &[-3.0]), Incomparable::NotPositive { value: -3.0 });
        assert!(matches!(of(&[f64::NAN], &[1.0]), Incomparable::NotPositive { .. }));
    }
}
