//! Arithmetic of delays, shared by all backoffs. Results saturate instead of overflowing.
//!
//! Source: the blog post of the scenario `sync-musings` ("retry periods grew so large they overflowed the 64-bit
//! counters").

use std::time::Duration;

use vocabulary::whole_nanos;

pub(crate) const LONGEST: Duration = Duration::from_hours(24);

/// Returns the delay `min(cap, base · scale · factor^steps)`. If `base` or `scale` is zero, the result is zero even if
/// the power overflows to infinity.
pub(crate) fn grown(base: Duration, scale: f64, factor: f64, steps: u32, cap: Duration) -> Duration {
    fraction(base, scale * libm::pow(factor, f64::from(steps))).min(cap)
}

/// Returns a duration drawn uniformly from `low` to `high`. With a non-zero grid, the result is `low` plus a whole
/// multiple of the grid, and all these values are equally likely. The value `high` itself is possible only if it lies
/// on the grid.
pub(crate) fn between(low: Duration, high: Duration, grid: Duration, unit: f64) -> Duration {
    let width = high.saturating_sub(low);
    if grid.is_zero() {
        return low.saturating_add(fraction(width, unit)).min(high);
    }
    let steps = width.as_nanos() / grid.as_nanos();
    low.saturating_add(vocabulary::nanos(libm::floor(unit * (steps + 1) as f64) * grid.as_nanos() as f64))
        .min(high)
}

/// Returns `ratio` times a duration, rounded to the nearest nanosecond.
pub(crate) fn fraction(of: Duration, ratio: f64) -> Duration {
    vocabulary::nanos(whole_nanos(of) as f64 * ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_grid_makes_whole_steps_equally_likely_up_to_both_ends() {
        let draw = |unit| between(MS, 5 * MS, MS, unit).as_millis();
        assert_eq!([0.0, 0.199, 0.2, 0.5, 0.999].map(draw), [1, 1, 2, 3, 5]);
        assert_eq!(between(MS, 5 * MS, Duration::ZERO, 0.5), 3 * MS);
        // A grid that does not fit, and reversed ends.
        assert_eq!(between(Duration::ZERO, 5 * MS, 2 * MS, 0.999), 4 * MS);
        assert_eq!(between(3 * MS, MS, MS, 0.999), MS);
    }

    #[test]
    fn infinite_powers_are_capped_and_zero_stays_zero() {
        let cap = Duration::from_hours(1);
        assert_eq!(grown(MS, 1.5, 3.0, 2, cap), Duration::from_micros(13_500));
        assert_eq!(grown(MS, 1.0, 2.0, u32::MAX, cap), cap);
        assert_eq!(grown(MS, 1.0, 1.0, u32::MAX, cap), MS);
        assert_eq!(grown(Duration::ZERO, 1.0, 2.0, u32::MAX, cap), Duration::ZERO);
    }
}
