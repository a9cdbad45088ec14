//! `equal-jitter`: half of the exponential delay, plus a random part of the other half.
//!
//! Sources: Exponential Backoff And Jitter (AWS blog, 2015; scenario `occ`), and the article of the scenario
//! `retry-delays`. In the article, each *half* of the delay is `base · 2^(n−1)` for the n-th retry; in this crate, the
//! whole delay is. So this crate needs a base twice as large to reproduce the article's numbers.

use std::time::Duration;

use crate::part_config::part;
use crate::shape::{Growth, Shape, Spread};
use vocabulary::parameters;

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct EqualJitter = "equal-jitter" {
        base: Duration = Duration::from_millis(50), "longest wait before the first retry";
        cap: Duration = Duration::from_secs(30), "longest wait before any retry";
    }
    summary = "half the exponential delay, plus a random part of the other half";
    rule = "before retry n, the client waits d/2 plus a random time from 0 to d/2, where d = min(cap, base * \
        2^(n-1))";
    source = "AWS blog, Exponential Backoff And Jitter, 2015 (scenario occ); scenario retry-delays";
}

part!(EqualJitter: BackOff, |config| Shape {
    base: config.base,
    growth: Growth::Exponential,
    cap: config.cap,
    spread: Spread::Equal,
    ..Shape::default()
});

#[cfg(test)]
mod tests {
    use crate::testing::{delay, delays_ms};
    use std::time::Duration;

    #[test]
    fn the_draws_of_seed_001_come_out_with_twice_its_base() {
        let text = "equal-jitter:base=200ms";
        assert_eq!(delays_ms::<5>(text, 0.0), [100, 200, 400, 800, 1600]);
        assert_eq!(delays_ms::<5>(text, 0.5), [150, 300, 600, 1200, 2400]);
        assert_eq!(delays_ms::<5>(text, 0.999_999), [199, 399, 799, 1599, 3199]);
    }

    #[test]
    fn at_the_cap_half_of_it_is_certain() {
        assert_eq!(delay("equal-jitter", u32::MAX, 0.0), Duration::from_secs(15));
        assert!(delay("equal-jitter", u32::MAX, 0.999_999) < Duration::from_secs(30));
    }
}
