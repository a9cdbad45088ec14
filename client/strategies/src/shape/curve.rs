//! Delays of a backoff before spread and bounds are applied. Fast paths compute these delays with a shift or a table.

use std::time::Duration;

use vocabulary::{nanos, whole_nanos};

use crate::shape::growth::Growth;

/// Number of retries for which the multiple of the base is kept in a table. For later retries, the multiple is computed
/// at each use.
const TABLED: u32 = 64;

/// Growth curve of a delay. The delay before retry `k` is `offset + base · multiple(k)`. The first retry has the number
/// `start`.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    base: u64,
    base_as_f64: f64,
    offset_nanos: f64,
    growth: Growth,
    start: u32,
    law: CurveKind,
}

#[derive(Clone, Debug)]
enum CurveKind {
    Constant,
    Doubling,
    Tabled(Box<[f64]>),
    Reckoned,
}

impl Curve {
    pub(crate) fn new(base: Duration, offset: Duration, growth: Growth, start: u32) -> Self {
        let base_as_f64 = whole_nanos(base) as f64;
        let law = match growth {
            _ if growth == Growth::Exponential(2.0) && start == 1 && offset.is_zero() => CurveKind::Doubling,
            Growth::Constant if offset.is_zero() => CurveKind::Constant,
            _ if growth.is_slow() => {
                CurveKind::Tabled((start..start + TABLED).map(|k| growth.multiple(base_as_f64, k)).collect())
            }
            _ => CurveKind::Reckoned,
        };
        let offset_nanos = whole_nanos(offset) as f64;
        let base = whole_nanos(base);
        Self { base, base_as_f64, offset_nanos, growth, start, law }
    }

    pub(crate) fn base(&self) -> Duration {
        Duration::from_nanos(self.base)
    }

    pub(crate) fn base_nanos(&self) -> u64 {
        self.base
    }

    /// Returns the delay before retry `k`, from 1. The delay and its upper bound `cap` are in nanoseconds.
    #[inline]
    pub(crate) fn at(&self, k: u32, cap: u64) -> u64 {
        match self.law {
            CurveKind::Constant => self.base.min(cap),
            CurveKind::Doubling => {
                // If the multiple overflows, the delay is longer than every cap. The only exception is a base of zero.
                let factor = 1_u64.checked_shl(k.saturating_sub(1)).unwrap_or(u64::MAX);
                self.base.saturating_mul(factor).min(cap)
            }
            CurveKind::Tabled(_) | CurveKind::Reckoned => whole_nanos(self.scaled(k, 1.0)).min(cap),
        }
    }

    /// Returns `scale` times the delay before retry `k`. The product is rounded only once.
    pub(crate) fn scaled(&self, k: u32, scale: f64) -> Duration {
        let multiple = self.multiple(k);
        if self.offset_nanos > 0.0 {
            return nanos((self.base_as_f64 * multiple + self.offset_nanos) * scale);
        }
        nanos(self.base_as_f64 * (scale * multiple))
    }

    fn multiple(&self, k: u32) -> f64 {
        match &self.law {
            CurveKind::Doubling if k <= TABLED => Some((1_u64 << k.saturating_sub(1)) as f64),
            CurveKind::Tabled(table) => table.get(k.saturating_sub(1) as usize).copied(),
            _ => None,
        }
        .unwrap_or_else(|| {
            self.growth.multiple(self.base_as_f64, k.saturating_add(self.start).saturating_sub(1))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubling_starts_at_the_base_and_saturates_at_the_cap() {
        let (ms, cap) = (Duration::from_millis(1), 30_000_000_000);
        let curve = |base| Curve::new(base, Duration::ZERO, Growth::Exponential(2.0), 1);
        let doubled = curve(50 * ms);
        for (k, millis) in [(0, 50), (1, 50), (2, 100), (10, 25_600), (11, 30_000), (64, 30_000)] {
            assert_eq!(doubled.at(k, cap), millis * 1_000_000, "k = {k}");
        }
        assert_eq!(doubled.at(u32::MAX, cap), cap);
        assert_eq!(curve(Duration::ZERO).at(u32::MAX, cap), 0);
        assert_eq!(curve(Duration::MAX).at(1, cap), cap);
    }

    #[test]
    fn shifting_and_powers_agree() {
        let base = Duration::from_millis(37);
        let shifted = Curve::new(base, Duration::ZERO, Growth::Exponential(2.0), 1);
        for k in 1..=66 {
            let power = Growth::Exponential(2.0).multiple(37e6, k);
            assert_eq!(shifted.multiple(k).to_bits(), power.to_bits(), "k = {k}");
        }
    }

    #[test]
    fn tables_and_what_is_beyond_them_agree() {
        let base = Duration::from_millis(1);
        for growth in [Growth::Exponential(1.1), Growth::Fibonacci, Growth::Truncated(1.5)] {
            let curve = Curve::new(base, Duration::ZERO, growth, 1);
            for k in [1, 2, 63, 64, 65, 100] {
                assert_eq!(
                    curve.multiple(k).to_bits(),
                    growth.multiple(1e6, k).to_bits(),
                    "{growth:?}, k = {k}"
                );
            }
        }
    }
}
