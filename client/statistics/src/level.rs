//! Confidence levels, such as 95 %, and the stricter levels that several comparisons require.

/// Confidence level, stored as the error that it allows: 0.05 for a 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Level {
    error: f64,
}

impl Level {
    pub const P95: Self = Self { error: 0.05 };

    /// Strictest confidence level that can be requested. At stricter levels, results would depend on the tails of a
    /// formula and not on the runs.
    pub const STRICTEST: Self = Self { error: 1e-12 };

    pub fn allowing(error: f64) -> Option<Self> {
        (Self::STRICTEST.error..1.0).contains(&error).then_some(Self { error })
    }

    /// Returns the error of the level, from 1e-12 to below 1. The error is the share of cases in which the truth lies
    /// outside the interval, on either side.
    pub fn error(self) -> f64 {
        self.error
    }

    pub fn coverage(self) -> f64 {
        1.0 - self.error
    }

    /// Divides the error of this level among several comparisons (Bonferroni's rule). Returns the resulting stricter
    /// level of each comparison, which is never stricter than [`Level::STRICTEST`].
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
