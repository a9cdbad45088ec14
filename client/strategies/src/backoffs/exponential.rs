//! `exponential`: a delay that doubles with every failure up to a cap, with jitter around it.
//!
//! Sources: the documents of the scenarios `sync-musings`, `retry-delays` and `exploring-backoff` (its variant EB). The
//! figures of the `sync-musings` document use a jitter of 0.5. In that document the jitter applies after the cap, so a
//! delay can exceed the cap by half. The code of the `occ` document (AWS blog) uses `base · 2^n`, and its first retry
//! has n = 1.

use std::time::Duration;

use crate::part_config::part;
use crate::shape::{Growth, Shape, Spread};
use vocabulary::parameters;

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct Exponential = "exponential" {
        base: Duration = Duration::from_millis(50), "wait before the first retry";
        cap: Duration = Duration::from_secs(30), "longest wait before any retry, before jitter is applied";
        jitter: f64 = 0.0, "jitter: share by which each wait is randomly shortened or lengthened", 0.0..=1.0;
    }
    summary = "a delay that doubles with every failure";
    rule = "before retry n, the client waits min(cap, base * 2^(n-1)), times a random factor from 1-jitter \
        to 1+jitter";
    source = "scenarios sync-musings, retry-delays, exploring-backoff (where it is called EB) and occ";
}

part!(Exponential: BackOff, |config| Shape {
    base: config.base,
    growth: Growth::Exponential,
    cap: config.cap,
    spread: Spread::Around(config.jitter),
    ..Shape::default()
});

#[cfg(test)]
mod tests {
    use crate::testing::{delay, delays_ms};
    use std::time::Duration;

    #[test]
    fn the_printed_table_of_seed_001_comes_out() {
        let delays = delays_ms::<5>("exponential:base=100ms", 0.3);
        assert_eq!(delays, [100, 200, 400, 800, 1600]);
        assert_eq!(delays.iter().sum::<u64>(), 3100);
    }

    #[test]
    fn jitter_reaches_from_half_to_one_and_a_half() {
        let text = "exponential:jitter=0.5";
        assert_eq!(delays_ms::<3>(text, 0.0), [25, 50, 100]);
        assert_eq!(delays_ms::<3>(text, 0.5), [50, 100, 200]);
        assert_eq!(delays_ms::<3>(text, 0.999_999), [74, 149, 299]);
    }

    #[test]
    fn the_cap_comes_before_the_jitter() {
        assert_eq!(delay("exponential:jitter=0.5", u32::MAX, 0.0), Duration::from_secs(15));
        assert_eq!(delay("exponential:jitter=1", 11, 0.75), Duration::from_secs(45));
    }

    #[test]
    fn the_cap_of_seed_002_stops_the_doubling() {
        // EB: min(2^k, 30) ticks for k from 1; a tick is one second here.
        assert_eq!(
            delays_ms::<6>("exponential:base=2s,cap=30s", 0.5),
            [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]
        );
    }
}
