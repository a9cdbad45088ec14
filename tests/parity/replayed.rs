//! Replay of the logs of real runs: every decision, verdict and instant is the same, however late sockets and timers
//! woke.

use std::num::NonZero;
use std::time::Duration;

use loadgen_core::{ArrivalProcess, GivenUp, OperationKind, Refusal, RunConfig, Workload};
use loadgen_http::TRANSPORTS;
use mockserver_core::Config;
use vocabulary::Distribution;

use crate::real_run::{RealRun, Setting};

/// Returns a setting of 300 ops, at twice the rate that a cap of 20 serves.
pub(crate) fn overload(strategy: &'static str) -> Setting {
    let workload =
        Workload { arrivals: ArrivalProcess::Poisson { rate_per_s: 400.0 }, ops: Some(300), duration: None };
    let server = Config {
        max_busy: 20,
        service_time: "lognormal(100ms,0.5)".parse().expect("it is a distribution"),
        reject_time: Distribution::millis(20),
        network_delay: Distribution::millis(30),
        ..Config::default()
    };
    let config = RunConfig { workload, ..RunConfig::default() };
    Setting { strategy, config, server, ..Setting::default() }
}

/// Runs the setting, checks that its replay is the same, and returns the run for further checks.
pub(crate) fn replayed(setting: &Setting) -> RealRun {
    let real = setting.run();
    real.replay(setting).unwrap_or_else(|error| panic!("{}: {error}", setting.strategy));
    real
}

pub(crate) fn rejected(real: &RealRun) -> u64 {
    real.run.measurements().attempts.rejected
}

fn succeeded(real: &RealRun) -> u64 {
    real.run.measurements().ops.succeeded
}

#[test]
fn windows_back_offs_and_budgets_at_a_cap() {
    for strategy in [
        "aimd:initial=40",
        "fixed-window:window=30",
        "exponential:jitter=0.5,base=50ms,cap=2s",
        "aimd:beta=0.5+decorrelated-jitter:base=20ms,cap=1s+retry-budget",
        "full-jitter:base=20ms,cap=1s+breaker:failures=5",
        "tailback",
    ] {
        let real = replayed(&overload(strategy));
        assert!(rejected(&real) > 0, "{strategy}");
        assert_eq!(real.run.measurements().ops.unfinished(), 0, "{strategy}");
    }
}

#[test]
fn replay_matches_with_three_clients_and_retry_after() {
    let mut setting = overload("aimd:initial=10");
    setting.config.clients = 3;
    setting.server.retry_after = Some(Duration::from_millis(200));
    setting.server.reject_status = 429;
    let real = replayed(&setting);
    assert!(rejected(&real) > 0);
    assert_eq!(succeeded(&real), 300);
}

#[test]
fn the_oracle() {
    let real = replayed(&overload("oracle"));
    assert_eq!(succeeded(&real), 300);
}

#[test]
fn a_server_that_is_overwhelmed() {
    let mut setting = overload("full-jitter:base=100ms,cap=2s");
    setting.config.workload.ops = Some(100);
    setting.server =
        Config { policy: "overwhelmed-queue".parse().expect("it is a policy"), ..setting.server };
    let real = replayed(&setting);
    assert!(rejected(&real) > 0);
    assert_eq!(succeeded(&real), 100);
}

/// Returns a closed loop of submitters at a pool of descriptors that is too small for all of them.
pub(crate) fn submitters(strategy: &'static str) -> Setting {
    let arrivals = ArrivalProcess::Closed { in_flight: 60 };
    let workload = Workload { arrivals, ops: None, duration: Some(Duration::from_secs(20)) };
    let (drain, timeout) = (Some(Duration::ZERO), Duration::from_hours(1));
    let config = RunConfig { workload, drain, timeout, ..RunConfig::default() };
    let policy = "descriptor-pool:descriptors=1200,restart=3s".parse().expect("it is a policy");
    let server = Config { policy, network_delay: Distribution::ZERO, ..Config::default() };
    Setting { strategy, config, server, time_scale: "0.05", ..Setting::default() }
}

#[test]
fn a_service_that_crashes() {
    let real = replayed(&submitters("thain:base=1s,factor=2,cap=1h"));
    assert!(real.server.stats.counts.crashes > 0 && succeeded(&real) > 0);
    assert!(real.withdrawn() > 0, "what is in flight at the end is withdrawn");
}

/// No other submitter starts between them.
#[test]
fn carrier_sense_and_start_are_atomic() {
    let real = replayed(&submitters("ethernet:threshold=300,cost=100ms+thain:base=1s,factor=2,cap=1h"));
    // If all submitters sensed the carrier before any of them started, the service would crash.
    assert_eq!(real.server.stats.counts.crashes, 0);
    let ops = real.run.measurements().ops;
    assert!(ops.deferred > 0 && ops.succeeded > 0, "{ops:?}");
}

#[test]
fn read_modify_writes() {
    let mut setting = overload("full-jitter:base=20ms,cap=1s");
    setting.config.workload = Workload { arrivals: ArrivalProcess::Burst, ops: Some(40), duration: None };
    setting.config.kind = OperationKind::ReadModifyWrite;
    setting.config.clients = 40;
    let hop = "normal(10ms,2ms)".parse().expect("it is a distribution");
    let [service_time, reject_time] = [Distribution::ZERO; 2];
    setting.server =
        Config { max_busy: 1_000_000, service_time, reject_time, network_delay: hop, ..Config::default() };
    for transport in TRANSPORTS {
        let real = replayed(&Setting { transport, ..setting.clone() });
        assert!(rejected(&real) > 0, "{}: all wrote the same object", transport.name);
        assert_eq!(succeeded(&real), 40, "{}", transport.name);
    }
}

#[test]
fn replay_matches_with_losses_timeouts_outage_and_cap_changes() {
    let mut setting = overload("aimd:initial=10+constant:delay=30ms");
    setting.config.timeout = Duration::from_millis(700);
    setting.server.loss = 0.05;
    setting.server.outages = "300ms..500ms".parse().expect("it is an outage");
    setting.server.caps = "1s=5,2s=30".parse().expect("caps");
    let real = replayed(&setting);
    assert!(real.withdrawn() > 5, "{} timed out", real.withdrawn());
    assert!(rejected(&real) > 0);
}

#[test]
fn caps_and_rates_that_go_up_and_down_on_the_clock_of_the_run() {
    let policy = "primary=token-bucket:rate=300/s,burst=30 then concurrency:queue=5,queue-timeout=200ms";
    let schedule = "0s max-busy=20; 0s.. primary.rate=250+200*sin(300ms); 100ms..400ms max-busy=20..5; 450ms..500ms down; \
                    500ms max-busy=30; 600ms primary.burst=10";
    for strategy in ["aimd:initial=10+constant:delay=30ms", "full-jitter:base=20ms,cap=1s", "tailback"] {
        let mut setting = overload(strategy);
        setting.server.policy = policy.parse().expect("policies");
        setting.server.schedule = schedule.parse().expect("a schedule");
        setting.server.validate().expect("the policies can follow it");
        let real = replayed(&setting);
        assert!(rejected(&real) > 0, "{strategy}");
        assert_eq!(real.run.measurements().ops.unfinished(), 0, "{strategy}");
    }
}

#[test]
fn copies_of_attempts_that_are_slow_or_lost() {
    for strategy in [
        // The budget has a token for every copy, however many attempts a busy machine bunches into rejections.
        "full-jitter:base=20ms,cap=1s+hedging:delay=150ms,copies=2+retry-budget:max=1000,ratio=1,ask=failure",
        "full-jitter:base=20ms,cap=1s+percentile-hedging:percentile=0.6,min-samples=10,period=300ms",
    ] {
        let mut setting = overload(strategy);
        setting.config.timeout = Duration::from_secs(2);
        setting.server.loss = 0.05;
        let real = replayed(&setting);
        let attempts = real.run.measurements().attempts;
        assert!(attempts.duplicates > 5, "{strategy}: {attempts:?}");
        assert!(real.withdrawn() > 5, "{strategy}: {} withdrawn", real.withdrawn());
        assert!(real.run.conservation(Some(&real.server.stats.counts)).holds(), "{strategy}");
    }
}

/// A lost decision is an error.
#[test]
fn replay_matches_with_expired_ops_and_an_empty_budget() {
    let mut setting = overload("full-jitter:base=20ms,cap=1s+retry-budget:max=2,ratio=0,on-empty=back-off");
    // The first attempt of every op is rejected, however busy the machine is. A rejected op gets no token, and waits for one.
    setting.server.reject_first = 1;
    setting.config.deadline = Some(Duration::from_secs(8));
    let mut real = replayed(&setting);
    let is_late = |refusal: &Refusal| matches!(refusal, Refusal::GivenUp { why: GivenUp::Deadline, .. });
    assert!(real.client.refusals.iter().any(is_late), "nobody was late");
    assert!(
        real.client.refusals.iter().any(|refusal| matches!(refusal, Refusal::Shed { .. })),
        "none was shed"
    );
    real.client.refusals.remove(0);
    real.replay(&setting).expect_err("a decision was lost");
}

#[test]
fn replay_matches_if_a_run_stops_with_attempts_in_flight() {
    let setting = Setting { stop_after: Some(50), time_scale: "0.5", ..overload("fixed-window:window=30") };
    let real = replayed(&setting);
    assert!(real.stopped() && real.withdrawn() > 0);
}

#[test]
fn a_driver_short_of_connections_is_late_but_decides_the_same() {
    // Over HTTP/2, a connection carries a hundred attempts.
    for transport in TRANSPORTS.iter().filter(|transport| transport.name != "hyper-http2") {
        let setting = Setting { max_connections: 3, transport, ..overload("fixed-window:window=15") };
        let real = replayed(&setting);
        let lag = real.run.measurements().send_lag.figures().p50.expect("attempts were sent");
        assert!(lag > 100.0, "half of them were sent less than {lag} ms late by {}", transport.name);
    }
}

#[test]
fn attempts_that_two_threads_carry_over_every_transport() {
    for transport in TRANSPORTS {
        let threads = NonZero::new(2).expect("it is two");
        let mut setting = Setting { transport, threads, ..overload("aimd:initial=40+constant:delay=30ms") };
        setting.config.timeout = Duration::from_millis(700);
        // The seed decides which attempts are lost. Even the attempts of a slow transport on a busy machine fill two slots.
        (setting.server.loss, setting.server.max_busy) = (0.05, 2);
        let real = replayed(&setting);
        assert!(rejected(&real) > 0, "{}: {} rejected", transport.name, rejected(&real));
        assert!(real.withdrawn() > 5, "{}: {} withdrawn", transport.name, real.withdrawn());
        assert_eq!(real.run.measurements().ops.unfinished(), 0, "{}", transport.name);
        assert!(real.run.conservation(Some(&real.server.stats.counts)).holds(), "{}", transport.name);
    }
}

#[test]
fn a_real_log_that_was_tampered_with_is_noticed() {
    let setting = overload("aimd:initial=40");
    let mut real = setting.run();
    let untouched = (real.client.clone(), real.server.clone());
    for index in (0..untouched.0.inputs.len()).step_by(20) {
        real.client.inputs.remove(index);
        real.replay(&setting).expect_err("the client was told less");
        real.client.inputs.clone_from(&untouched.0.inputs);
        real.client.inputs[index].0 = real.client.inputs[index].0 + Duration::from_micros(1);
        real.replay(&setting).expect_err("the client was told later");
        real.client.inputs.clone_from(&untouched.0.inputs);
    }
    for index in (0..untouched.1.events.len()).step_by(20) {
        real.server.events.remove(index);
        real.replay(&setting).expect_err("the server was told or said less");
        real.server.events.clone_from(&untouched.1.events);
    }
    real.server.config.max_busy += 1;
    real.replay(&setting).expect_err("the server was another");
    real.server.config.max_busy -= 1;
    real.replay(&setting).expect("it is as it was");
    let other = Setting { strategy: "aimd:initial=40,beta=0.8", ..setting };
    real.replay(&other).expect_err("the strategy is another");
}
