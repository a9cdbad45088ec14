//! Tests of the rule with the vectors of go-zero's `googlebreaker_test.go`.

use super::*;
use crate::Advice;
use crate::testing::{Always, CANCELLED, FATAL, OK, REJECTED, ended, launch};

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn breaker() -> Breaker {
    Breaker::new(GoZeroBreaker::default())
}

fn end(breaker: &mut Breaker, at: Instant, outcome: Outcome, count: u32) {
    for _ in 0..count {
        breaker.on_ended(at, &ended(0, 1), &outcome, Permit::default());
    }
}

fn ask(breaker: &Breaker, at: Instant, draw: f64) -> BudgetDecision {
    breaker.ask(at, &launch(0, None), &mut Always(draw))
}

const REFUSED: BudgetDecision = BudgetDecision::Shed(Advice::Never);

fn close_to(refusal: Option<f64>, wanted: f64) -> bool {
    refusal.is_some_and(|refusal| (refusal - wanted).abs() < 1e-12)
}

/// `TestGoogleBreakerClose` and `TestGoogleBreakerSelfProtection`.
#[test]
fn successes_and_few_failures_pass() {
    let mut close = breaker();
    end(&mut close, ms(0), OK, 200);
    assert_eq!(close.refusal(ms(0)), None);
    let mut few = breaker();
    end(&mut few, ms(0), REJECTED, 4);
    assert_eq!(few.refusal(ms(10)), None);
    end(&mut few, ms(10), REJECTED, 1);
    assert_eq!(few.refusal(ms(10)), None, "five are spared");
    end(&mut few, ms(10), REJECTED, 1);
    assert!(close_to(few.refusal(ms(10)), 1.0 / 7.0));
    let mut healthy = breaker();
    end(&mut healthy, ms(0), FATAL, 1001);
    end(&mut healthy, ms(0), CANCELLED, 1001);
    assert_eq!(healthy.refusal(ms(0)), None, "refused for good is accepted, cancelled is nothing");
}

/// `TestGoogleBreakerOpen`, with its `k` of 5.
#[test]
fn many_failures_are_refused() {
    let mut open = Breaker::new(GoZeroBreaker { factor: 5.0, ..GoZeroBreaker::default() });
    end(&mut open, ms(0), OK, 10);
    end(&mut open, ms(0), REJECTED, 100_000);
    assert!(close_to(open.refusal(ms(20)), (100_010.0 - 5.0 - 50.0) / 100_011.0));
    assert_eq!((ask(&open, ms(20), 0.99), ask(&open, ms(20), 0.9999)), (REFUSED, BudgetDecision::Permit));
}

/// `TestGoogleBreakerMoreFallingBuckets`: the more slices fail, the fewer requests a success allows.
#[test]
fn each_failing_slice_lowers_the_factor_by_1_40_of_its_range() {
    let mut falling = breaker();
    end(&mut falling, ms(0), OK, 100);
    for slice in 1..=20 {
        end(&mut falling, ms(250 * slice), REJECTED, 10);
    }
    assert!(close_to(falling.refusal(ms(5000)), (300.0 - 5.0 - 1.3 * 100.0) / 301.0));
}

/// `TestGoogleBreakerRecover`: working slices make refusals rare.
#[test]
fn each_working_slice_takes_a_fortieth_off() {
    let mut recovering = breaker();
    end(&mut recovering, ms(0), REJECTED, 100);
    for slice in 1..=10 {
        end(&mut recovering, ms(250 * slice), OK, 1);
    }
    let by_errors = (110.0 - 5.0 - 15.0) / 111.0;
    assert!(close_to(recovering.refusal(ms(2500)), by_errors * 30.0 / 40.0));
}

/// `TestGoogleBreakerForcePass`.
#[test]
fn a_second_without_a_launch_lets_one_pass() {
    let mut forced = breaker();
    end(&mut forced, ms(0), REJECTED, 1000);
    assert_eq!(ask(&forced, ms(5000), 0.5), REFUSED, "none has passed yet that counts");
    forced.on_sent(ms(5000), &launch(0, None));
    assert_eq!(ask(&forced, ms(6000), 0.5), REFUSED);
    assert_eq!(ask(&forced, ms(6001), 0.5), BudgetDecision::Permit);
    forced.on_sent(ms(6001), &launch(0, None));
    assert_eq!(ask(&forced, ms(6002), 0.5), REFUSED, "one");
}

#[test]
fn what_is_refused_counts_as_a_request_but_fails_no_slice() {
    let mut breaker = breaker();
    end(&mut breaker, ms(0), OK, 10);
    end(&mut breaker, ms(0), REJECTED, 20);
    breaker.on_shed(ms(300), &launch(0, None));
    let seen = breaker.window.seen(ms(300));
    assert_eq!((seen.requests, seen.accepted, seen.failing), (31, 10, 0));
}

#[test]
fn late_answers_are_refused_only_with_a_timeout() {
    let late = |timeout| {
        let mut breaker = Breaker::new(GoZeroBreaker { timeout, ..GoZeroBreaker::default() });
        end(&mut breaker, ms(1), OK, 10);
        end(&mut breaker, ms(80), OK, 20);
        end(&mut breaker, ms(80), REJECTED, 1);
        breaker.refusal(ms(80))
    };
    assert_eq!(late(Duration::ZERO), None);
    assert!(late(Duration::from_millis(100)).is_some_and(|refusal| refusal > 0.15));
}

#[test]
fn a_refused_launch_may_back_off_instead() {
    let config = GoZeroBreaker { on_refusal: OnRefusal::BackOff, ..GoZeroBreaker::default() };
    let mut breaker = Breaker::new(config);
    end(&mut breaker, ms(0), REJECTED, 100);
    assert_eq!(ask(&breaker, ms(0), 0.5), BudgetDecision::Shed(Advice::None));
}

mod latency {
    use crate::budgets::go_zero_breaker::*;

    fn latency(timeout_ms: u64, answers_us: &[u64]) -> Latency {
        let mut latency = Latency::new(Duration::from_millis(timeout_ms));
        for answer in answers_us {
            latency.on_answer(Duration::from_micros(*answer));
        }
        latency
    }

    /// go-zero, `TestLatencyAwareBreaker`: baseline and current latency.
    #[test]
    fn what_is_usual_falls_fast_and_rises_slowly() {
        assert_eq!(latency(1000, &[1000, 500]).usual, 875);
        assert_eq!(latency(1000, &[1000, 2000]).usual, 1010);
        assert_eq!(latency(1000, &[1000, 2000]).current, 1250);
        assert_eq!(latency(1000, &[1000, 2000, 1000]).current, 1187);
        let off = latency(0, &[1000]);
        assert_eq!((off.usual, off.current), (0, 0));
        let mut answers = [10_000; 20];
        answers[10..].fill(50_000);
        let risen = latency(1000, &answers);
        assert!((10_001..15_000).contains(&risen.usual) && risen.current > 40_000, "{risen:?}");
    }

    /// go-zero, `TestLatencyAwareBreaker`: latency ratio calculation, invalid state, latency-based rejection.
    #[test]
    fn the_nearer_the_timeout_the_more_is_refused() {
        let refusal = |usual, current| Latency { timeout: 1_000_000, usual, current }.refusal();
        for (usual, current, wanted) in [
            (10_000, 20_000, 0.0),
            (10_000, 50_000, 20_000.0 / 920_000.0 * 0.3),
            (10_000, 800_000, 770_000.0 / 920_000.0 * 0.3),
            (10_000, 1_000_000, 0.3),
            (0, 50_000, 0.0),
            (500_000, 600_000, 0.0),
        ] {
            assert!((refusal(usual, current) - wanted).abs() < 1e-12, "{usual}, {current}");
        }
        let mut answers = [1000; 30];
        answers[10..].fill(80_000);
        let late = latency(100, &answers);
        assert!(late.current > 50_000 && late.refusal() > 0.15, "{late:?}");
    }
}

mod window {
    use crate::budgets::go_zero_breaker::*;

    fn after(window: &mut Window, slices: &[(u64, CallResult)]) -> Seen {
        for (slice, how) in slices {
            window.count(Instant::from_millis(250 * slice), *how);
        }
        window.seen(Instant::from_millis(250 * slices[slices.len() - 1].0))
    }

    #[test]
    fn slices_at_the_end_that_all_fail_or_work_are_counted() {
        use CallResult::{Accepted, Failed, Refused};
        let mut window = Window::over(Duration::from_secs(10));
        let seen = after(&mut window, &[(0, Accepted), (1, Failed), (2, Refused), (3, Failed)]);
        assert_eq!(seen, Seen { requests: 4, accepted: 1, failing: 2, working: 0 });
        let seen = after(&mut window, &[(4, Failed), (4, Accepted)]);
        assert_eq!((seen.failing, seen.working), (0, 0), "a slice with both is neither");
        let seen = after(&mut window, &[(6, Accepted), (8, Accepted)]);
        assert_eq!((seen.failing, seen.working), (0, 2), "empty slices change nothing");
        assert_eq!(window.seen(Instant::from_millis(250 * 48)), Seen::default());
    }

    /// go-zero, `TestGoogleBreakerHistory`.
    #[test]
    fn the_history_of_go_zero_comes_out() {
        let both = [CallResult::Failed, CallResult::Accepted];
        for (each, accepted) in [(&both[1..], 10), (&both[..1], 0), (&both[..], 5)] {
            let mut window = Window::over(Duration::from_millis(400));
            for number in 0..10 {
                let how = each[number * each.len() / 10];
                window.count(Instant::from_millis(5 * number as u64), how);
            }
            let seen = window.seen(Instant::from_millis(50));
            assert_eq!((seen.accepted, seen.requests), (accepted, 10));
            assert_eq!(window.seen(Instant::from_millis(500)), Seen::default(), "auto reset rolling counter");
        }
    }
}
