//! Verdict on a ratio of two strategies: lower, higher, equivalent or not distinguishable.

use crate::interval::Interval;

/// Conclusion from the interval of a ratio. The ratio is the first strategy's figure divided by the second's.
///
/// Whether lower is better depends on the figure. For a makespan it is; for a goodput it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairOutcome {
    /// Fewer than five pairs, which are too few.
    TooFew,
    Lower,
    Higher,
    NotDistinguishable,
    /// The whole interval lies within the margin around 1, so any difference is too small to matter.
    Equivalent,
}

/// Maximum distance from 1 at which a ratio does not matter; two percent by default.
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
    /// Returns the verdict on a ratio with this interval.
    ///
    /// Equivalence is checked first: an interval from 1.001 to 1.003 shows a difference, but none that matters. The
    /// requirement that the whole interval is within the margin is the two one-sided tests of Schuirmann ("A comparison
    /// of the two one-sided tests procedure and the power approach", 1987), each with half of the level's error.
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
