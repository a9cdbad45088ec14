//! Comparison of a recording with the behaviour of a strategy, figure by figure.

pub(crate) mod endings;
pub(crate) mod series;

/// Significance level of the tests whether two samples come from the same distribution. At this level, one of ten thousand comparisons of a
/// client with itself fails by chance. The comparison then fails each time, because the seeds are fixed.
pub(crate) const LEVEL: f64 = 1e-4;
