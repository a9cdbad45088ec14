//! Hedgers, one per file.

mod delay;

pub(crate) use delay::Hedging;
