//! Verdict on the ratio of two strategies' figures: lower, higher, equivalent or not distinguishable.

use crate::interval::Interval;

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
    use crate::{interval::Estimator, level::Level};

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
