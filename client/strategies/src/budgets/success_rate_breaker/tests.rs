//! Tests with the vectors of Finagle's `FailureAccrualPolicyTest.scala` and linkerd's `unified.rs` and
//! `success_rate.rs`.

use super::*;
use crate::testing::{Always, CANCELLED, FATAL, OK, REJECTED, TIMEOUT, ended, launch};
use crate::{Advice, Instant, Until};

const FIVE: Duration = Duration::from_secs(5);

fn secs(secs: u64) -> Instant {
    Instant::from_millis(1000 * secs)
}

/// Returns a configuration with the rate rule alone, and the constant back-off of Finagle's tests.
fn by_rate(success: f64) -> SuccessRateBreaker {
    SuccessRateBreaker { success, in_a_row: 0, least: 0, cap: FIVE, ..SuccessRateBreaker::default() }
}

fn finagle(config: SuccessRateBreaker) -> Breaker {
    Breaker::new(config, 1)
}

/// `markDeadOnFailure` of an endpoint that is alive or probed. Returns the time for which it is marked dead.
fn fail(breaker: &mut Breaker, at: Instant) -> Option<Duration> {
    end(breaker, at, REJECTED);
    match breaker.phase {
        Phase::Open { until } => Some(until.since(at)),
        _ => None,
    }
}

fn end(breaker: &mut Breaker, at: Instant, outcome: Outcome) {
    breaker.on_ended(at, &ended(0, 1), &outcome, Permit::default());
}

fn ask(breaker: &Breaker, at: Instant) -> BudgetDecision {
    breaker.ask(at, &launch(0, None), &mut Always(0.5))
}

fn probe(breaker: &mut Breaker, at: Instant) -> Permit {
    assert_eq!(ask(breaker, at), BudgetDecision::Permit, "{at}");
    breaker.on_sent(at, &launch(0, None))
}

#[test]
fn it_opens_on_the_nth_consecutive_failure_since_a_success() {
    let mut breaker =
        finagle(SuccessRateBreaker { success: 0.0, in_a_row: 3, ..SuccessRateBreaker::default() });
    let now = secs(0);
    assert_eq!([(); 3].map(|()| fail(&mut breaker, now)), [None, None, Some(FIVE)]);
    probe(&mut breaker, secs(5));
    end(&mut breaker, secs(5), OK);
    assert_eq!([(); 2].map(|()| fail(&mut breaker, secs(5))), [None; 2]);
    end(&mut breaker, secs(5), OK);
    assert_eq!([(); 3].map(|()| fail(&mut breaker, secs(5))), [None, None, Some(FIVE)]);
}

#[test]
fn a_rate_over_attempts_needs_as_many_first() {
    let mut breaker = finagle(SuccessRateBreaker { calls: 5, ..by_rate(0.5) });
    assert_eq!([(); 5].map(|()| fail(&mut breaker, secs(0))), [None, None, None, None, Some(FIVE)]);
}

#[test]
fn a_rate_over_100_attempts_halves_at_the_70th_failure() {
    let mut breaker = finagle(SuccessRateBreaker { calls: 100, ..by_rate(0.5) });
    for _ in 0..100 {
        end(&mut breaker, secs(0), OK);
    }
    for failure in 1..=69 {
        assert_eq!(fail(&mut breaker, secs(0)), None, "{failure}");
    }
    assert_eq!(fail(&mut breaker, secs(0)), Some(FIVE));
}

#[test]
fn a_rate_over_100_seconds_halves_at_the_70th_failure() {
    let config = SuccessRateBreaker { window: Duration::from_secs(100), ..by_rate(0.5) };
    let mut breaker = finagle(config);
    for second in 1..=100 {
        end(&mut breaker, secs(second), OK);
    }
    for second in 101..=169 {
        assert_eq!(fail(&mut breaker, secs(second)), None, "{second}");
    }
    assert_eq!(fail(&mut breaker, secs(170)), Some(FIVE));
}

/// When a probe succeeds, the measurement of the success rate starts anew.
#[test]
fn a_rate_over_time_opens_only_after_that_time() {
    let mut breaker = finagle(by_rate(1.0));
    assert_eq!(fail(&mut breaker, secs(0)), None);
    assert_eq!(fail(&mut breaker, secs(30)), Some(FIVE));
    probe(&mut breaker, secs(35));
    end(&mut breaker, secs(35), OK);
    assert_eq!(fail(&mut breaker, secs(35)), None, "it is measured anew");
    assert!(fail(&mut breaker, secs(65)).is_some());
}

#[test]
fn a_rate_over_time_needs_so_many_attempts_within_it() {
    let mut breaker = finagle(SuccessRateBreaker { least: 5, ..by_rate(1.0) });
    assert_eq!([(); 5].map(|()| fail(&mut breaker, secs(30))), [None, None, None, None, Some(FIVE)]);
}

#[test]
fn failed_probes_go_on_with_longer_times() {
    let mut breaker = finagle(SuccessRateBreaker { cap: Duration::from_mins(1), calls: 1, ..by_rate(1.0) });
    let mut now = secs(0);
    let mut times = Vec::new();
    for _ in 0..6 {
        let time = fail(&mut breaker, now).expect("no probe succeeds");
        times.push(time.as_secs());
        now = now + time;
        probe(&mut breaker, now);
    }
    let ranges = [5..6, 5..10, 10..20, 20..40, 40..61, 60..61];
    assert!(times.iter().zip(ranges).all(|(time, range)| range.contains(time)), "{times:?}");
}

#[test]
fn finagles_hybrid_uses_the_rate_and_consecutive_failures() {
    let config = SuccessRateBreaker { in_a_row: 3, least: 0, ..SuccessRateBreaker::default() };
    let mut breaker = finagle(config);
    let mut second = 0;
    for _ in 0..15 {
        end(&mut breaker, secs(second), OK);
        assert_eq!(fail(&mut breaker, secs(second + 1)), None);
        second += 2;
    }
    assert_eq!(fail(&mut breaker, secs(second)), Some(FIVE), "after 30 s at a half");
    probe(&mut breaker, secs(35));
    end(&mut breaker, secs(35), OK);
    assert_eq!([(); 3].map(|()| fail(&mut breaker, secs(35))), [None, None, Some(FIVE)]);
}

/// `FailureAccrualFactory`: the first attempt to end decides the probe. If the rule does not open the breaker,
/// another probe follows.
#[test]
fn stragglers_count_for_the_phase_in_which_they_end() {
    let mut breaker = finagle(SuccessRateBreaker { calls: 1, ..by_rate(0.5) });
    assert_eq!(fail(&mut breaker, secs(0)), Some(FIVE));
    end(&mut breaker, secs(1), REJECTED);
    assert_eq!(breaker.phase, Phase::Open { until: secs(5) }, "a failure while it is open is no news");
    for _ in 0..3 {
        end(&mut breaker, secs(2), OK);
    }
    assert_eq!(
        ask(&breaker, secs(4)),
        BudgetDecision::Wait(Until::At(secs(5))),
        "a success does not close it, but counts"
    );
    let first = probe(&mut breaker, secs(5));
    assert_eq!(ask(&breaker, secs(5)), BudgetDecision::Wait(Until::Event), "one is out");
    end(&mut breaker, secs(6), CANCELLED);
    assert_eq!(ask(&breaker, secs(6)), BudgetDecision::Wait(Until::Event), "that was another");
    breaker.on_ended(secs(6), &ended(0, 1), &CANCELLED, first);
    probe(&mut breaker, secs(6));
    end(&mut breaker, secs(6), FATAL);
    assert_eq!(breaker.phase, Phase::Closed);
}

#[test]
fn cancelling_an_earlier_probe_does_not_affect_the_later_one() {
    let mut breaker = finagle(SuccessRateBreaker { in_a_row: 1, ..SuccessRateBreaker::default() });
    assert_eq!(fail(&mut breaker, secs(0)), Some(FIVE));
    let first = probe(&mut breaker, secs(5));
    assert!(fail(&mut breaker, secs(6)).is_some(), "a straggler opens it again");
    let Phase::Open { until } = breaker.phase else { panic!("{:?}", breaker.phase) };
    let second = probe(&mut breaker, until);
    breaker.on_ended(until, &ended(0, 1), &CANCELLED, first);
    assert_eq!(ask(&breaker, until), BudgetDecision::Wait(Until::Event), "the second is out");
    breaker.on_ended(until, &ended(0, 1), &CANCELLED, second);
    assert_eq!(ask(&breaker, until), BudgetDecision::Permit);
}

#[test]
fn a_failed_probe_at_a_high_rate_is_followed_by_another() {
    let config = SuccessRateBreaker { success: 0.5, calls: 10, in_a_row: 1, ..by_rate(0.5) };
    let mut breaker = finagle(config);
    assert_eq!(fail(&mut breaker, secs(0)), Some(FIVE));
    breaker.config.in_a_row = 2;
    for _ in 0..100 {
        end(&mut breaker, secs(1), OK);
    }
    probe(&mut breaker, secs(5));
    assert_eq!(fail(&mut breaker, secs(6)), None);
    probe(&mut breaker, secs(6));
}

/// Returns linkerd's unified breaker with the configuration of its tests, except for the window.
fn linkerd(success: f64, in_a_row: u32, least: u32) -> Breaker {
    let config = SuccessRateBreaker {
        success,
        average: Average::Exact,
        window: Duration::from_secs(10),
        least,
        in_a_row,
        row_of: RowOf::Transient,
        open: Duration::from_secs(1),
        cap: Duration::from_secs(100),
        spread: Spread::None,
        ..SuccessRateBreaker::default()
    };
    Breaker::new(config, 1)
}

fn tenths(breaker: &mut Breaker, outcomes: &[Outcome]) -> bool {
    for (tenth, outcome) in (0..).zip(outcomes) {
        end(breaker, Instant::from_millis(100 * tenth), *outcome);
    }
    breaker.phase != Phase::Closed
}

/// A success or a throttled response interrupts a sequence of consecutive failures.
#[test]
fn linkerd_trips_on_consecutive_failures() {
    assert!(tenths(&mut linkerd(0.0, 3, 1), &[TIMEOUT; 3]));
    for between in [OK, REJECTED] {
        assert!(!tenths(&mut linkerd(0.0, 3, 1), &[TIMEOUT, TIMEOUT, between, TIMEOUT, TIMEOUT]));
    }
}

#[test]
fn linkerd_trips_on_a_low_rate_which_throttling_lowers() {
    assert!(tenths(&mut linkerd(0.8, 100, 1), &[OK, REJECTED]));
    assert!(tenths(&mut linkerd(0.8, 100, 1), &[TIMEOUT]));
    assert!(!tenths(&mut linkerd(0.8, 100, 5), &[REJECTED; 4]), "a cold start is spared");
    // `failure_burst_trips_independent_of_rate`, `cold_start_holds_until_min_requests`.
    assert!(tenths(&mut linkerd(0.5, 0, 5), &[REJECTED; 5]));
    assert!(tenths(&mut linkerd(1.0, 0, 4), &[OK, OK, OK, REJECTED]), "`threshold_one_trips_on_any_failure`");
    assert!(!tenths(&mut linkerd(1.0, 0, 5), &[OK, OK, OK, REJECTED]));
    assert!(tenths(&mut linkerd(0.5, 0, 0), &[REJECTED]), "`min_requests_zero_trips_on_first_failure`");
}

#[test]
fn linkerd_reopens_with_a_probe_and_doubles_after_throttling() {
    let mut breaker = linkerd(0.8, 3, 5);
    assert_eq!(
        [(); 3].map(|()| {
            end(&mut breaker, secs(0), TIMEOUT);
            breaker.phase == Phase::Closed
        }),
        [true, true, false]
    );
    end(&mut breaker, Instant::from_millis(500), OK);
    probe(&mut breaker, secs(1));
    end(&mut breaker, secs(1), REJECTED);
    assert_eq!(breaker.phase, Phase::Open { until: secs(3) });
    probe(&mut breaker, secs(3));
    end(&mut breaker, secs(3), OK);
    assert_eq!(breaker.phase, Phase::Closed);
}

#[test]
fn launches_may_back_off_or_end_instead_of_waiting() {
    for (when_open, gate) in [(WhenOpen::Shed, Advice::None), (WhenOpen::GiveUp, Advice::Never)] {
        let mut breaker = finagle(SuccessRateBreaker { calls: 1, when_open, ..by_rate(1.0) });
        end(&mut breaker, secs(0), REJECTED);
        assert_eq!(ask(&breaker, secs(0)), BudgetDecision::Shed(gate));
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let error = |text: &str| text.parse::<crate::StrategySpec>().unwrap_err().to_string();
    assert!(error("success-rate-breaker:average=exact,calls=9").contains("`calls` needs `average=moving`"));
}

#[test]
fn an_answer_that_comes_out_of_order_takes_no_time_back() {
    let mut breaker = finagle(SuccessRateBreaker { least: 0, in_a_row: 0, ..SuccessRateBreaker::default() });
    for second in 1..=60 {
        end(&mut breaker, secs(second), OK);
    }
    end(&mut breaker, Instant::from_millis(59_999), REJECTED);
    assert_eq!(breaker.phase, Phase::Closed);
}

mod penalty {
    use crate::budgets::success_rate_breaker::*;

    const fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    /// Returns the times of six consecutive openings for draws of 0.5.
    fn halves(spread: Spread) -> Vec<Duration> {
        let mut penalties = Penalties::new(secs(5), secs(60), spread, 1, 0);
        let next = |row| {
            penalties.row = row;
            penalties.drawn(0.5)
        };
        (0..6).map(next).collect()
    }

    #[test]
    fn the_time_doubles_up_to_the_cap_and_is_spread() {
        let millis = |all: [u64; 6]| all.map(Duration::from_millis).to_vec();
        assert_eq!(halves(Spread::None), millis([5000, 10_000, 20_000, 40_000, 60_000, 60_000]));
        // Finagle does not spread the first time. Of the next ones, half of 10, 20 and 40 s is fixed.
        assert_eq!(halves(Spread::Equal), millis([5000, 7500, 15_000, 30_000, 60_000, 60_000]));
        assert_eq!(halves(Spread::Above), millis([6250, 12_500, 25_000, 50_000, 60_000, 60_000]));
    }

    #[test]
    fn draws_are_keyed_and_a_sequence_begins_anew() {
        let mut penalties = Penalties::new(secs(5), secs(60), Spread::Equal, 1, 0);
        assert_eq!(penalties.next(7), secs(5));
        let second = penalties.next(7);
        assert!((secs(5)..secs(10)).contains(&second), "{second:?}");
        penalties.row = 0;
        assert_eq!(penalties.next(7), secs(5));
        assert_ne!(penalties.next(7), second, "another draw");
    }
}

mod rate {
    use crate::budgets::success_rate_breaker::*;

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn a_moving_average_halves_in_ln_2_of_its_window() {
        let mut rate = Rate::new(Average::Moving, Duration::from_secs(100), 0);
        assert!((rate.count(ms(0), true) - 1.0).abs() < 1e-12, "the first is all there is");
        assert!((rate.count(ms(69_315), false) - 0.5).abs() < 1e-5);
    }

    #[test]
    fn a_share_recovers_as_failures_are_forgotten() {
        // linkerd, `samples_age_out_after_window`.
        let mut rate = Rate::new(Average::Exact, Duration::from_secs(10), 0);
        for _ in 0..5 {
            assert!(rate.count(ms(0), false).abs() < 1e-12);
        }
        assert!((rate.count(ms(11_000), true) - 1.0).abs() < 1e-12);
        assert!(rate.has_measured(ms(11_000), 1) && !rate.has_measured(ms(11_000), 2));
    }
}
