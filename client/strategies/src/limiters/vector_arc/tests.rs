//! Vectors of Vector's own tests: those of its means, and the bands of its scenarios for links that never refuse.
//!
//! Source: vectordotdev/vector, `lib/vector-common/src/stats/ewma.rs`, and `tests/data/adaptive-concurrency/*.yaml`
//! with `src/sinks/util/adaptive_concurrency/tests.rs`. The link of these scenarios is modelled here: an answer takes
//! `delay` times a factor that depends on the number of requests at the link.

use super::*;
use crate::Admit;
use crate::testing::{FATAL, OK, REJECTED, ended, view};

#[test]
fn the_vectors_of_the_means_hold() {
    let mut mean = Mean::default();
    assert_eq!(mean.value(), None);
    for (value, wanted) in [(0.0, 0.0), (2.0, 1.0), (4.0, 2.0)] {
        mean.add(value);
        assert_eq!(mean.value(), Some(wanted));
    }
    let mut past = Past::first(2.0);
    for (value, mean, variance) in [(2.0, 2.0, 0.0), (1.0, 1.5, 0.25), (2.0, 1.75, 0.1875)] {
        past = past.next(value, 0.5);
        assert_eq!(past, Past { mean, variance });
    }
}

/// Scenario: a number of requests, one every `interval_ms` (0: all at once), over a link with a delay of `delay_ms`.
struct Scenario {
    requests: u64,
    interval_ms: u64,
    delay_ms: u64,
    /// Factor of the delay for a request, by the number of requests at the link, including that one.
    slowness: fn(u32) -> f64,
}

/// Tokio's timers, which are the link in the source, wake in the following millisecond: answers take 100 to 102 ms
/// there.
const TIMER: Duration = Duration::from_millis(1);

#[derive(Debug)]
struct Seen {
    in_flight_max: u32,
    /// Mean over time.
    in_flight_mean: f64,
    limit_max: u32,
    rtt_max_ms: f64,
}

fn run(scenario: &Scenario) -> Seen {
    let mut arc = VectorArc::new(VectorArcConfig::default());
    let mut ends: Vec<(Instant, u64, Instant, u32)> = Vec::new();
    let (mut now, mut sent, mut area) = (Instant::ORIGIN, 0, 0.0);
    let mut seen = Seen { in_flight_max: 0, in_flight_mean: 0.0, limit_max: 1, rtt_max_ms: 0.0 };
    loop {
        let due = Instant::from_millis(sent * scenario.interval_ms);
        let level = u32::try_from(ends.len()).unwrap();
        let next = view(level, sent);
        if sent < scenario.requests && due <= now && arc.poll(now, &next) == Admit::Go {
            arc.on_sent(now, &next);
            let delay =
                Duration::from_millis(scenario.delay_ms).mul_f64((scenario.slowness)(level + 1)) + TIMER;
            ends.push((now + delay, sent, now, level + 1));
            seen.rtt_max_ms = seen.rtt_max_ms.max(delay.as_secs_f64() * 1e3);
            sent += 1;
            continue;
        }
        let first = ends.iter().min().copied();
        let arrival = (sent < scenario.requests && due > now).then_some(due);
        let until = first.map(|(at, ..)| at).into_iter().chain(arrival).min();
        let Some(until) = until else { break };
        if until > now {
            // As in a histogram over time, a level that lasts no time is not recorded.
            seen.in_flight_max = seen.in_flight_max.max(level);
            seen.limit_max = seen.limit_max.max(arc.limit);
        }
        area += f64::from(level) * until.since(now).as_secs_f64();
        now = until;
        if let Some(end) = first.filter(|(at, ..)| *at == now) {
            ends.retain(|other| *other != end);
            let (_, seq, sent_at, in_flight_when_sent) = end;
            let ended = AttemptEnd { sent_at, in_flight_when_sent, ..ended(seq, level) };
            arc.on_ended(now, &ended, &OK);
        }
    }
    seen.in_flight_mean = area / now.as_secs_f64();
    seen
}

/// Asserts that a value, rounded to a hundredth, lies in a band. The rounding is needed because no time passes here
/// between an answer and the next request.
#[track_caller]
fn within(name: &str, value: f64, (low, high): (f64, f64)) {
    let value = (value * 100.0).round() / 100.0;
    assert!(low <= value && value <= high, "{name}: {value} is not in {low}..{high}");
}

#[test]
fn a_constant_link_lets_it_grow_by_one_per_round_trip() {
    let seen = run(&Scenario { requests: 500, interval_ms: 0, delay_ms: 100, slowness: |_| 1.0 });
    within("in flight, most", f64::from(seen.in_flight_max), (30.0, 31.0));
    within("in flight, mean", seen.in_flight_mean, (15.0, 16.0));
    within("limit, most", f64::from(seen.limit_max), (22.0, 32.0));
}

#[test]
fn a_slow_link_keeps_it_low() {
    let seen = run(&Scenario { requests: 200, interval_ms: 0, delay_ms: 100, slowness: f64::from });
    within("in flight, most", f64::from(seen.in_flight_max), (2.0, 7.0));
    within("in flight, mean", seen.in_flight_mean, (1.5, 5.0));
}

#[test]
fn a_shallow_knee_holds_it_a_little_above() {
    let slowness = |level: u32| libm::pow(1.1, f64::from(level.saturating_sub(10)));
    let seen = run(&Scenario { requests: 1000, interval_ms: 0, delay_ms: 100, slowness });
    within("in flight, most", f64::from(seen.in_flight_max), (12.0, 12.0));
    within("in flight, mean", seen.in_flight_mean, (9.0, 11.0));
    within("limit, most", f64::from(seen.limit_max), (12.0, 12.0));
    within("slowest, ms", seen.rtt_max_ms, (100.0, 123.0));
}

#[test]
fn requests_slower_than_the_link_do_not_raise_it_above_two() {
    let seen = run(&Scenario { requests: 100, interval_ms: 100, delay_ms: 50, slowness: |_| 1.0 });
    within("in flight, most", f64::from(seen.in_flight_max), (1.0, 1.0));
    within("in flight, mean", seen.in_flight_mean, (0.5, 0.55));
    within("limit, most", f64::from(seen.limit_max), (1.0, 2.0));
}

#[test]
fn requests_four_times_as_fast_as_the_link_keep_four_in_flight() {
    let seen = run(&Scenario { requests: 500, interval_ms: 25, delay_ms: 100, slowness: |_| 1.0 });
    within("in flight, most", f64::from(seen.in_flight_max), (8.0, 8.0));
    within("in flight, mean", seen.in_flight_mean, (4.0, 4.5));
    within("limit, most", f64::from(seen.limit_max), (9.0, 9.0));
}

/// Returns a limiter with this limit, whose first window of 100 ms starts at 100 ms and is fully used.
fn begun(limit: u32) -> VectorArc {
    let mut arc = VectorArc::new(VectorArcConfig { initial: limit, ..VectorArcConfig::default() });
    arc.on_sent(Instant::ORIGIN, &view(limit - 1, 0));
    arc.on_ended(Instant::from_millis(100), &ended(0, limit), &OK);
    arc
}

/// Ends an attempt at `millis` that took 100 ms.
fn end(arc: &mut VectorArc, millis: u64, outcome: &Outcome) {
    let ended = AttemptEnd { sent_at: Instant::from_millis(millis - 100), ..ended(1, 1) };
    arc.on_ended(Instant::from_millis(millis), &ended, outcome);
}

/// A final failure counts as neither an error nor a success.
#[test]
fn back_pressure_cuts_once_per_window() {
    let mut arc = begun(50);
    for millis in [110, 120, 130] {
        end(&mut arc, millis, &REJECTED);
    }
    assert_eq!(arc.limit, 50);
    end(&mut arc, 200, &FATAL);
    assert_eq!((arc.limit, arc.reason), (45, "cut by an error"));
    end(&mut arc, 210, &FATAL);
    end(&mut arc, 300, &FATAL);
    assert_eq!(arc.limit, 45, "no error and no success in that window");
}

#[test]
fn at_small_limits_a_cut_is_one_and_one_is_the_least() {
    let mut arc = begun(3);
    for (millis, wanted) in [(200, 2), (300, 1), (400, 1)] {
        end(&mut arc, millis, &REJECTED);
        assert_eq!(arc.limit, wanted);
    }
}

#[test]
fn it_grows_only_when_the_limit_was_reached() {
    let mut arc = begun(10);
    end(&mut arc, 200, &OK);
    assert_eq!(arc.limit, 11);
    // The round trip is not slower, but the limit was not reached, so it cannot grow. With a deviation of 0 the other
    // rule applies.
    end(&mut arc, 300, &OK);
    assert_eq!((arc.limit, arc.reason), (9, "cut: answers are slower"));
}
