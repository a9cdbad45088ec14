//! What a recording tells against what a strategy does, figure by figure.

pub(crate) mod attempts;
pub(crate) mod delays;
pub(crate) mod endings;
pub(crate) mod number;
pub(crate) mod series;

/// The level of every test of whether two samples are of one distribution: of ten thousand comparisons of a client with
/// itself, one fails. Seeds are fixed, so it is always the same one.
pub(crate) const LEVEL: f64 = 1e-4;
