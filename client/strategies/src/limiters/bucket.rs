//! Token bucket shared by the limiters that admit an attempt once enough tokens are available.
//!
//! Tokens are charged only when an attempt is admitted. A waiting client polls again, because the rate may have changed
//! meanwhile. If the refill of the missing tokens takes less than a nanosecond, the tokens count as available. The
//! reason is that such a wait would be rounded to zero, and the client would poll forever at the same instant.

use std::time::Duration;

use crate::{Admit, Instant, Until};

#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    /// Rate at which the bucket is refilled, in tokens per second.
    pub(super) rate: f64,
    capacity: f64,
    /// Number of available tokens. It can be negative: a cost above the capacity is granted when the bucket is full,
    /// and the missing tokens are owed.
    tokens: f64,
    at: Instant,
}

impl Bucket {
    pub(super) fn new(rate: f64, capacity: f64, tokens: f64) -> Self {
        Self { rate, capacity, tokens, at: Instant::ORIGIN }
    }

    /// Returns the number of tokens when the bucket was last changed, or 0 if that number is negative.
    pub(super) fn tokens(&self) -> f64 {
        self.tokens.max(0.0)
    }

    /// Admits an attempt that costs `cost` tokens if the bucket contains enough tokens. If it does not, returns the
    /// instant at which enough tokens will be available. A cost above the bucket's capacity is granted when the bucket
    /// is full.
    pub(super) fn admit(&self, now: Instant, cost: f64) -> Admit {
        let missing = cost.min(self.capacity) - self.tokens_at(now);
        let nanos = missing / self.rate * 1e9;
        let then = now + vocabulary::nanos(nanos);
        // If `now` is the largest representable instant, no later instant exists at which the wait could end. The
        // tokens are then granted at once.
        if nanos < 1.0 || then == now { Admit::Go } else { Admit::Wait(Until::At(then)) }
    }

    pub(super) fn take(&mut self, now: Instant, cost: f64) {
        self.refill(now);
        self.tokens -= cost;
        if cost <= self.capacity {
            self.tokens = self.tokens.max(0.0);
        }
    }

    pub(super) fn refund(&mut self, now: Instant, tokens: f64) {
        self.refill(now);
        self.tokens = (self.tokens + tokens).min(self.capacity);
    }

    pub(super) fn set(&mut self, now: Instant, rate: f64, capacity: f64) {
        self.refill(now);
        self.rate = rate;
        self.capacity = capacity;
        self.tokens = self.tokens.min(capacity);
    }

    fn refill(&mut self, now: Instant) {
        self.tokens = self.tokens_at(now);
        self.at = now;
    }

    fn tokens_at(&self, now: Instant) -> f64 {
        (self.tokens + seconds(now.since(self.at)) * self.rate).min(self.capacity)
    }
}

pub(super) fn seconds(duration: Duration) -> f64 {
    vocabulary::whole_nanos(duration) as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn at(millis: u64) -> Admit {
        Admit::Wait(Until::At(ms(millis)))
    }

    #[test]
    fn asking_takes_nothing() {
        let mut bucket = Bucket::new(10.0, 1.0, 1.0);
        bucket.take(ms(0), 1.0);
        for now in [0, 20, 99] {
            assert_eq!(bucket.admit(ms(now), 1.0), at(100));
        }
        assert_eq!(bucket.admit(ms(100), 1.0), Admit::Go);
    }

    #[test]
    fn a_wait_ends_at_its_reported_instant() {
        // For any rate and instant, rounding leaves nothing to wait for a second time.
        let mut bucket = Bucket::new(1.0, 1.0, 0.0);
        for step in 1..2000_u32 {
            let now = Instant::from_nanos(u64::from(step) * 7_919_333);
            bucket.set(now, 0.5 + f64::from(step) * 0.371, 3.0);
            if let Admit::Wait(Until::At(then)) = bucket.admit(now, 1.0) {
                assert!(then > now);
                assert_eq!(bucket.admit(then, 1.0), Admit::Go, "{bucket:?}");
                bucket.take(then, 1.0);
            }
            bucket.tokens = bucket.tokens.fract();
        }
    }

    #[test]
    fn before_the_rate_changes_what_is_due_at_the_old_one_comes_in() {
        let mut bucket = Bucket::new(2.0, 10.0, 0.0);
        bucket.set(ms(1000), 20.0, 10.0);
        assert!((bucket.tokens() - 2.0).abs() < 1e-12);
        bucket.set(ms(1100), 1.0, 1.0);
        assert!((bucket.tokens() - 1.0).abs() < 1e-12, "no more than it holds now");
    }

    #[test]
    fn more_than_it_holds_is_granted_when_it_is_full_and_owed() {
        let mut bucket = Bucket::new(1.0, 2.0, 2.0);
        assert_eq!(bucket.admit(ms(0), 5.0), Admit::Go);
        bucket.take(ms(0), 5.0);
        assert_eq!(bucket.tokens().to_bits(), 0.0_f64.to_bits());
        assert_eq!(bucket.admit(ms(0), 1.0), at(4000));
    }
}
