//! Hedgers, one per file.

mod delay;
mod percentile;

pub(crate) use delay::Hedging;
pub(crate) use percentile::PercentileHedging;
