//! Short forms of backoffs produce the delays of their own formulas, to the nanosecond, and of the equivalent text of
//! `backoff`.

use std::time::Duration;

use vocabulary::{nanos, whole_nanos};

use crate::delay::{between, fraction, grown};
use crate::testing::{Always, policy, rejected};
use crate::{Instant, Retry, RetryState};

fn wait(text: &str, k: u32, u: f64, state: &mut RetryState) -> Duration {
    match policy(text).on_failure(Instant::ORIGIN, &rejected(k), state, &mut Always(u)) {
        Retry::After(delay) => delay,
        Retry::GiveUp | Retry::GiveUpAfter(_) => panic!("`{text}` gave up"),
    }
}

/// Reference implementation of doubling, from before shapes.
fn doubled(base: Duration, cap: Duration, k: u32) -> Duration {
    let factor = 1_u64.checked_shl(k - 1).unwrap_or(u64::MAX);
    Duration::from_nanos(whole_nanos(base).saturating_mul(factor)).min(cap)
}

type Formula = Box<dyn Fn(u32, f64) -> Duration>;

#[test]
fn the_short_forms_keep_every_nanosecond() {
    let (ms, cap) = (Duration::from_millis, Duration::from_secs(30));
    let (low, grid) = (Duration::from_micros(1_700), Duration::from_micros(300));
    let forms: Vec<(&str, &str, Formula)> = vec![
        ("immediate", "base=0", Box::new(|_, _| Duration::ZERO)),
        ("constant:delay=77ms", "base=77ms,growth=constant", Box::new(move |_, _| ms(77))),
        (
            "uniform:max=1s,min=1.7ms",
            "base=1s,growth=constant,spread=from|1.7ms",
            Box::new(move |_, u| between(low, ms(1000), Duration::ZERO, u)),
        ),
        (
            "uniform:max=1s,min=1.7ms,grid=0.3ms",
            "base=1s,growth=constant,spread=from|1.7ms,grid=0.3ms",
            Box::new(move |_, u| between(low, ms(1000), grid, u)),
        ),
        (
            "linear:base=37ms",
            "base=37ms,growth=linear",
            Box::new(move |k, _| ms(37).saturating_mul(k).min(cap)),
        ),
        (
            "exponential:base=37ms,jitter=0.3",
            "base=37ms,spread=around|0.3",
            Box::new(move |k, u| fraction(doubled(ms(37), cap, k), 1.0 + 0.3 * (2.0 * u - 1.0))),
        ),
        (
            "full-jitter:base=37ms,min=1.7ms",
            "base=37ms,spread=from|1.7ms",
            Box::new(move |k, u| between(low, doubled(ms(37), cap, k), Duration::ZERO, u)),
        ),
        (
            "full-jitter:base=37ms",
            "base=37ms,spread=full",
            Box::new(move |k, u| between(Duration::ZERO, doubled(ms(37), cap, k), Duration::ZERO, u)),
        ),
        (
            "equal-jitter:base=37ms",
            "base=37ms,spread=equal",
            Box::new(move |k, u| fraction(doubled(ms(37), cap, k), 0.5 + 0.5 * u)),
        ),
        (
            "thain:base=37ms,factor=1.7,cap=1h",
            "base=37ms,factor=1.7,cap=1h,spread=above|1,cap-applies=after-spread",
            Box::new(move |k, u| grown(ms(37), 1.0 + u, 1.7, k - 1, Duration::from_hours(1))),
        ),
        (
            "thain:base=37ms,cap=1h",
            "base=37ms,cap=1h,spread=above|1,cap-applies=after-spread",
            Box::new(move |k, u| grown(ms(37), 1.0 + u, 2.0, k - 1, Duration::from_hours(1))),
        ),
    ];
    for (short, long, formula) in forms {
        let long = if long == "base=0" { "backoff:base=0".to_owned() } else { format!("backoff:{long}") };
        for k in (1..80).chain([1000, u32::MAX]) {
            for u in [0.0, 0.123_456_789, 0.5, 0.987_654_321, 1.0 - f64::EPSILON] {
                let waits = [short, &long].map(|text| wait(text, k, u, &mut RetryState::default()));
                assert_eq!(waits, [formula(k, u); 2], "{short}, {long}, k = {k}, u = {u}");
            }
        }
    }
}

#[test]
fn decorrelated_jitter_keeps_every_nanosecond() {
    let (base, cap) = (Duration::from_millis(37), Duration::from_secs(30));
    for text in ["decorrelated-jitter:base=37ms", "backoff:base=37ms,growth=decorrelated"] {
        let (mut state, mut before) = (RetryState::default(), base);
        for (k, u) in (1..200).zip([0.9, 0.3, 0.77, 0.999].into_iter().cycle()) {
            let width = before.saturating_mul(3).saturating_sub(base);
            before = (base + nanos(whole_nanos(width) as f64 * u)).min(cap);
            assert_eq!(wait(text, k, u, &mut state), before, "{text}, k = {k}");
        }
    }
}
