//! Tests of the breaker's phases, as in Polly and resilience4j.

use super::*;
use crate::testing::{Always, CANCELLED, FATAL, OK, REJECTED, ended, launch};
use crate::{Advice, Until};

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn breaker(config: RatioBreaker) -> Breaker {
    Breaker::new(config)
}

fn resilience4j() -> RatioBreaker {
    RatioBreaker {
        ratio: 0.5,
        calls: 100,
        open: Duration::from_mins(1),
        trials: 10,
        ..RatioBreaker::default()
    }
}

fn end(breaker: &mut Breaker, at: Instant, outcome: Outcome, count: u32) {
    for _ in 0..count {
        breaker.on_ended(at, &ended(0, 1), &outcome, Permit::default());
    }
}

fn ask(breaker: &Breaker, at: Instant) -> BudgetDecision {
    breaker.ask(at, &launch(0, None), &mut Always(0.5))
}

fn send(breaker: &mut Breaker, at: Instant) -> Permit {
    assert_eq!(ask(breaker, at), BudgetDecision::Permit, "{at}");
    breaker.on_sent(at, &launch(0, None))
}

const REFUSED: BudgetDecision = BudgetDecision::Shed(Advice::Never);

#[test]
fn polly_opens_at_a_tenth_of_100_and_closes_on_one_success() {
    let mut breaker = breaker(RatioBreaker::default());
    end(&mut breaker, ms(0), OK, 85);
    end(&mut breaker, ms(0), REJECTED, 14);
    assert_eq!(ask(&breaker, ms(0)), BudgetDecision::Permit, "of 99");
    end(&mut breaker, ms(0), REJECTED, 1);
    assert_eq!((ask(&breaker, ms(0)), ask(&breaker, ms(4999))), (REFUSED, REFUSED));
    let trial = send(&mut breaker, ms(5000));
    assert_eq!(ask(&breaker, ms(5000)), REFUSED, "one is out");
    breaker.on_ended(ms(5100), &ended(0, 1), &REJECTED, trial);
    assert_eq!(ask(&breaker, ms(10_099)), REFUSED, "open again");
    let trial = send(&mut breaker, ms(10_100));
    breaker.on_ended(ms(10_200), &ended(0, 1), &OK, trial);
    assert_eq!(breaker.phase, Phase::Closed);
    end(&mut breaker, ms(10_200), REJECTED, 99);
    assert_eq!(ask(&breaker, ms(10_200)), BudgetDecision::Permit, "it begins to count anew");
}

#[test]
fn polly_counts_30_s_and_opens_only_on_a_failure() {
    let mut breaker = breaker(RatioBreaker::default());
    end(&mut breaker, ms(0), REJECTED, 99);
    end(&mut breaker, ms(0), FATAL, 100);
    assert_eq!(breaker.phase, Phase::Closed, "successes do not open it");
    end(&mut breaker, ms(30_000), REJECTED, 99);
    assert_eq!(breaker.phase, Phase::Closed);
    end(&mut breaker, ms(30_000), REJECTED, 1);
    assert_eq!(breaker.phase, Phase::Open { until: ms(35_000) });
}

/// Ten trials decide whether the breaker closes or opens again.
#[test]
fn resilience4j_opens_at_half_of_the_last_100() {
    let mut breaker = breaker(resilience4j());
    end(&mut breaker, ms(0), REJECTED, 50);
    end(&mut breaker, ms(0), OK, 49);
    assert_eq!(ask(&breaker, ms(0)), BudgetDecision::Permit);
    end(&mut breaker, ms(0), OK, 1);
    assert_eq!(ask(&breaker, ms(0)), REFUSED, "the hundredth makes up the number, though it succeeded");
    for (failed, phase) in [(5, Phase::Open { until: ms(60_000 * 2) }), (4, Phase::Closed)] {
        let now = if failed == 5 { ms(60_000) } else { ms(120_000) };
        let trials = [(); 10].map(|()| send(&mut breaker, now));
        assert_eq!(ask(&breaker, now), REFUSED, "ten are out");
        for (index, trial) in trials.into_iter().enumerate() {
            let outcome = if index < failed { REJECTED } else { OK };
            breaker.on_ended(now, &ended(0, 1), &outcome, trial);
        }
        assert_eq!(breaker.phase, phase);
    }
}

#[test]
fn attempts_in_flight_affect_it_only_once_it_is_not_open() {
    let mut breaker = breaker(RatioBreaker { least: 1, ..RatioBreaker::default() });
    end(&mut breaker, ms(0), REJECTED, 1);
    end(&mut breaker, ms(10), OK, 9);
    assert_eq!(breaker.phase, Phase::Open { until: ms(5000) });
    send(&mut breaker, ms(5000));
    end(&mut breaker, ms(5001), OK, 1);
    assert_eq!(breaker.phase, Phase::Closed);
}

#[test]
fn a_cancelled_trial_frees_its_place() {
    let mut breaker = breaker(RatioBreaker { least: 1, ..RatioBreaker::default() });
    end(&mut breaker, ms(0), REJECTED, 1);
    let trial = send(&mut breaker, ms(5000));
    breaker.on_ended(ms(5001), &ended(0, 1), &CANCELLED, trial);
    send(&mut breaker, ms(5001));
}

#[test]
fn launches_may_back_off_or_wait_instead() {
    for (when_open, open, half_open) in [
        (WhenOpen::Shed, BudgetDecision::Shed(Advice::None), BudgetDecision::Shed(Advice::None)),
        (WhenOpen::Wait, BudgetDecision::Wait(Until::At(ms(5000))), BudgetDecision::Wait(Until::Event)),
    ] {
        let mut breaker = breaker(RatioBreaker { least: 1, when_open, ..RatioBreaker::default() });
        end(&mut breaker, ms(0), REJECTED, 1);
        assert_eq!(ask(&breaker, ms(0)), open);
        send(&mut breaker, ms(5000));
        assert_eq!(ask(&breaker, ms(5000)), half_open);
    }
}

mod calls {
    use crate::budgets::ratio_breaker::*;

    fn counts(requests: u64, failures: u64) -> Counts {
        Counts { requests, accepted: requests - failures }
    }

    #[test]
    fn only_the_last_so_many_count() {
        let mut calls = Calls::new(3, Duration::ZERO);
        let counted =
            [true, true, false, false, true, false].map(|failed| calls.count(Instant::ORIGIN, !failed));
        assert_eq!(
            counted,
            [counts(1, 1), counts(2, 2), counts(3, 2), counts(3, 1), counts(3, 1), counts(3, 1)]
        );
        calls.clear();
        assert_eq!(calls.count(Instant::ORIGIN, true), counts(1, 0));
    }

    #[test]
    fn what_began_before_the_window_counts_no_more() {
        let mut calls = Calls::new(0, Duration::from_secs(10));
        let at = |calls: &mut Calls, millis| calls.count(Instant::from_millis(millis), false).requests;
        assert_eq!(at(&mut calls, 0), 1);
        assert_eq!(at(&mut calls, 900), 2, "in the same tenth");
        assert_eq!(at(&mut calls, 1000), 3);
        assert_eq!(at(&mut calls, 9999), 4);
        assert_eq!(at(&mut calls, 10_000), 3, "the first tenth is forgotten as a whole");
        assert_eq!(at(&mut calls, 60_000), 1);
    }
}
