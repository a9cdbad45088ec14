//! Paired comparison of two strategies on the same seeds: the ratio of a figure, run by run.
//!
//! Runs with the same seed (a block) are paired, because most of the difference between runs comes from random draws
//! that both runs of a pair share. Logarithms of the ratios are averaged, so that a ratio of 2 and a ratio of 1/2
//! cancel out. The resulting mean is geometric.

use crate::certainty::Certainty;
use crate::level::{Interval, Level, Method};
use crate::moments;

/// Comparison of two strategies by one figure, as the ratio of the first strategy's figure to the second strategy's.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PairedRatio {
    pub pairs: usize,
    /// Geometric mean of the paired ratios, above 0. A value of 1 means no difference.
    pub ratio: f64,
    pub interval: Option<Interval>,
    /// Two-sided p value (0 to 1) of the hypothesis "the ratio is 1", as input of [`holm`](fn@crate::holm); `None` with
    /// fewer than five pairs.
    ///
    /// The p value is computed by the same estimator as the interval. With the bootstrap, the p value cannot fall below
    /// about 2 in 10 000, so prefer [`Method::StudentT`] for more than about 200 comparisons.
    pub p_value: Option<f64>,
    pub verdict: PairOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Confidence level of the interval. For many comparisons, use the levels of [`holm_levels`](crate::holm_levels).
    pub level: Level,
    pub method: Method,
    pub margin: Margin,
}

#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum Incomparable {
    #[error("there are no pairs of runs to compare")]
    NoPairs,
    #[error("{first} runs cannot be paired with {second}; give both strategies the same repeats")]
    UnequalLengths { first: usize, second: usize },
    #[error("`{value}` cannot be part of a ratio; only finite figures above 0 can be compared")]
    NotPositive { value: f64 },
}

impl PairedRatio {
    /// Compares the runs of two strategies, with one value per run. Values at the same position of both lists form a
    /// pair.
    pub fn new(first: &[f64], second: &[f64], comparison: Comparison) -> Result<Self, Incomparable> {
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
        // Divide the values before taking the logarithm, so that equal ratios have equal logarithms. If the quotient is
        // outside the range of floats, subtract the logarithms instead.
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
            verdict: PairOutcome::on(interval.as_ref(), comparison.margin),
        })
    }
}

/// Conclusion from the confidence interval of a ratio. The ratio is the first strategy's figure divided by the second
/// strategy's figure.
///
/// Whether a lower ratio is better depends on the figure: lower is better for a makespan, but not for a goodput.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairOutcome {
    /// The comparison has fewer than five pairs of runs, which are too few for a verdict.
    TooFew,
    Lower,
    Higher,
    NotDistinguishable,
    /// The whole confidence interval of the ratio lies within the margin around 1, so any difference is too small to
    /// matter.
    Equivalent,
}

/// Maximum distance of a ratio from 1 at which the difference does not matter; two percent by default.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Margin(f64);

impl Margin {
    pub const TWO_PERCENT: Self = Self(0.02);

    pub fn new(distance: f64) -> Option<Self> {
        (0.0..1.0).contains(&distance).then_some(Self(distance))
    }

    pub fn distance(self) -> f64 {
        self.0
    }
}

impl Default for Margin {
    fn default() -> Self {
        Self::TWO_PERCENT
    }
}

impl PairOutcome {
    /// Returns the verdict on the ratio of two strategies' figures, from the confidence interval of the ratio.
    ///
    /// Equivalence is checked first, because a difference may be too small to matter. An example is an interval from
    /// 1.001 to 1.003. For equivalence, the whole interval must lie within the margin. This condition is the same as
    /// two one-sided tests, each with half of the level's error. Source: Schuirmann, "A comparison of the two one-sided
    /// tests procedure and the power approach", 1987.
    pub fn on(interval: Option<&Interval>, margin: Margin) -> Self {
        let Some(interval) = interval else {
            return Self::TooFew;
        };
        if interval.lies_within(1.0 - margin.0, 1.0 + margin.0) {
            Self::Equivalent
        } else if interval.includes(1.0) {
            Self::NotDistinguishable
        } else if interval.high < 1.0 {
            Self::Lower
        } else {
            Self::Higher
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::{Estimator, Level};

    const BASE: [f64; 8] = [20.1, 25.3, 22.8, 30.2, 27.9, 21.4, 24.6, 26.0];
    const COMPARISON: Comparison =
        Comparison { level: Level::P95, method: Method::BySize { seed: 1 }, margin: Margin::TWO_PERCENT };

    /// Returns the runs of the base, each times a factor around `ratio`, and the base.
    fn against_base(ratio: f64, count: usize) -> (Vec<f64>, Vec<f64>) {
        let wobble = [1.01, 0.98, 1.03, 0.99, 1.0, 0.97, 1.02, 1.005];
        let base: Vec<f64> = BASE.into_iter().cycle().take(count).collect();
        let other =
            base.iter().zip(wobble.iter().cycle()).map(|(run, factor)| run * ratio * factor).collect();
        (other, base)
    }

    fn compare(ratio: f64, count: usize) -> PairedRatio {
        let (other, base) = against_base(ratio, count);
        PairedRatio::new(&other, &base, COMPARISON).unwrap()
    }

    #[test]
    fn few_pairs_agree_with_scipys_paired_t_test() {
        let (other, base) = against_base(0.9, 8);
        let found = PairedRatio::new(&other, &base, COMPARISON).unwrap();
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
        assert_eq!(found.verdict, PairOutcome::Lower);
    }

    #[test]
    fn many_pairs_are_resampled_and_agree_with_scipy() {
        let found = compare(1.2, 24);
        // scipy 1.17.1: exp of stats.bootstrap((r,), mean, method='BCa', n_resamples=100000), means over eight
        // generators. The tolerance is four standard deviations for a tenth of the resamples.
        let interval = found.interval.unwrap();
        assert!((interval.low - 1.19138).abs() < 9e-4, "{interval:?}");
        assert!((interval.high - 1.20939).abs() < 9e-4, "{interval:?}");
        assert_eq!(found.verdict, PairOutcome::Higher);
        assert!(found.p_value.unwrap() < 0.001);
    }

    #[test]
    fn the_verdict_follows_the_interval() {
        assert_eq!(compare(1.0, 4).verdict, PairOutcome::TooFew);
        assert_eq!(compare(1.01, 8).verdict, PairOutcome::NotDistinguishable);
        assert_eq!(compare(1.0, 8).verdict, PairOutcome::Equivalent);
        assert_eq!(compare(1.0, 40).verdict, PairOutcome::Equivalent);
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
            let found = PairedRatio::new(&base, &base, COMPARISON).unwrap();
            let interval = found.interval.unwrap();
            assert_eq!((found.ratio, interval.low, interval.high), (1.0, 1.0, 1.0));
            assert_eq!((found.p_value, found.verdict), (Some(1.0), PairOutcome::Equivalent));
        }
    }

    #[test]
    fn swapping_the_strategies_turns_the_ratio_over() {
        let (other, base) = against_base(0.9, 8);
        let (there, back) = (
            PairedRatio::new(&other, &base, COMPARISON).unwrap(),
            PairedRatio::new(&base, &other, COMPARISON).unwrap(),
        );
        assert!((there.ratio * back.ratio - 1.0).abs() < 1e-12);
        assert!((there.p_value.unwrap() - back.p_value.unwrap()).abs() < 1e-12);
        assert_eq!(back.verdict, PairOutcome::Higher);
    }

    #[test]
    fn incomparable_pairs_report_the_reason() {
        let of = |first: &[f64], second: &[f64]| PairedRatio::new(first, second, COMPARISON).unwrap_err();
        assert_eq!(of(&[], &[]), Incomparable::NoPairs);
        assert_eq!(of(&[1.0], &[1.0, 2.0]), Incomparable::UnequalLengths { first: 1, second: 2 });
        assert_eq!(of(&[1.0, 0.0], &[1.0, 2.0]), Incomparable::NotPositive { value: 0.0 });
        assert_eq!(of(&[1.0], &[-3.0]), Incomparable::NotPositive { value: -3.0 });
        assert!(matches!(of(&[f64::NAN], &[1.0]), Incomparable::NotPositive { .. }));
    }

    #[test]
    fn the_interval_decides() {
        for (low, high, expected) in [
            (0.80, 0.90, PairOutcome::Lower),
            (1.10, 1.20, PairOutcome::Higher),
            (0.90, 1.10, PairOutcome::NotDistinguishable),
            (0.99, 1.03, PairOutcome::NotDistinguishable),
            (1.00, 1.10, PairOutcome::NotDistinguishable),
            (0.99, 1.01, PairOutcome::Equivalent),
            (0.98, 1.02, PairOutcome::Equivalent),
            (1.001, 1.003, PairOutcome::Equivalent),
            (1.01, 1.03, PairOutcome::Higher),
        ] {
            let interval = Interval { low, high, level: Level::P95, estimator: Estimator::StudentT };
            assert_eq!(PairOutcome::on(Some(&interval), Margin::default()), expected, "{low} {high}");
        }
        assert_eq!(PairOutcome::on(None, Margin::default()), PairOutcome::TooFew);
    }

    #[test]
    fn a_margin_is_a_share() {
        assert_eq!(Margin::new(0.02), Some(Margin::default()));
        for distance in [-0.01, 1.0, f64::NAN] {
            assert_eq!(Margin::new(distance), None, "{distance}");
        }
    }
}
