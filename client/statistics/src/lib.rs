//! What runs over many seeds say: spreads, intervals, comparisons. Pure: no clock, no global randomness.
//!
//! The unit of statistics is the run: one value per run goes in, never one per op or attempt, which are not
//! independent of each other. The figures have the same bits on every machine: sums are taken in the order of the
//! values, and functions beyond the square root come from `libm`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod fairness;
mod growth;
mod holm;
mod level;
mod moments;
mod percentile;
mod series;

pub use fairness::jain;
pub use growth::growth_exponent;
pub use holm::{holm, holm_levels};
pub use level::Level;
pub use percentile::percentile;
pub use series::{autocorrelation, detrended};
