//! Retry policies, one per file.

mod full_jitter;

pub(crate) use full_jitter::FullJitter;

use std::time::Duration;

/// `min(cap, base · 2^(n−1))` for the n-th retry, n from 1; powers saturate.
fn doubled(base: Duration, cap: Duration, n: u32) -> Duration {
    // Above 2^64 ns every base but zero is beyond every cap.
    let nanos = u64::try_from(base.as_nanos()).unwrap_or(u64::MAX);
    let factor = 1_u64.checked_shl(n.saturating_sub(1)).unwrap_or(u64::MAX);
    Duration::from_nanos(nanos.saturating_mul(factor)).min(cap)
}

/// A fraction of a duration, to the nearest nanosecond.
fn fraction(of: Duration, ratio: f64) -> Duration {
    vocabulary::nanos(of.as_nanos() as f64 * ratio)
}
