//! Ring of counters, one per time slice. The slices follow each other without gaps, and the first one starts at a fixed
//! origin. The oldest slices expire.
//!
//! Source: zeromicro/go-zero `core/collection/rollingwindow.go`; failsafe-go/failsafe-go `internal/util/stats.go`
//! (`timedStats`); linkerd/linkerd2-proxy `linkerd/app/outbound/src/http/breaker/success_rate.rs`.

use std::time::Duration;

use vocabulary::whole_nanos;

use crate::Instant;

#[derive(Debug)]
pub(super) struct Slices<T, const COUNT: usize> {
    ring: [T; COUNT],
    origin: Instant,
    /// Index of the time slice that was last written to, counted from the origin.
    head: u64,
    width_ns: u64,
}

impl<T: Copy + Default, const COUNT: usize> Slices<T, COUNT> {
    /// Creates a ring of time slices that together cover `window`. The first slice starts at `Instant::ORIGIN`.
    pub(super) fn over(window: Duration) -> Self {
        let width_ns = (whole_nanos(window) / COUNT as u64).max(1);
        Self { ring: [T::default(); COUNT], origin: Instant::ORIGIN, head: 0, width_ns }
    }

    pub(super) fn restart(&mut self, now: Instant) {
        *self = Self { ring: [T::default(); COUNT], origin: now, head: 0, width_ns: self.width_ns };
    }

    /// Clears expired time slices and returns the slice that contains `now`, for writing.
    pub(super) fn at(&mut self, now: Instant) -> &mut T {
        self.at_forgetting(now, |_| ())
    }

    pub(super) fn at_forgetting(&mut self, now: Instant, mut forgotten: impl FnMut(T)) -> &mut T {
        for place in self.places_over(now) {
            forgotten(std::mem::take(&mut self.ring[place]));
        }
        self.head = self.head.max(self.slice(now));
        &mut self.ring[place::<COUNT>(self.head)]
    }

    /// Returns the time slices that have expired by `now` but are not cleared yet.
    pub(super) fn over_by(&self, now: Instant) -> impl Iterator<Item = &T> {
        self.places_over(now).map(|place| &self.ring[place])
    }

    /// Returns the time slices of the window that ends at `now`, oldest first.
    pub(super) fn before(&self, now: Instant) -> impl Iterator<Item = &T> {
        let newest = self.slice(now).max(self.head);
        let oldest = (newest + 1).saturating_sub(COUNT as u64);
        (oldest..=self.head).map(|slice| &self.ring[place::<COUNT>(slice)])
    }

    fn places_over(&self, now: Instant) -> impl Iterator<Item = usize> + use<T, COUNT> {
        (self.head + 1..=self.slice(now)).rev().take(COUNT).map(place::<COUNT>)
    }

    fn slice(&self, now: Instant) -> u64 {
        whole_nanos(now.since(self.origin)) / self.width_ns
    }
}

#[expect(clippy::cast_possible_truncation, reason = "it is below the number of slices")]
fn place<const COUNT: usize>(slice: u64) -> usize {
    (slice % COUNT as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(secs: u64) -> Instant {
        Instant::from_millis(1000 * secs)
    }

    #[test]
    fn the_oldest_are_forgotten_a_slice_at_a_time() {
        let mut slices: Slices<u32, 4> = Slices::over(Duration::from_secs(40));
        let seen = |slices: &Slices<u32, 4>, at| slices.before(secs(at)).copied().collect::<Vec<_>>();
        for at in [0, 9, 10, 39] {
            *slices.at(secs(at)) += 1;
        }
        assert_eq!(seen(&slices, 39), [2, 1, 0, 1]);
        assert_eq!(seen(&slices, 45), [1, 0, 1]);
        assert_eq!(seen(&slices, 79), [0_u32; 0]);
        *slices.at(secs(55)) += 5;
        assert_eq!(seen(&slices, 55), [0, 1, 0, 5]);
        *slices.at(secs(1_000_000)) += 1;
        assert_eq!(seen(&slices, 1_000_000), [0, 0, 0, 1]);
    }

    #[test]
    fn a_grid_can_begin_anew() {
        let mut slices: Slices<u32, 2> = Slices::over(Duration::from_secs(2));
        *slices.at(secs(1)) += 1;
        slices.restart(Instant::from_millis(1500));
        *slices.at(Instant::from_millis(2400)) += 1;
        *slices.at(Instant::from_millis(2500)) += 1;
        assert_eq!(slices.before(Instant::from_millis(2500)).copied().collect::<Vec<_>>(), [1, 1]);
    }
}
