//! Successes per second over a recent window, and a history of the last measurements.
//!
//! Source: awslabs/aws-s3-transfer-manager-rs `aws-sdk-s3-transfer-manager/src/metrics/aggregators.rs` (`IOWindow`).
//! The window has ten time slices. The rate always refers to the whole window, and slices that are not filled yet count
//! as empty. So the rate is too low at first and after a pause.

use std::collections::VecDeque;
use std::time::Duration;

use super::bucket::seconds;
use crate::Instant;

const SLICES: usize = 10;

#[derive(Clone, Debug)]
pub(super) struct Goodput {
    over: Duration,
    successes: [u32; SLICES],
    slice: u64,
}

impl Goodput {
    pub(super) fn new(over: Duration) -> Self {
        Self { over, successes: [0; SLICES], slice: 0 }
    }

    pub(super) fn on_success(&mut self, now: Instant) {
        self.turn_to(now);
        let slot = Self::slot(self.slice);
        self.successes[slot] = self.successes[slot].saturating_add(1);
    }

    pub(super) fn per_s(&mut self, now: Instant) -> f64 {
        self.turn_to(now);
        let successes: f64 = self.successes.iter().map(|count| f64::from(*count)).sum();
        successes / seconds(self.over)
    }

    fn turn_to(&mut self, now: Instant) {
        let length = (vocabulary::whole_nanos(self.over) / SLICES as u64).max(1);
        let slice = now.as_nanos() / length;
        for stale in 1..=(slice - self.slice).min(SLICES as u64) {
            self.successes[Self::slot(self.slice + stale)] = 0;
        }
        self.slice = slice;
    }

    #[expect(clippy::cast_possible_truncation, reason = "it is below the number of slices")]
    const fn slot(slice: u64) -> usize {
        (slice % SLICES as u64) as usize
    }
}

#[derive(Clone, Debug)]
pub(super) struct History {
    numbers: VecDeque<f64>,
    most: usize,
}

impl History {
    pub(super) fn new(most: u32) -> Self {
        let most = most as usize;
        Self { numbers: VecDeque::with_capacity(most + 1), most }
    }

    pub(super) fn push(&mut self, number: f64) {
        self.numbers.push_back(number);
        if self.numbers.len() > self.most {
            self.numbers.pop_front();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.numbers.clear();
    }

    pub(super) fn best(&self) -> f64 {
        self.numbers.iter().copied().fold(0.0, f64::max)
    }

    pub(super) fn best_before(&self) -> f64 {
        self.numbers.iter().rev().skip(1).copied().fold(0.0, f64::max)
    }

    pub(super) fn last(&self) -> f64 {
        self.numbers.back().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    /// Tests of `IOWindow`, with one success in place of a number of bytes.
    #[test]
    fn successes_count_for_as_long_as_the_window_is() {
        let mut goodput = Goodput::new(Duration::from_millis(500));
        assert!(goodput.per_s(ms(0)).abs() < 1e-9);
        goodput.on_success(ms(0));
        goodput.on_success(ms(60));
        assert!((goodput.per_s(ms(60)) - 4.0).abs() < 1e-9);
        assert!((goodput.per_s(ms(499)) - 4.0).abs() < 1e-9);
        assert!((goodput.per_s(ms(500)) - 2.0).abs() < 1e-9, "the first slice is over");
        assert!(goodput.per_s(ms(5000)).abs() < 1e-9);
        goodput.on_success(ms(5000));
        assert!((goodput.per_s(ms(5010)) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_history_forgets_the_oldest() {
        let mut history = History::new(3);
        assert!(history.is_empty());
        for number in [9.0, 5.0, 7.0, 8.0] {
            history.push(number);
        }
        let seen = [history.best(), history.best_before(), history.last()];
        assert_eq!(seen.map(f64::to_bits), [8.0, 7.0, 8.0].map(f64::to_bits));
    }
}
