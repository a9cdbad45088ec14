//! Tests of the ten rules of docs/tailback.md, with literal inputs.

use super::*;
use crate::testing::{CANCELLED, FATAL, OK, REJECTED, TIMEOUT, ended, view};

mod properties;
mod vectors;

const fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// Attempt that ends: sent at 0 as the first one in flight, with nothing else in flight at its end and nothing ready.
const ATTEMPT: AttemptEnd = AttemptEnd {
    seq: 0,
    op: 0,
    attempt: 1,
    sent_at: Instant::ORIGIN,
    in_flight_when_sent: 1,
    in_flight: 1,
    ready: 0,
    round_continues: false,
};

fn new(initial: f64) -> Tailback {
    Tailback::new(TailbackConfig { initial, ..TailbackConfig::default() })
}

fn send(tailback: &mut Tailback, at: Instant, seqs: std::ops::Range<u64>) {
    for seq in seqs {
        tailback.on_sent(at, &view(0, seq));
    }
}

/// Returns a limiter in its start phase, with this window, one success after exactly 100 ms and 100 attempts sent.
fn started(window: f64) -> Tailback {
    let mut tailback = new(window);
    send(&mut tailback, Instant::ORIGIN, 0..100);
    tailback.on_ended(ms(100), &ATTEMPT, &OK);
    near(tailback.window, window);
    tailback
}

/// Returns a limiter that was cut from a window of `top`, is open again and has sent 200 attempts, 100 of them since
/// the cut.
fn grown(top: u32) -> Tailback {
    let mut tailback = started(f64::from(top));
    reject(&mut tailback, 99, top);
    send(&mut tailback, ms(100), 100..200);
    tailback.on_ended(ms(200), &AttemptEnd { seq: 100, sent_at: ms(100), ..ATTEMPT }, &OK);
    near(tailback.window, 0.95 * f64::from(top));
    assert!(tailback.open && !tailback.starting);
    tailback
}

fn reject(tailback: &mut Tailback, seq: u64, in_flight_when_sent: u32) {
    tailback.on_ended(ms(100), &AttemptEnd { seq, in_flight_when_sent, ..ATTEMPT }, &REJECTED);
}

/// Records one success 100 ms after its sending, of a full window with one op ready.
fn succeed(tailback: &mut Tailback, seq: u64, in_flight: u32) {
    let sent_at = ms(100);
    tailback.on_ended(ms(200), &AttemptEnd { seq, sent_at, in_flight, ready: 1, ..ATTEMPT }, &OK);
}

#[track_caller]
fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9, "{value} instead of {expected}");
}

fn poll(tailback: &Tailback, now: Instant, in_flight: u32) -> Admit {
    tailback.poll(now, &view(in_flight, tailback.next_seq))
}

const fn wait_until(at: Instant) -> Admit {
    Admit::Wait(Until::At(at))
}

#[test]
fn a_full_window_waits_and_one_below_1_allows_one_attempt() {
    let mut tailback = started(2.5);
    assert_eq!(poll(&tailback, ms(10_000), 2), Admit::Go);
    assert_eq!(poll(&tailback, ms(10_000), 3), Admit::Wait(Until::Event));
    tailback.window = 0.2;
    assert_eq!(poll(&tailback, ms(10_000), 0), Admit::Go);
    assert_eq!(poll(&tailback, ms(10_000), 1), Admit::Wait(Until::Event));
}

/// One more attempt may be sent per 200 ms divided by the initial window.
#[test]
fn before_the_first_answer_sends_are_paced_by_the_window() {
    let mut tailback = new(20.0);
    send(&mut tailback, ms(5), 0..20);
    assert_eq!(poll(&tailback, ms(5), 20), Admit::Go);
    assert_eq!(poll(&tailback, ms(5), 21), wait_until(ms(15)));
    assert_eq!(poll(&tailback, ms(15), 21), Admit::Go);
    assert_eq!(poll(&tailback, ms(15), 22), wait_until(ms(25)));
    assert!(!tailback.is_full(1000));
    // The first answer shows that 30 attempts in flight are no problem, and ends the blind start.
    tailback.on_ended(ms(105), &AttemptEnd { sent_at: ms(5), in_flight: 30, ..ATTEMPT }, &OK);
    near(tailback.window, 31.0);
    assert_eq!(poll(&tailback, ms(10_000), 31), Admit::Wait(Until::Event));
}

/// After rejections before any success, the start phase continues.
#[test]
fn rejections_before_any_success_keep_the_accepted_window() {
    let mut tailback = new(20.0);
    send(&mut tailback, Instant::ORIGIN, 0..20);
    tailback.on_ended(
        ms(10),
        &AttemptEnd { seq: 8, in_flight_when_sent: 9, in_flight: 20, ..ATTEMPT },
        &REJECTED,
    );
    assert_eq!((tailback.window, tailback.top, tailback.base), (8.0, 8.0, 8.0));
    for seq in 9..20 {
        tailback.on_ended(ms(10), &AttemptEnd { seq, in_flight_when_sent: 20, ..ATTEMPT }, &REJECTED);
    }
    near(tailback.window, 8.0);
    tailback.on_ended(ms(100), &AttemptEnd { in_flight: 8, ready: 1, ..ATTEMPT }, &OK);
    near(tailback.window, 9.0);
}

#[test]
fn when_the_very_first_attempt_is_rejected_the_window_is_1() {
    let mut tailback = new(20.0);
    send(&mut tailback, Instant::ORIGIN, 0..1);
    tailback.on_ended(ms(10), &ATTEMPT, &REJECTED);
    near(tailback.window, 1.0);
}

/// The bound of the window is 1.25 times the attempts in flight, plus 1.
#[test]
fn a_success_at_the_start_adds_1_up_to_a_bound() {
    let mut tailback = started(10.0);
    for (in_flight, window) in [(8, 11.0), (8, 11.0), (9, 12.0), (9, 12.25), (9, 12.25), (40, 13.25)] {
        tailback.on_ended(ms(100), &AttemptEnd { in_flight, ready: 1, ..ATTEMPT }, &OK);
        near(tailback.window, window);
    }
}

#[test]
fn a_cut_starts_from_the_attempts_in_flight_at_the_send() {
    let mut tailback = started(100.0);
    reject(&mut tailback, 60, 40);
    assert!(!tailback.starting);
    near(tailback.top, 40.0);
    near(tailback.window, 38.0);
    near(tailback.base, 38.0);
}

#[test]
fn a_cut_never_starts_from_more_than_the_window() {
    let mut tailback = started(20.0);
    reject(&mut tailback, 60, 40);
    near(tailback.top, 20.0);
    near(tailback.window, 19.0);
}

#[test]
fn the_start_ends_at_its_first_rejection() {
    let mut tailback = started(20.0);
    reject(&mut tailback, 99, 20);
    near(tailback.window, 19.0);
}

#[test]
fn one_rejection_per_round_trip_is_forgiven_and_the_second_cuts() {
    let mut tailback = grown(20);
    reject(&mut tailback, 101, 19);
    near(tailback.window, 19.0);
    // 19 successes of a window of 19 are a round trip, which clears the strike.
    for seq in 102..122 {
        succeed(&mut tailback, seq, 19);
    }
    let window = tailback.window;
    reject(&mut tailback, 150, 19);
    near(tailback.window, window);
    // Ten successes are half a round trip, so the next rejection makes it one and a half strikes.
    for seq in 122..132 {
        succeed(&mut tailback, seq, 19);
    }
    reject(&mut tailback, 151, 10);
    near(tailback.top, 10.0);
    near(tailback.window, 9.5);
}

#[test]
fn nothing_is_forgiven_below_a_window_of_1() {
    let mut tailback = grown(20);
    tailback.window = 0.5;
    tailback.base = 0.5;
    reject(&mut tailback, 150, 1);
    near(tailback.top, 0.5);
    near(tailback.window, 0.475);
}

#[test]
fn rejections_of_attempts_sent_before_the_last_cut_are_old_news() {
    let mut tailback = started(50.0);
    for seq in 1..100 {
        reject(&mut tailback, seq, 50);
    }
    near(tailback.window, 47.5);
    // This attempt was sent after the cut, so it can cut again.
    send(&mut tailback, ms(100), 100..101);
    reject(&mut tailback, 100, 47);
    assert!(tailback.window < 47.5);
}

#[test]
fn successes_sent_before_the_last_cut_do_not_open_the_window() {
    let mut tailback = started(50.0);
    reject(&mut tailback, 99, 50);
    send(&mut tailback, ms(100), 100..110);
    reject(&mut tailback, 100, 47);
    succeed(&mut tailback, 98, 47);
    near(tailback.window, 47.5 * 0.95 * 0.95);
    assert!(!tailback.open);
}

#[test]
fn each_further_cut_without_a_success_leaves_beta_squared() {
    let mut tailback = started(50.0);
    reject(&mut tailback, 99, 50);
    let mut window = 47.5;
    for seq in 100..120 {
        send(&mut tailback, ms(100), seq..seq + 1);
        reject(&mut tailback, seq, 47);
        window *= 0.95 * 0.95;
        near(tailback.window, window);
        near(tailback.top, 50.0);
    }
}

#[test]
fn the_window_never_falls_below_its_floor() {
    let mut tailback = started(50.0);
    reject(&mut tailback, 99, 50);
    for seq in 100..1000 {
        send(&mut tailback, ms(100), seq..seq + 1);
        reject(&mut tailback, seq, 1);
    }
    near(tailback.window, MIN_WINDOW);
}

/// The success restores the window that the first cut left, times beta for each further cut, and at least half of the
/// top.
#[test]
fn the_first_success_after_the_cuts_restores_the_window() {
    // 3 further cuts leave 0.95^4 of 50, and 100 of them leave half of it.
    for (further, restored) in [(0, 47.5), (3, 50.0 * 0.95 * 0.95 * 0.95 * 0.95), (100, 25.0)] {
        let mut tailback = started(50.0);
        reject(&mut tailback, 99, 50);
        for seq in 100..100 + further {
            send(&mut tailback, ms(100), seq..seq + 1);
            reject(&mut tailback, seq, 47);
        }
        let seq = 100 + further;
        send(&mut tailback, ms(100), seq..seq + 1);
        tailback.on_ended(ms(200), &AttemptEnd { seq, sent_at: ms(100), ..ATTEMPT }, &OK);
        assert!(tailback.open);
        near(tailback.window, restored);
    }
}

/// K is the number of round trips to the top: the square root of half of the top.
#[test]
fn the_curve_returns_to_the_top_after_k_round_trips() {
    let mut tailback = grown(50);
    // K = sqrt(50 / 2) = 5 round trips of 47.5 to 50 attempts.
    let mut successes = 0;
    while tailback.window < 50.0 - 1e-3 {
        succeed(&mut tailback, 150, 50);
        successes += 1;
    }
    // The curve is flat near the top: a thousandth below it lies at 1 - (0.001 / 2.5)^(1/3) = 0.926 of K.
    assert!((220..=232).contains(&successes), "{successes} successes");
    for _ in successes..250 {
        succeed(&mut tailback, 150, 50);
    }
    assert!((tailback.window - 50.0).abs() < 1e-3, "{}", tailback.window);
    assert!((tailback.rounds - 5.0).abs() < 0.1, "{}", tailback.rounds);
}

#[test]
fn halfway_to_the_top_the_curve_has_recovered_seven_eighths() {
    let mut tailback = grown(50);
    (tailback.window, tailback.rounds) = (49.0, 2.5 - 1.0 / 49.0);
    succeed(&mut tailback, 150, 50);
    // 50 + (50 - 47.5) * (2.5 / 5 - 1)^3
    near(tailback.window, 49.6875);
}

#[test]
fn one_success_adds_at_most_1_to_the_window() {
    let mut tailback = grown(50);
    tailback.rounds = 100.0;
    succeed(&mut tailback, 150, 50);
    near(tailback.window, 48.5);
}

#[test]
fn below_1_the_window_at_most_doubles_with_a_success() {
    let mut tailback = grown(2);
    (tailback.window, tailback.base, tailback.rounds) = (0.25, 0.25, 100.0);
    for window in [0.5, 1.0, 2.0, 3.0] {
        succeed(&mut tailback, 150, 1);
        near(tailback.window, window);
    }
}

#[test]
fn nothing_grows_while_nothing_waits_and_the_window_is_not_full() {
    let mut start = started(20.0);
    let mut growth = grown(20);
    growth.rounds = 100.0;
    for tailback in [&mut start, &mut growth] {
        let window = tailback.window;
        let idle = AttemptEnd { seq: 150, in_flight: 18, ready: 0, ..ATTEMPT };
        tailback.on_ended(ms(100), &idle, &OK);
        near(tailback.window, window);
        tailback.on_ended(ms(100), &AttemptEnd { in_flight: 20, ..idle }, &OK);
        near(tailback.window, window + 1.0);
    }
}

#[test]
fn a_timeout_beyond_twice_the_usual_latency_is_a_lost_message() {
    for (age, window) in [(200, 19.0), (201, 20.0)] {
        let mut tailback = started(20.0);
        tailback.on_ended(ms(age), &AttemptEnd { seq: 99, in_flight_when_sent: 20, ..ATTEMPT }, &TIMEOUT);
        near(tailback.window, window);
    }
    // With a mean of 110 ms and a deviation of 10 ms, the limit is 2 * (110 + 4 * 10) = 300 ms.
    for (age, window) in [(299, 19.0), (301, 20.0)] {
        let mut tailback = started(20.0);
        tailback.on_ended(ms(260), &ATTEMPT, &OK);
        near(tailback.latency.deviation, 10e6);
        tailback.on_ended(ms(age), &AttemptEnd { seq: 99, in_flight_when_sent: 20, ..ATTEMPT }, &TIMEOUT);
        near(tailback.window, window);
    }
}

#[test]
fn before_any_success_no_timeout_is_a_lost_message() {
    let mut tailback = new(20.0);
    send(&mut tailback, Instant::ORIGIN, 0..20);
    tailback.on_ended(ms(60_000), &AttemptEnd { in_flight_when_sent: 5, in_flight: 20, ..ATTEMPT }, &TIMEOUT);
    near(tailback.window, 4.0);
}

#[test]
fn cancelled_fatal_deferred_and_shed_attempts_change_nothing() {
    for outcome in [CANCELLED, FATAL, Outcome::plain(Status::Deferred), Outcome::plain(Status::Shed)] {
        let mut tailback = new(20.0);
        send(&mut tailback, Instant::ORIGIN, 0..25);
        tailback.on_ended(ms(10), &AttemptEnd { in_flight: 25, ..ATTEMPT }, &outcome);
        assert!(!tailback.answered, "{outcome:?} is no answer");
        near(tailback.window, 20.0);
        let mut tailback = grown(20);
        tailback.on_ended(ms(500), &AttemptEnd { seq: 150, ready: 1, in_flight: 20, ..ATTEMPT }, &outcome);
        near(tailback.window, 19.0);
        near(tailback.strikes, 0.0);
        near(tailback.latency.mean.unwrap(), 100e6);
    }
}

#[test]
fn sends_are_spaced_by_latency_less_deviation_per_window() {
    let mut tailback = started(20.0);
    assert_eq!(tailback.gap(), Duration::from_millis(5));
    // Mean 110 ms, deviation 10 ms.
    tailback.on_ended(ms(260), &ATTEMPT, &OK);
    assert_eq!(tailback.gap(), Duration::from_millis(5));
    tailback.window = 0.5;
    assert_eq!(tailback.gap(), Duration::from_millis(220));
}

#[test]
fn at_most_one_gap_is_caught_up_on() {
    let mut tailback = started(20.0);
    // After a long idle time the first attempt goes at once, the second makes up for one gap, and the third waits.
    send(&mut tailback, ms(1000), 100..101);
    assert_eq!(poll(&tailback, ms(1000), 1), Admit::Go);
    send(&mut tailback, ms(1000), 101..102);
    assert_eq!(poll(&tailback, ms(1000), 2), wait_until(ms(1005)));
    // This send is 3 ms late, so the gap before the next one is 2 ms.
    send(&mut tailback, ms(1008), 102..103);
    assert_eq!(poll(&tailback, ms(1008), 3), wait_until(ms(1010)));
}

#[test]
fn the_longest_gap_bounds_the_gap() {
    let mut tailback = started(20.0);
    tailback.window = 0.011;
    assert_eq!(tailback.gap(), Duration::from_nanos(9_090_909_091));
    tailback.window = 0.0016;
    assert_eq!(tailback.gap(), Duration::from_mins(1));
    tailback.config.max_gap = Duration::from_millis(7);
    assert_eq!(tailback.gap(), Duration::from_millis(7));
}

#[test]
fn a_cut_below_1_delays_the_next_send_by_a_gap() {
    let mut tailback = started(2.0);
    reject(&mut tailback, 99, 1);
    // 100 ms divided by a window of 0.95, after the rejection at 100 ms.
    assert_eq!(poll(&tailback, ms(100), 0), wait_until(Instant::from_nanos(100_000_000 + 105_263_158)));
}

#[test]
fn before_any_success_the_first_rejection_sets_the_latency() {
    let mut tailback = new(20.0);
    send(&mut tailback, Instant::ORIGIN, 0..20);
    for seq in [8, 9] {
        let ended = AttemptEnd { seq, in_flight_when_sent: 9, ..ATTEMPT };
        tailback.on_ended(ms(40 * (seq - 7)), &ended, &REJECTED);
    }
    assert_eq!(tailback.gap(), Duration::from_millis(5));
}

#[test]
fn reports_name_the_phase_and_never_a_window_or_top_below_1() {
    let report = |tailback: &Tailback| {
        let mut gauges = Gauges::default();
        tailback.report(&mut gauges);
        gauges
    };
    let mut tailback = new(20.0);
    assert_eq!((report(&tailback).window, report(&tailback).phase), (None, Some("blind")));
    tailback = started(20.0);
    assert_eq!((report(&tailback).window, report(&tailback).phase), (Some(20.0), Some("start")));
    reject(&mut tailback, 99, 20);
    assert_eq!((report(&tailback).ssthresh, report(&tailback).phase), (Some(20.0), Some("after a cut")));
    tailback = grown(20);
    assert_eq!((report(&tailback).window, report(&tailback).phase), (Some(19.0), Some("growth")));
    (tailback.window, tailback.top) = (0.3, 0.4);
    assert_eq!((report(&tailback).window, report(&tailback).ssthresh), (Some(1.0), Some(1.0)));
}

/// A rejection that advises to wait so many milliseconds.
const fn wait_ms(millis: u64) -> Outcome {
    crate::testing::advised(Advice::After(Duration::from_millis(millis)))
}

/// Rejects the attempt `seq` at 200 ms with advice.
fn advise(tailback: &mut Tailback, seq: u64, in_flight_when_sent: u32, millis: u64) {
    let ended = AttemptEnd { seq, in_flight_when_sent, sent_at: ms(100), in_flight: 5, ..ATTEMPT };
    tailback.on_ended(ms(200), &ended, &wait_ms(millis));
}

#[test]
fn advice_holds_everything_until_the_latest_advised_instant() {
    let mut tailback = grown(20);
    advise(&mut tailback, 150, 19, 2000);
    assert_eq!(poll(&tailback, ms(200), 3), wait_until(ms(2200)));
    // A shorter wait does not shorten the hold, even in the rejection of an attempt sent before the cut.
    advise(&mut tailback, 3, 19, 500);
    assert_eq!(poll(&tailback, ms(2199), 3), wait_until(ms(2200)));
    assert_eq!(tailback.held_until(), Some(ms(2200)));
    // Neither does a success.
    succeed(&mut tailback, 151, 5);
    assert_eq!(poll(&tailback, ms(300), 3), wait_until(ms(2200)));
    assert_eq!(poll(&tailback, ms(2200), 3), Admit::Go);
}

#[test]
fn failures_with_advice_hold_and_what_is_no_wait_holds_nothing() {
    for (status, advice, holds) in [
        (Status::Failed(Failure::Server), Advice::After(Duration::from_secs(1)), true),
        // A failed probe of an outage is passed on as cancelled.
        (Status::Cancelled, Advice::After(Duration::from_secs(1)), true),
        (Status::Rejected, Advice::After(Duration::ZERO), false),
        (Status::Rejected, Advice::Past, false),
        (Status::Rejected, Advice::Never, false),
        (Status::Succeeded, Advice::After(Duration::from_secs(1)), false),
    ] {
        let mut tailback = started(20.0);
        tailback.on_ended(ms(100), &AttemptEnd { seq: 99, ..ATTEMPT }, &Outcome::advised(status, advice));
        assert_eq!(tailback.held_until() > Some(ms(100)), holds, "{status:?} {advice:?}");
    }
    let mut ignoring = started(20.0);
    ignoring.config.hold = Switch::Off;
    advise(&mut ignoring, 99, 20, 1000);
    assert_eq!(ignoring.held_until(), None);
    let mut longest = started(20.0);
    advise(&mut longest, 99, 20, 10_000_000);
    assert_eq!(poll(&longest, ms(300), 0), wait_until(ms(200 + 3_600_000)));
}

#[test]
fn a_rejection_with_advice_is_not_forgiven_but_long_advice_cuts_nothing() {
    let mut tailback = grown(20);
    advise(&mut tailback, 150, 15, 9_999);
    near(tailback.window, 0.95 * 15.0);
    // An attempt with as many in flight as this one was accepted.
    let accepted = AttemptEnd { seq: 120, in_flight_when_sent: 19, ..ATTEMPT };
    let mut held = grown(20);
    held.on_ended(ms(200), &accepted, &OK);
    let window = held.window;
    advise(&mut held, 150, 19, 10_000);
    near(held.window, window);
    // The wait has not helped.
    send(&mut held, ms(10_200), 200..201);
    advise(&mut held, 200, 19, 10_000);
    assert!(held.window < 0.1, "{}", held.window);
    // More than any that was accepted: the server limits concurrent requests, so the window has to shrink.
    let mut full = grown(20);
    full.on_ended(ms(200), &accepted, &OK);
    advise(&mut full, 151, 20, 10_000);
    near(full.window, 0.95 * 19.0);
}

/// The window returns to the plateau and stays there: 5 or 30 advised waits of up to 2 s, in round trips of 100 ms.
#[test]
fn after_an_advised_cut_the_growth_pauses_at_the_plateau() {
    let mut tailback = grown(50);
    for _ in 0..60 {
        succeed(&mut tailback, 150, 50);
    }
    // The most in flight so far, so the server seems to limit concurrent requests.
    advise(&mut tailback, 160, 48, 500);
    assert!(!tailback.plateau.is_rate);
    near(tailback.plateau.window, tailback.top - 1.0);
    let round_trips = 30.0 * 500.0 / (tailback.latency.usual() / 1e6);
    near(tailback.plateau.pause, round_trips);
    send(&mut tailback, ms(200), 200..300);
    let mut successes = 0.0;
    while tailback.window <= tailback.plateau.window {
        succeed(&mut tailback, 250, 50);
        successes += 1.0;
        assert!(successes < 100_000.0, "window {}, plateau {}", tailback.window, tailback.plateau.window);
    }
    let pauses_for = successes / tailback.plateau.window;
    assert!((round_trips..round_trips + 8.0).contains(&pauses_for), "{pauses_for} of {round_trips}");
}

#[test]
fn a_probe_costs_more_if_it_ended_at_the_same_window_before() {
    let mut tailback = grown(20);
    tailback.most_accepted = 20;
    advise(&mut tailback, 150, 19, 4000);
    assert!(tailback.plateau.is_rate);
    let usual = tailback.latency.usual();
    near(tailback.plateau.pause, 5.0 * 2e9 / usual);
    let after = |pause: f64, in_flight_when_sent: u32| {
        let mut tailback = grown(20);
        tailback.most_accepted = 20;
        advise(&mut tailback, 150, 19, 4000);
        tailback.plateau.pause = pause;
        send(&mut tailback, ms(200), 200..300);
        succeed(&mut tailback, 250, 5);
        (tailback.window, tailback.most_accepted) = (20.0, 20);
        advise(&mut tailback, 260, in_flight_when_sent, 4000);
        tailback.plateau.pause * tailback.latency.usual() / 2e9
    };
    near(after(0.0, 18), 30.0);
    near(after(0.0, 14), 5.0);
    // A cut during the pause was not caused by a probe.
    near(after(1.0, 18), 5.0);
}

#[test]
fn a_rate_spreads_its_sends_over_the_whole_latency() {
    let mut tailback = grown(20);
    tailback.on_ended(ms(360), &AttemptEnd { seq: 101, sent_at: ms(100), ..ATTEMPT }, &OK);
    tailback.most_accepted = 20;
    let latency = tailback.latency;
    assert!(latency.deviation > 0.0);
    near(latency.spread(false), latency.usual() - latency.deviation);
    advise(&mut tailback, 150, 19, 100);
    assert_eq!(tailback.gap(), vocabulary::nanos(latency.usual() / tailback.window));
}

#[test]
fn the_success_that_restores_the_window_brings_the_next_send_forward() {
    let mut tailback = started(2.0);
    for seq in 100..200 {
        reject(&mut tailback, seq - 1, 1);
        send(&mut tailback, ms(100), seq..seq + 1);
    }
    let far = tailback.next;
    assert!(far > ms(20_000), "{far}");
    tailback.on_ended(ms(200), &AttemptEnd { seq: 199, sent_at: ms(100), ..ATTEMPT }, &OK);
    assert_eq!(tailback.next, ms(200) + tailback.gap());
}

#[test]
fn a_further_cut_begins_where_the_hold_already_spaces_the_attempts() {
    let mut tailback = started(50.0);
    advise(&mut tailback, 99, 50, 500);
    near(tailback.window, 47.5);
    send(&mut tailback, ms(700), 100..101);
    // 100 ms in 2 s, and beta squared of it. The first success still restores the window.
    advise(&mut tailback, 100, 48, 2000);
    near(tailback.window, 0.05 * 0.95 * 0.95);
    send(&mut tailback, ms(2300), 101..102);
    succeed(&mut tailback, 101, 1);
    near(tailback.window, 47.5 * 0.95);
}
