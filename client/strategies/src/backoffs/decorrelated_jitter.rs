//! `decorrelated-jitter`: each delay is drawn between the base and three times the previous delay.
//!
//! Sources: Exponential Backoff And Jitter (AWS blog, 2015; scenario `occ`), and the article of the scenario
//! `retry-delays`. The article's code has a bug: it keeps the previous delay in a global variable. This crate keeps the
//! previous delay per op instead.
//!
//! The cap applies after the random draw, so many delays are equal to the cap.

use std::time::Duration;

use crate::part_config::part;
use crate::shape::{Growth, Shape};
use vocabulary::parameters;

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct DecorrelatedJitter = "decorrelated-jitter" {
        base: Duration = Duration::from_millis(50), "shortest wait before any retry";
        cap: Duration = Duration::from_secs(30), "longest wait before any retry";
    }
    summary = "a random delay, at most three times the previous one";
    rule = "before each retry, the client waits s = min(cap, U(base, 3 * s)): at least `base` and at most 3 \
        times the previous wait; s starts at `base`";
    source = "AWS blog, Exponential Backoff And Jitter, 2015 (scenario occ); scenario retry-delays";
}

part!(DecorrelatedJitter: BackOff, |config| Shape {
    base: config.base,
    growth: Growth::Decorrelated,
    cap: config.cap,
    ..Shape::default()
});

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::testing::{Always, policy, rejected};
    use crate::{Instant, Retry, RetryState};

    /// Returns the delays of one op's first retries. Seed 001 rounds each delay down to whole milliseconds and
    /// derives the next from it.
    fn delays_ms<const N: usize>(text: &str, r: f64) -> [u64; N] {
        let policy = policy(text);
        let mut state = RetryState::default();
        let mut n = 0;
        [(); N].map(|()| {
            n += 1;
            match policy.on_failure(Instant::ORIGIN, &rejected(n), &mut state, &mut Always(r)) {
                Retry::After(delay) => {
                    let millis = u64::try_from(delay.as_millis()).unwrap();
                    state.set_duration(Duration::from_millis(millis));
                    millis
                }
                _ => panic!("`{text}` gave up"),
            }
        })
    }

    #[test]
    fn the_draws_of_seed_001_come_out() {
        let text = "decorrelated-jitter:base=100ms,cap=1h";
        assert_eq!(delays_ms::<5>(text, 0.0), [100, 100, 100, 100, 100]);
        assert_eq!(delays_ms::<5>(text, 0.5), [200, 350, 575, 912, 1418]);
        assert_eq!(delays_ms::<5>(text, 0.999_999), [299, 896, 2687, 8060, 24_179]);
    }

    #[test]
    fn the_cap_comes_after_the_draw() {
        let text = "decorrelated-jitter:base=100ms,cap=2s";
        assert_eq!(delays_ms::<5>(text, 0.999_999), [299, 896, 2000, 2000, 2000]);
    }

    #[test]
    fn draws_of_seed_004_start_between_base_and_three_times_base() {
        let text = "decorrelated-jitter:base=5ms,cap=2s";
        assert_eq!(delays_ms::<1>(text, 0.0), [5]);
        assert_eq!(delays_ms::<1>(text, 0.999_999), [14]);
    }

    #[test]
    fn a_cap_below_the_base_is_the_delay() {
        assert_eq!(delays_ms::<3>("decorrelated-jitter:base=1s,cap=100ms", 0.5), [100, 100, 100]);
    }
}
