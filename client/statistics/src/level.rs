//! Confidence levels, such as 95 %, the stricter levels that several comparisons require, and intervals at a level.

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

/// Confidence intervals, and the statistical methods that compute them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end of the interval, in the unit of the values; at most `high`.
    pub low: f64,
    pub high: f64,
    pub level: Level,
    pub estimator: Estimator,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// Student's t, which assumes that the mean is approximately normally distributed.
    StudentT,
    /// Bias-corrected and accelerated bootstrap, which assumes no shape of the distribution.
    Bootstrap,
    /// Interval between two order statistics. It is exact for the median, whatever the shape of the distribution.
    OrderStatistics,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Student's t, for five or more values. This method is fast, so it suits long lists of figures.
    StudentT,
    /// Method chosen by the number of values. For 5 to 19 values the method is Student's t, because they are too few to
    /// resample. For 20 to 199 values it is the bootstrap. From 200 values on it is Student's t again. The mean of so
    /// many values is so close to normal that both methods nearly agree, and resampling is expensive.
    BySize {
        /// Seed of the bootstrap's random draws. The same seed and values give the same interval.
        seed: u64,
    },
}

impl Interval {
    pub fn includes(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    pub fn lies_within(&self, low: f64, high: f64) -> bool {
        low <= self.low && self.high <= high
    }

    pub(crate) fn map(self, rising: impl Fn(f64) -> f64) -> Self {
        Self { low: rising(self.low), high: rising(self.high), ..self }
    }
}

impl Method {
    pub fn estimator(self, count: usize) -> Option<Estimator> {
        match (self, count) {
            (_, 0..5) => None,
            (Self::BySize { .. }, 20..200) => Some(Estimator::Bootstrap),
            _ => Some(Estimator::StudentT),
        }
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

    #[test]
    fn the_number_of_values_chooses_the_estimator() {
        let by_size = Method::BySize { seed: 1 };
        for (count, expected) in [
            (0, None),
            (4, None),
            (5, Some(Estimator::StudentT)),
            (19, Some(Estimator::StudentT)),
            (20, Some(Estimator::Bootstrap)),
            (199, Some(Estimator::Bootstrap)),
            (200, Some(Estimator::StudentT)),
        ] {
            assert_eq!(by_size.estimator(count), expected, "{count}");
        }
        assert_eq!(Method::StudentT.estimator(4), None);
        assert_eq!(Method::StudentT.estimator(50), Some(Estimator::StudentT));
    }

    #[test]
    fn the_ends_belong_to_the_interval() {
        let interval = Interval { low: 0.98, high: 1.0, level: Level::P95, estimator: Estimator::StudentT };
        assert!(interval.includes(1.0) && interval.includes(0.98) && !interval.includes(1.01));
        assert!(interval.lies_within(0.98, 1.02) && !interval.lies_within(0.99, 1.02));
    }
}
