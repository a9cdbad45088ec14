//! Arithmetic of delays that every back-off shares: it saturates instead of wrapping.
//!
//! Source: seed 000 ("retry periods grew so large they overflowed the 64-bit counters").

use std::time::Duration;

/// `min(cap, base · 2^(n−1))` for the n-th retry, n from 1.
pub(crate) fn doubled(base: Duration, cap: Duration, n: u32) -> Duration {
    // Above 2^64 ns every base but zero is beyond every cap.
    let nanos = u64::try_from(base.as_nanos()).unwrap_or(u64::MAX);
    let factor = 1_u64.checked_shl(n.saturating_sub(1)).unwrap_or(u64::MAX);
    Duration::from_nanos(nanos.saturating_mul(factor)).min(cap)
}

/// `min(cap, base · scale · factor^steps)`; an infinite power of zero is zero.
pub(crate) fn grown(base: Duration, scale: f64, factor: f64, steps: u32, cap: Duration) -> Duration {
    fraction(base, scale * libm::pow(factor, f64::from(steps))).min(cap)
}

/// A fraction (or multiple) of a duration, to the nearest nanosecond.
pub(crate) fn fraction(of: Duration, ratio: f64) -> Duration {
    vocabulary::nanos(of.as_nanos() as f64 * ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn doubling_starts_at_the_base_and_saturates_at_the_cap() {
        let cap = Duration::from_secs(30);
        for (n, millis) in [(0, 50), (1, 50), (2, 100), (10, 25_600), (11, 30_000), (64, 30_000)] {
            assert_eq!(doubled(50 * MS, cap, n), millis * MS, "n = {n}");
        }
        assert_eq!(doubled(50 * MS, cap, u32::MAX), cap);
        assert_eq!(doubled(Duration::ZERO, cap, u32::MAX), Duration::ZERO);
        assert_eq!(doubled(Duration::MAX, cap, 1), cap);
    }

    #[test]
    fn infinite_powers_meet_the_cap_and_zero_stays_zero() {
        let cap = Duration::from_hours(1);
        assert_eq!(grown(MS, 1.5, 3.0, 2, cap), Duration::from_micros(13_500));
        assert_eq!(grown(MS, 1.0, 2.0, u32::MAX, cap), cap);
        assert_eq!(grown(MS, 1.0, 1.0, u32::MAX, cap), MS);
        assert_eq!(grown(Duration::ZERO, 1.0, 2.0, u32::MAX, cap), Duration::ZERO);
    }
}
