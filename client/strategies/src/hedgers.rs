//! Hedgers, one per file. A hedger sends copies of an attempt after a fixed delay or after a percentile of latencies.

mod delay;
mod percentile;

pub(crate) use delay::Hedging;
pub(crate) use percentile::PercentileHedging;
