//! Confidence levels.

/// Confidence level, stored as the error that it allows: 0.05 for a 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Level {
    error: f64,
}

impl Level {
    pub const P95: Self = Self { error: 0.05 };

    /// Strictest confidence level. Stricter statements would depend on the tails of a formula, not on the runs.
    pub const STRICTEST: Self = Self { error: 1e-12 };

    pub fn allowing(error: f64) -> Option<Self> {
        (Self::STRICTEST.error..1.0).contains(&error).then_some(Self { error })
    }

    /// Returns the error of the level: the share of cases in which an interval misses the truth on either side, from
    /// 1e-12 to below 1.
    pub fn error(self) -> f64 {
        self.error
    }

    pub fn coverage(self) -> f64 {
        1.0 - self.error
    }

    /// Returns the stricter level that each comparison needs if several comparisons share this level's error
    /// (Bonferroni's rule). The result is never stricter than [`Level::STRICTEST`].
    #[must_use]
    pub fn shared_by(self, comparisons: usize) -> Self {
        Self { error: (self.error / comparisons.max(1) as f64).max(Self::STRICTEST.error) }
    }
}

impl Default for Level {
    fn default() -> Self {
        Self::P95
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_share_of_error_makes_a_level() {
        assert_eq!(Level::allowing(0.05), Some(Level::P95));
        for error in [0.0, 1e-13, 1.0, -0.1, 95.0, f64::NAN] {
            assert_eq!(Level::allowing(error), None, "{error}");
        }
    }

    #[test]
    fn comparisons_share_the_error() {
        assert!((Level::P95.shared_by(5).coverage() - 0.99).abs() < 1e-15);
        assert_eq!(Level::P95.shared_by(0), Level::P95);
        assert_eq!(Level::STRICTEST.shared_by(2), Level::STRICTEST);
    }
}
