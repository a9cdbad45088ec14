//! Statistics of runs over many seeds: spreads, intervals, comparisons. All functions are pure: they use no clock and
//! no global randomness.
//!
//! The statistical unit is the run: each run contributes one value to a figure. Ops and attempts are not used as units,
//! because they are not independent of each other. Results have the same bits on every machine: sums are computed in
//! the order of the values, and functions other than the square root are those of `libm`.
//!
//! [`Summary`] describes one figure of many runs, [`PairedRatio`] compares two strategies on the same seeds, and
//! [`holm`](fn@holm) corrects for many comparisons. [`jain`], [`autocorrelation`] and [`growth_exponent`] are figures
//! of a single run. [`KolmogorovSmirnov`] tests whether two samples come from one distribution.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod bootstrap;
mod certainty;
mod fairness;
mod holm;
mod kolmogorov_smirnov;
mod level;
mod moments;
mod normal;
mod paired_ratio;
mod percentile;
mod series;
mod student_t;
mod summary;

pub use bootstrap::Bootstrap;
pub use fairness::{jain, jain_among};
pub use holm::{holm, holm_levels};
pub use kolmogorov_smirnov::KolmogorovSmirnov;
pub use level::{Estimator, Interval, Level, Method};
pub use paired_ratio::{Comparison, Incomparable, Margin, PairOutcome, PairedRatio};
pub use percentile::percentile;
pub use series::{autocorrelation, detrended, growth_exponent};
pub use summary::{Summary, skewness};
