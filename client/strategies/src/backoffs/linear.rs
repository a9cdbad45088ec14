//! `linear`: a delay that grows by the same amount with every failure.
//!
//! Source: the article of the scenario `retry-delays`. The article's table numbers retries from 1 to 5, as this crate
//! does. The article's text counts attempts from 0, which would make the first delay zero.

use std::time::Duration;

use crate::part_config::part;
use crate::shape::{Growth, Shape};
use vocabulary::parameters;

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct Linear = "linear" {
        base: Duration = Duration::from_millis(50), "wait before the first retry";
        cap: Duration = Duration::from_secs(30), "longest wait before any retry";
    }
    summary = "a delay that grows by the same time with every failure";
    rule = "before retry n, the client waits min(cap, base * n)";
    source = "scenario retry-delays, table of delays";
}

part!(Linear: BackOff, |config| Shape {
    base: config.base,
    growth: Growth::Linear,
    cap: config.cap,
    ..Shape::default()
});

#[cfg(test)]
mod tests {
    use crate::testing::{delay, delays_ms};
    use std::time::Duration;

    #[test]
    fn the_printed_table_of_seed_001_comes_out() {
        let delays = delays_ms::<5>("linear:base=100ms", 0.5);
        assert_eq!(delays, [100, 200, 300, 400, 500]);
        assert_eq!(delays.iter().sum::<u64>(), 1500);
    }

    #[test]
    fn products_saturate_at_the_cap() {
        assert_eq!(delay("linear:base=1day", u32::MAX, 0.5), Duration::from_secs(30));
    }
}
