//! `full-jitter`: a random delay between zero and the exponential delay.
//!
//! Sources: Exponential Backoff And Jitter (AWS blog, 2015; scenario `occ`), and the article of the scenario
//! `retry-delays`. In the blog's code the exponential delay is `base · 2^n`, and the first retry has n = 1. In this
//! crate the exponential delay of the first retry is `base`, so the delay is drawn from [0, base].

use std::time::Duration;

use crate::part_config::part;
use crate::shape::{Growth, Shape, Spread};
use vocabulary::parameters;

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct FullJitter = "full-jitter" {
        base: Duration = Duration::from_millis(50), "longest wait before the first retry";
        cap: Duration = Duration::from_secs(30), "longest wait before any retry";
        min: Duration = Duration::ZERO, "shortest wait before any retry";
        grid: Duration = Duration::ZERO,
            "step of the waits: each is `min` plus a whole number of steps; 0 allows any wait";
    }
    summary = "a random delay, at most the exponential one";
    rule = "before retry n, the client waits a random time from min to min(cap, base * 2^(n-1))";
    source = "AWS blog, Exponential Backoff And Jitter, 2015 (scenario occ); scenario retry-delays";
}

part!(FullJitter: BackOff, |config| Shape {
    base: config.base,
    growth: Growth::Exponential,
    cap: config.cap,
    spread: Spread::above_low(config.min, config.grid),
    grid: config.grid,
    ..Shape::default()
});

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::testing::{delay, delays_ms};

    #[test]
    fn the_draws_of_seed_001_come_out() {
        let text = "full-jitter:base=100ms";
        assert_eq!(delays_ms::<5>(text, 0.0), [0, 0, 0, 0, 0]);
        assert_eq!(delays_ms::<5>(text, 0.5), [50, 100, 200, 400, 800]);
        assert_eq!(delays_ms::<5>(text, 0.999_999), [99, 199, 399, 799, 1599]);
    }

    #[test]
    fn the_cap_bounds_the_range() {
        assert_eq!(delay("full-jitter", u32::MAX, 0.5), Duration::from_secs(15));
        assert_eq!(delay("full-jitter:base=1day,cap=0", 1, 0.999_999), Duration::ZERO);
    }
}
