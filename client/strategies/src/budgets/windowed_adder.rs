//! Sum of amounts over a recent time window, kept as finished time slices and a current slice.
//!
//! Source: twitter/util `util-core/src/main/scala/com/twitter/util/WindowedAdder.scala`. A slice starts at the instant
//! of an event, not at a multiple of the slice's width.

use std::time::Duration;

use super::deposits::Bucket;
use crate::Instant;

#[derive(Clone, Debug)]
pub(super) struct WindowedAdder<const ENDED: usize> {
    slices: [i64; ENDED],
    oldest: usize,
    began_ms: u64,
    width_ms: u64,
    writer: i64,
}

impl<const ENDED: usize> WindowedAdder<ENDED> {
    /// Creates a sum over the time window `window`. The window includes the current time slice.
    pub(super) fn over(window: Duration) -> Self {
        let window_ms = u64::try_from(window.as_millis()).unwrap_or(u64::MAX);
        let width_ms = (window_ms / (ENDED as u64 + 1)).max(1);
        Self { slices: [0; ENDED], oldest: 0, began_ms: 0, width_ms, writer: 0 }
    }

    pub(super) fn restart(&mut self, now: Instant) {
        (self.slices, self.writer) = ([0; ENDED], 0);
        self.began_ms = now.as_nanos() / 1_000_000;
    }

    fn put(&mut self, amount: i64) {
        self.slices[self.oldest] = amount;
        self.oldest = (self.oldest + 1) % ENDED;
    }
}

impl<const ENDED: usize> Bucket for WindowedAdder<ENDED> {
    /// Ends the current time slice if its width has passed, and adds an empty slice for each width that has passed
    /// since then. This method must be called before every read and addition.
    fn expire(&mut self, now: Instant) {
        let now_ms = now.as_nanos() / 1_000_000;
        let age = now_ms.saturating_sub(self.began_ms);
        if age < self.width_ms {
            return;
        }
        let ended = std::mem::take(&mut self.writer);
        self.put(ended);
        for _ in 0..(age / self.width_ms - 1).min(ENDED as u64) {
            self.put(0);
        }
        self.began_ms = now_ms;
    }

    fn add(&mut self, amount: i64) {
        self.writer = self.writer.saturating_add(amount);
    }

    fn sum(&self) -> i64 {
        self.slices.iter().fold(self.writer, |sum, slice| sum.saturating_add(*slice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at<const ENDED: usize>(adder: &mut WindowedAdder<ENDED>, millis: u64) -> i64 {
        adder.expire(Instant::from_millis(millis));
        adder.sum()
    }

    /// twitter/util `WindowedAdderTest`: a slice counts until as many others have ended.
    #[test]
    fn what_was_added_leaks_away_by_slices() {
        let mut adder: WindowedAdder<9> = WindowedAdder::over(Duration::from_secs(1));
        adder.add(1);
        for tenth in 1..=9 {
            assert_eq!(at(&mut adder, 100 * tenth), 1, "{tenth}");
        }
        assert_eq!(at(&mut adder, 1000), 0);
        adder.add(5);
        assert_eq!(at(&mut adder, 1500), 5, "five tenths at once");
        adder.add(2);
        assert_eq!(at(&mut adder, 1999), 7);
        assert_eq!(at(&mut adder, 60_000), 0);
    }

    #[test]
    fn a_sum_can_begin_anew() {
        let mut adder: WindowedAdder<4> = WindowedAdder::over(Duration::from_secs(5));
        for second in 0..5 {
            adder.expire(Instant::from_millis(1000 * second));
            adder.add(1);
        }
        assert_eq!((at(&mut adder, 4999), at(&mut adder, 5000)), (5, 4));
        adder.restart(Instant::from_millis(7500));
        assert_eq!(at(&mut adder, 7500), 0);
    }
}
