//! Tests of the breaker, as sequences of attempts at literal times.
//!
//! Source: the rule in `breaker.rs`, after linkerd's consecutive-failures breaker.

use vocabulary::Configurable as _;

use super::*;
use crate::Until;
use crate::testing::{Always, CANCELLED, FATAL, OK, REJECTED, TIMEOUT, ended, launch};

struct Bench {
    breaker: Breaker,
    sent: u64,
}

impl Bench {
    fn new(text: &[(&str, &str)]) -> Self {
        let mut config = BreakerConfig::default();
        for (key, value) in text {
            let parameter = BreakerConfig::PARAMETERS.iter().find(|parameter| parameter.key == *key).unwrap();
            parameter.set(&mut config, value).unwrap();
        }
        Self { breaker: Breaker::new(config), sent: 0 }
    }

    fn ask(&self, at_ms: u64) -> BudgetDecision {
        self.breaker.ask(Instant::from_millis(at_ms), &launch(self.sent, None), &mut Always(0.5))
    }

    #[track_caller]
    fn send(&mut self, at_ms: u64) -> Permit {
        assert_eq!(self.ask(at_ms), BudgetDecision::Permit);
        self.sent += 1;
        self.breaker.on_sent(Instant::from_millis(at_ms), &launch(self.sent - 1, None))
    }

    fn end(&mut self, at_ms: u64, permit: Permit, outcome: Outcome) {
        self.breaker.on_ended(Instant::from_millis(at_ms), &ended(0, 1), &outcome, permit);
    }

    fn trip(&mut self, at_ms: u64) {
        for _ in 0..5 {
            let permit = self.send(at_ms);
            self.end(at_ms, permit, REJECTED);
        }
    }

    fn phase(&self) -> (&'static str, &'static str) {
        let mut gauges = Gauges::default();
        self.breaker.report(&mut gauges);
        (gauges.phase.unwrap(), gauges.reason.unwrap())
    }
}

const fn wait_until_ms(at_ms: u64) -> BudgetDecision {
    BudgetDecision::Wait(Until::At(Instant::from_millis(at_ms)))
}

#[test]
fn consecutive_failures_open_it_and_a_success_resets_them() {
    let mut bench = Bench::new(&[("failures", "3")]);
    for outcome in [REJECTED, TIMEOUT, OK, REJECTED, FATAL, CANCELLED, TIMEOUT] {
        let permit = bench.send(0);
        bench.end(0, permit, outcome);
    }
    assert_eq!(bench.phase(), ("closed", "started"));
    let permit = bench.send(10);
    bench.end(10, permit, REJECTED);
    assert_eq!(bench.phase(), ("open", "too many failures in a row"));
    assert_eq!(bench.ask(10), wait_until_ms(1010));
    assert_eq!(bench.ask(1009), wait_until_ms(1010));
}

#[test]
fn a_half_open_breaker_lets_one_attempt_through() {
    let mut bench = Bench::new(&[]);
    bench.trip(0);
    let probe = bench.send(1000);
    assert_eq!(bench.phase(), ("half-open", "a probe is in flight"));
    assert_eq!(bench.ask(1000), BudgetDecision::Wait(Until::Event));
    assert_eq!(bench.ask(99_000), BudgetDecision::Wait(Until::Event));
    bench.end(1100, probe, OK);
    assert_eq!(bench.phase(), ("closed", "the probe succeeded"));
    bench.send(1100);
    bench.send(1100);
}

/// When the breaker closes, the delay until the next probe is reset.
#[test]
fn each_failed_probe_delays_the_next_one_up_to_the_cap() {
    let mut bench = Bench::new(&[("cap", "3s")]);
    bench.trip(0);
    let mut now = 0;
    for wait_ms in [1000, 2000, 3000, 3000] {
        assert_eq!(bench.ask(now), wait_until_ms(now + wait_ms));
        now += wait_ms;
        let probe = bench.send(now);
        bench.end(now, probe, TIMEOUT);
        assert_eq!(bench.phase(), ("open", "the probe failed"));
    }
    let probe = bench.send(now + 3000);
    bench.end(now + 3000, probe, OK);
    bench.trip(20_000);
    assert_eq!(bench.ask(20_000), wait_until_ms(21_000));
}

#[test]
fn an_inconclusive_probe_frees_its_place() {
    for outcome in [CANCELLED, FATAL] {
        let mut bench = Bench::new(&[]);
        bench.trip(0);
        let first = bench.send(1000);
        bench.end(1010, first, outcome);
        assert_eq!(bench.phase(), ("half-open", "the probe was inconclusive"));
        let second = bench.send(1010);
        assert_eq!(bench.ask(1010), BudgetDecision::Wait(Until::Event));
        bench.end(1020, second, OK);
        assert_eq!(bench.phase().0, "closed");
    }
}

#[test]
fn attempts_sent_before_it_opened_confuse_nothing() {
    let mut bench = Bench::new(&[]);
    let stragglers: Vec<Permit> = (0..4).map(|_| bench.send(0)).collect();
    bench.trip(0);
    bench.end(500, stragglers[0], OK);
    assert_eq!(bench.ask(500), wait_until_ms(1000), "an old success does not close it");
    let probe = bench.send(1000);
    bench.end(1001, stragglers[1], OK);
    bench.end(1001, stragglers[2], REJECTED);
    assert_eq!(bench.phase().0, "half-open", "only the probe decides");
    bench.end(1002, probe, OK);
    bench.end(1003, stragglers[3], REJECTED);
    assert_eq!(
        (bench.breaker.phase, bench.breaker.failures),
        (Phase::Closed, 0),
        "old failures do not count again"
    );
}

#[test]
fn launches_are_shed_while_open_when_that_is_wanted() {
    let mut bench = Bench::new(&[("when-open", "shed")]);
    bench.trip(0);
    assert_eq!(bench.ask(999), BudgetDecision::Shed(Advice::None));
    bench.send(1000);
    assert_eq!(bench.ask(1000), BudgetDecision::Shed(Advice::None));
}

#[test]
fn a_closed_breaker_leaves_the_limiters_phase_on_the_screen() {
    let mut bench = Bench::new(&[]);
    let limiter = Gauges { phase: Some("slow start"), ..Gauges::default() };
    let mut gauges = limiter;
    bench.breaker.report(&mut gauges);
    assert_eq!(gauges, limiter);
    bench.trip(0);
    bench.breaker.report(&mut gauges);
    assert_eq!(gauges.phase, Some("open"));
}

#[test]
fn extreme_parameters_saturate() {
    let mut bench = Bench::new(&[("open", "1day"), ("factor", "1000"), ("cap", "1day"), ("failures", "1")]);
    let permit = bench.send(0);
    bench.end(0, permit, REJECTED);
    bench.breaker.openings = u32::MAX;
    let day_ms = 86_400_000;
    let probe = bench.send(day_ms);
    bench.end(day_ms, probe, REJECTED);
    assert_eq!(bench.ask(day_ms), wait_until_ms(2 * day_ms));
}
