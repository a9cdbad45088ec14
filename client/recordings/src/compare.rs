//! Comparison of a recording with the behaviour of a strategy, figure by figure.

pub(crate) mod attempts;
pub(crate) mod delays;
pub(crate) mod endings;
pub(crate) mod number;
pub(crate) mod series;

/// Significance level of every test whether two samples come from one distribution. Of ten thousand comparisons of a client with itself,
/// one fails. Seeds are fixed, so the same comparison fails every time.
pub(crate) const LEVEL: f64 = 1e-4;
