//! `thain`: exponential delays, stretched by a random factor from one to two and capped at an hour. It is for clients
//! that never give up during an outage.
//!
//! Source: Douglas Thain, Exponential Backoff in Distributed Systems, 2009 (scenario `ethernet`): `min(R·T·F^N, M)`, R
//! uniform in [1, 2]. In this formula the cap (`M`) applies after the jitter (`R`), so delays at the cap have no
//! jitter. In contrast, the program ftsh of Thain's paper applies the cap before the jitter.

use std::time::Duration;

use crate::part_config::part;
use crate::shape::{Applies, Growth, Shape, Spread};
use vocabulary::parameters;

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct Thain = "thain" {
        base: Duration = Duration::from_secs(1), "shortest wait before the first retry (T in the papers)";
        factor: f64 = 2.0,
            "factor by which the wait grows with every failure (F in the papers)", 1.0..=1000.0;
        cap: Duration = Duration::from_hours(1), "longest wait before any retry (M in the papers)";
    }
    summary = "the exponential delay times a random factor from 1 to 2, up to an hour";
    rule = "before retry n, the client waits min(R * base * factor^(n-1), cap), where R is a random number \
        from 1 to 2";
    source = "Thain, Exponential Backoff in Distributed Systems, 2009 (scenario ethernet); Thain and Livny, \
        HPDC 2003";
}

part!(Thain: BackOff, |config| Shape {
    base: config.base,
    growth: Growth::Exponential,
    factor: config.factor,
    cap: config.cap,
    cap_applies: Applies::AfterSpread,
    spread: Spread::Above(1.0),
    ..Shape::default()
});

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::testing::{delay, delays_ms};

    /// Returns the seconds between the end of an outage and the first attempt after it, when every draw is 0 (R = 1).
    fn notice_delay_s(cap: &str, outage_s: u64) -> u64 {
        let text = format!("thain:cap={cap}");
        let mut attempt_at_s = 0;
        let mut n = 0;
        while attempt_at_s < outage_s {
            n += 1;
            attempt_at_s += delay(&text, n, 0.0).as_secs();
        }
        attempt_at_s - outage_s
    }

    #[test]
    fn with_r_of_one_attempts_come_at_powers_of_two_less_one() {
        let delays = delays_ms::<11>("thain", 0.0);
        let times: Vec<u64> = delays
            .iter()
            .scan(0, |at, delay| {
                *at += delay / 1000;
                Some(*at)
            })
            .collect();
        assert_eq!(times, [1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 2047]);
    }

    #[test]
    fn the_outage_table_of_seed_003_comes_out() {
        for (outage_s, row) in [
            (1, [0, 0, 0, 0, 0, 0]),
            (10, [0, 5, 5, 5, 5, 5]),
            (30, [0, 5, 1, 1, 1, 1]),
            (300, [0, 5, 1, 3, 211, 211]),
            (1800, [0, 5, 1, 3, 211, 247]),
        ] {
            let caps = ["1s", "10s", "30s", "60s", "300s", "3600s"];
            assert_eq!(caps.map(|cap| notice_delay_s(cap, outage_s)), row, "outage of {outage_s} s");
        }
    }

    #[test]
    fn r_reaches_from_one_to_two_and_stops_at_the_cap() {
        assert_eq!(delays_ms::<3>("thain", 0.5), [1500, 3000, 6000]);
        assert_eq!(delays_ms::<3>("thain", 0.999_999), [1999, 3999, 7999]);
        for r in [0.0, 0.5, 0.999_999] {
            assert_eq!(delay("thain", 13, r), Duration::from_hours(1));
            assert_eq!(delay("thain:factor=1000", u32::MAX, r), Duration::from_hours(1));
        }
    }
}
