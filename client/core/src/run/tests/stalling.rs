//! Runs that make no progress, and servers that are not there.

use std::time::Duration;

use tailback::{Failure, Status};
use vocabulary::Instant;

use super::{Bench, burst, ms};
use crate::run::{Input, Output};
use crate::stall::PlannedOutages;
use crate::workload::RunConfig;

/// Returns when a run is stalled in which every attempt is rejected after 150 ms. `told` returns the advice of a
/// rejection.
fn stalled_at(
    strategy: &str,
    config: RunConfig,
    told: impl Fn(Instant) -> Option<Duration>,
) -> Option<Instant> {
    let mut bench = Bench::new(strategy, config);
    let mut now = ms(0);
    let mut output = bench.poll(now);
    while output != Output::Done {
        now = match output {
            Output::WaitUntil(at) if bench.sent.is_empty() => at,
            _ => now + Duration::from_millis(150),
        };
        output = bench.poll(now);
        if !bench.sent.is_empty() {
            let launched = bench.sent.remove(0);
            output = bench.advise(launched, now, Status::Rejected, told(now));
        }
    }
    if bench.run.stalled_at().is_some() {
        assert_eq!(bench.run.tries_without_time(), 0);
        assert_eq!(bench.run.measurements().ops.unfinished(), 1);
    }
    bench.assert_conserved();
    bench.run.stalled_at()
}

fn down(from_s: u64, to: Instant) -> PlannedOutages {
    PlannedOutages { since_start: vec![(ms(from_s * 1000), to)], ..PlannedOutages::default() }
}

#[test]
fn time_in_which_the_schedule_has_the_server_down_is_no_stall() {
    let stalled_at = |outages| {
        let config = RunConfig { outages, ..burst(1) };
        stalled_at("constant:delay=1s", config, |_| None)
    };
    assert_eq!(stalled_at(down(5, ms(95_000))), Some(ms(150_000)), "60 s without those 90");
    assert_eq!(stalled_at(down(5, Instant::FAR_FUTURE)), Some(ms(60_000)), "it never comes up again");
    let twice =
        PlannedOutages { since_first_request: vec![(ms(90_000), ms(100_000))], ..down(0, ms(50_000)) };
    assert_eq!(stalled_at(twice), Some(ms(120_000)));
}

#[test]
fn time_in_which_every_op_waits_as_advised_is_no_stall() {
    let advice = |now: Instant| (now < ms(600_000)).then_some(Duration::from_secs(10));
    // Until 600 s only the attempts count, 60 of 150 ms. So 51 s of patience are left.
    let obeying = stalled_at("constant:delay=10s", burst(1), advice).unwrap();
    assert!((ms(650_000)..ms(662_000)).contains(&obeying), "{obeying}");
    // An op that retries before the advised instant does not wait because of advice.
    assert_eq!(stalled_at("constant:delay=9s", burst(1), advice), Some(ms(60_000)));
    let for_good = RunConfig { outages: down(30, Instant::FAR_FUTURE), ..burst(1) };
    let at = stalled_at("constant:delay=10s", for_good, |_| Some(Duration::from_secs(10))).unwrap();
    assert!((ms(85_000)..ms(90_000)).contains(&at), "all time counts from 30 s on: {at}");
}

#[test]
fn a_run_in_which_nothing_succeeds_is_stalled_after_a_minute() {
    assert_eq!(stalled_at("constant:delay=1s", burst(1), |_| None), Some(ms(60_000)));
}

#[test]
fn retries_that_take_no_time_are_a_stall_not_an_endless_loop() {
    let mut bench = Bench::new("immediate", burst(3));
    let mut output = bench.poll(ms(5));
    while output != Output::Done {
        assert!(!bench.sent.is_empty(), "{output:?}");
        output = bench.answer(ms(5), Status::Rejected);
    }
    assert_eq!(bench.run.stalled_at(), Some(ms(5)));
    assert_eq!(bench.run.tries_without_time(), 10_001);
    bench.assert_conserved();
}

#[test]
fn exceeding_max_attempts_per_op_stalls_although_ops_succeed() {
    let config = RunConfig { max_attempts_per_op: Some(2), ..burst(2) };
    let mut bench = Bench::new("constant:delay=1s", config);
    let mut now = ms(0);
    bench.poll(now);
    let mut output = bench.answer(ms(10), Status::Succeeded);
    while output != Output::Done {
        now = match output {
            Output::WaitUntil(at) if bench.sent.is_empty() => at,
            _ => now + Duration::from_millis(20),
        };
        output = bench.poll(now);
        if !bench.sent.is_empty() {
            output = bench.answer(now, Status::Rejected);
        }
    }
    // The fifth attempt is one more than two for each op.
    assert_eq!(bench.run.measurements().attempts.total, 5);
    assert!(bench.run.stalled_at().is_some());
    bench.assert_conserved();
}

#[test]
fn many_rejections_at_one_instant_are_no_stall() {
    let mut bench = Bench::new("none", burst(150_001));
    bench.poll(ms(0));
    let last = bench.sent.pop().unwrap();
    while let Some(launched) = bench.sent.pop() {
        bench.answer_to(launched, ms(50), Status::Rejected);
    }
    assert_eq!(bench.answer_to(last, ms(600), Status::Succeeded), Output::Done);
    assert_eq!(bench.run.stalled_at(), None);
    bench.assert_conserved();
}

/// The first answered probe opens the whole window again.
#[test]
fn at_a_dead_port_a_window_sends_only_probes() {
    let mut bench = Bench::new("aimd", burst(1000));
    bench.poll(ms(0));
    assert_eq!(bench.sent.len(), 20);
    let refused = Status::Failed(Failure::Transport);
    for _ in 0..20 {
        bench.answer(ms(1000), refused);
    }
    let mut probes = Vec::new();
    let mut now = ms(1000);
    while probes.len() < 7 {
        now = match bench.poll(now) {
            Output::WaitUntil(at) => at,
            waits => panic!("{waits:?}"),
        };
        bench.poll(now);
        while !bench.sent.is_empty() {
            probes.push(now);
            bench.answer(now, refused);
        }
    }
    assert_eq!(probes, [1050, 1100, 1200, 1400, 1650, 1900, 2150].map(ms));
    // The limiter observed the outage once, and not every probe.
    bench.poll(ms(2400));
    assert_eq!(bench.sent.len(), 1, "the server is back, and lets the probe in");
    bench.answer(ms(2500), Status::Rejected);
    assert_eq!(bench.sent.len(), 17, "the window is 0.9 × 0.9 × 20 = 16.2");
    assert_eq!(bench.sent[0].due, ms(2500));
    bench.run.handle_input(ms(2600), Input::Abort);
    bench.poll(ms(2600));
    bench.assert_conserved();
}

#[test]
fn a_policy_with_delays_paces_itself_after_connection_failures() {
    for (strategy, sent) in [("aimd+constant:delay=60ms", 18), ("aimd+immediate", 1), ("immediate", 20)] {
        let mut bench = Bench::new(strategy, burst(20));
        bench.poll(ms(0));
        for _ in 0..20 {
            bench.answer(ms(0), Status::Failed(Failure::Transport));
        }
        bench.poll(ms(60));
        assert_eq!(bench.sent.len(), sent, "{strategy}");
    }
}

#[test]
fn only_a_permanent_refusal_fails_for_good() {
    let mut bench = Bench::new("none", burst(5));
    bench.poll(ms(0));
    for failure in [Failure::Transport, Failure::Timeout, Failure::Server, Failure::Fatal] {
        bench.answer(ms(10), Status::Failed(failure));
    }
    bench.answer(ms(10), Status::Rejected);
    assert_eq!((bench.run.failed_for_good(), bench.run.failed()), (1, 4));
    bench.assert_conserved();
}

#[test]
fn an_op_whose_retry_a_budget_refuses_after_a_failure_has_failed() {
    for (status, failed) in [(Status::Failed(Failure::Server), 1), (Status::Rejected, 0)] {
        let mut bench = Bench::new("immediate+retry-budget:max=1,ratio=0", burst(1));
        bench.poll(ms(0));
        bench.answer(ms(10), status);
        bench.poll(ms(20));
        assert_eq!(bench.run.measurements().given_up_after.shed, 1, "{status:?}");
        assert_eq!(bench.run.failed(), failed, "{status:?}");
    }
}

/// Also those that then ended at their deadline.
#[test]
fn ops_that_had_not_ended_when_the_target_died_have_failed() {
    let config = RunConfig { deadline: Some(Duration::from_secs(1)), ..burst(6) };
    let mut bench = Bench::new("constant:delay=1ms", config);
    bench.poll(ms(0));
    // These two end at their deadline, while the target is alive.
    bench.answer(ms(2000), Status::Rejected);
    bench.answer(ms(2000), Status::Failed(Failure::Timeout));
    for number in 0..3 {
        assert_eq!(bench.run.failed(), 0, "{number} attempts found no server, which may be chance");
        bench.answer(ms(2000), Status::Failed(Failure::Transport));
    }
    assert_eq!(bench.run.measurements().given_up_after.deadline, 5);
    assert_eq!(
        (bench.run.failed(), bench.run.failed_for_good()),
        (4, 0),
        "three at their deadline, one in flight"
    );
    bench.answer(ms(2000), Status::Succeeded);
    assert_eq!(bench.run.failed(), 0, "the target is alive again");
    bench.assert_conserved();
}

/// A hundred advised waits do not count, and after them, a run without progress stalls after three more.
#[test]
fn a_server_that_always_advises_a_wait_does_not_keep_a_run_alive_for_ever() {
    let stalled = stalled_at("constant:delay=1m", burst(1), |_| Some(Duration::from_mins(1))).unwrap();
    assert!((ms(6_000_000)..ms(6_400_000)).contains(&stalled), "{stalled}");
}
