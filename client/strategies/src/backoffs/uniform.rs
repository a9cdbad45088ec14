//! `uniform`: a random delay from the same range before every retry.
//!
//! Source: the blog post Exploring backoff (its variant URB, with delays from 0 to 5 ticks; scenario
//! `exploring-backoff`).

use std::time::Duration;

use crate::part_config::part;
use crate::shape::{Shape, Spread};
use vocabulary::parameters;

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct Uniform = "uniform" {
        max: Duration = Duration::from_secs(1), "longest wait before any retry";
        min: Duration = Duration::ZERO, "shortest wait before any retry";
        grid: Duration = Duration::ZERO,
            "step of the waits: each is `min` plus a whole number of steps; 0 allows any wait";
    }
    summary = "a random delay from the same range before every retry";
    rule = "before each retry, the client waits a random time from min to max";
    source = "scenario exploring-backoff, where it is called URB";
}

part!(Uniform: BackOff, |config| Shape {
    base: config.max,
    spread: Spread::above_low(config.min, config.grid),
    grid: config.grid,
    ..Shape::default()
});

#[cfg(test)]
mod tests {
    use crate::testing::delays_ms;

    #[test]
    fn a_grid_makes_the_ticks_of_seed_002() {
        let ticks = |r| delays_ms::<1>("uniform:max=50ms,grid=10ms", r)[0];
        assert_eq!([0.0, 0.17, 0.5, 0.999].map(ticks), [0, 10, 30, 50]);
    }

    #[test]
    fn the_draw_is_scaled_to_the_range_whatever_the_retry() {
        assert_eq!(delays_ms::<2>("uniform", 0.0), [0, 0]);
        assert_eq!(delays_ms::<2>("uniform", 0.5), [500, 500]);
        assert_eq!(delays_ms::<2>("uniform:max=5s", 0.999_999), [4999, 4999]);
    }
}
