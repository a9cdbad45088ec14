//! Retry policies, one per file. A retry policy decides whether a failed op is retried or given up, and the delay
//! before the retry.

mod backoff;
mod constant;
mod decorrelated_jitter;
mod equal_jitter;
mod exponential;
mod full_jitter;
mod immediate;
mod linear;
mod none;
mod thain;
mod uniform;

pub(crate) use backoff::Backoff;
pub(crate) use constant::Constant;
pub(crate) use decorrelated_jitter::DecorrelatedJitter;
pub(crate) use equal_jitter::EqualJitter;
pub(crate) use exponential::Exponential;
pub(crate) use full_jitter::FullJitter;
pub(crate) use immediate::Immediate;
pub(crate) use linear::Linear;
pub(crate) use none::{NO_RETRY, NoRetry};
pub(crate) use thain::Thain;
pub(crate) use uniform::Uniform;
