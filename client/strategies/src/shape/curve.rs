//! The delays before chance and bounds, as fast as they can be had: by shifting, or out of a table.

use std::time::Duration;

use vocabulary::{nanos, whole_nanos};

use crate::delay::doubled;
use crate::shape::growth::Growth;

/// Retries whose multiples are kept in a table; later ones are reckoned anew.
const TABLED: u32 = 64;

/// `offset + base · multiple(k)`, for k from `start`.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    pub(crate) base: Duration,
    base_nanos: f64,
    offset_nanos: f64,
    growth: Growth,
    start: u32,
    law: Law,
}

#[derive(Clone, Debug)]
enum Law {
    Doubling,
    Tabled(Box<[f64]>),
    Reckoned,
}

impl Curve {
    pub(crate) fn new(base: Duration, offset: Duration, growth: Growth, start: u32) -> Self {
        let base_nanos = whole_nanos(base) as f64;
        let law = match growth {
            _ if growth == Growth::Exponential(2.0) && start == 1 && offset.is_zero() => Law::Doubling,
            _ if growth.is_slow() => {
                Law::Tabled((start..start + TABLED).map(|k| growth.multiple(base_nanos, k)).collect())
            }
            _ => Law::Reckoned,
        };
        let offset_nanos = whole_nanos(offset) as f64;
        Self { base, base_nanos, offset_nanos, growth, start, law }
    }

    /// The delay before retry `k`, from 1, cut to `cap`.
    pub(crate) fn at(&self, k: u32, cap: Duration) -> Duration {
        match self.law {
            Law::Doubling => doubled(self.base, cap, k),
            _ => self.scaled(k, 1.0).min(cap),
        }
    }

    /// A multiple of the delay before retry `k`, in one step, so that nothing is rounded twice.
    pub(crate) fn scaled(&self, k: u32, scale: f64) -> Duration {
        let multiple = self.multiple(k);
        if self.offset_nanos > 0.0 {
            return nanos((self.base_nanos * multiple + self.offset_nanos) * scale);
        }
        nanos(self.base_nanos * (scale * multiple))
    }

    fn multiple(&self, k: u32) -> f64 {
        match &self.law {
            Law::Tabled(table) => table.get(k.saturating_sub(1) as usize).copied(),
            _ => None,
        }
        .unwrap_or_else(|| {
            self.growth.multiple(self.base_nanos, k.saturating_add(self.start).saturating_sub(1))
        })
    }
}
