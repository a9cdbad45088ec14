//! The seed's experiment in virtual time: the programs' client and server on one clock, without sockets.
//!
//! Sync Musings, "Improve on exponential backoff": 2000 ops at 1000/s, 50 slots, 500 ms of service, rejections that hold a slot for 50 ms,
//! 100 ms of network before admission. Nothing here depends on real time.

use std::time::Duration;

use loadgen_core::{ArrivalProcess, OperationKind, Run, RunConfig, Workload};
use loadgen_sim::{Simulation, Steer, least_costs, with_delay_noise};
use mockserver_core::Config;
use tailback::StrategySpec;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Figures {
    succeeded: u64,
    attempts: u64,
    makespan_s: f64,
    optimal_s: f64,
    p50_ms: Option<f64>,
    max_accepted: u64,
    stalled: bool,
}

fn simulate(strategy: &str, seed: u64, server: &Config) -> Figures {
    let spec: StrategySpec = strategy.parse().expect("the strategy is well written");
    let schedule = || Some(server.oracle_schedule(seed, Duration::ZERO));
    let config = RunConfig { seed, ..RunConfig::default() };
    let client = Run::new(config, |_| spec.build(seed, schedule()), least_costs(server, seed))
        .expect("the parameters are in range");
    let finished =
        Simulation::new(client, OperationKind::Request, seed, server.clone()).run(|_, _| Steer::On);
    let server = finished.server.counts;
    let conservation = finished.run.conservation(Some(&server));
    assert!(conservation.holds(), "{:?}", conservation.mismatches);
    let measured = finished.run.measurements();
    let seconds = |time: Option<std::time::Duration>| time.map_or(f64::NAN, |time| time.as_secs_f64());
    Figures {
        succeeded: measured.ops.succeeded,
        attempts: measured.attempts.total,
        makespan_s: seconds(measured.makespan()),
        optimal_s: seconds(finished.run.optimal_makespan()),
        p50_ms: measured.op_latency.figures().p50,
        max_accepted: server.max_accepted_seen,
        stalled: finished.run.stalled_at().is_some(),
    }
}

fn run(strategy: &str, seed: u64) -> Figures {
    simulate(strategy, seed, &Config::default())
}

fn runs(strategy: &str) -> Vec<Figures> {
    (1..=10).map(|seed| run(strategy, seed)).collect()
}

fn mean(runs: &[Figures], figure: impl Fn(&Figures) -> f64) -> f64 {
    runs.iter().map(figure).sum::<f64>() / runs.len() as f64
}

#[test]
fn the_windows_of_the_seed_need_its_attempts_and_its_time() {
    for (strategy, attempts, makespan_s) in [
        ("aimd", 2088.0, 25.2),
        ("aimd:beta=0.5", 2032.0, 30.6),
        ("aimd:variant=tahoe", 2081.0, 25.2),
        ("aimd:beta=0.5,variant=tahoe", 2032.0, 31.2),
    ] {
        let runs = runs(strategy);
        let needed = (mean(&runs, |run| run.attempts as f64), mean(&runs, |run| run.makespan_s));
        assert!((needed.0 - attempts).abs() <= 2.0, "{strategy}: {needed:?}");
        assert!((needed.1 - makespan_s).abs() <= 0.1, "{strategy}: {needed:?}");
        assert!(runs.iter().all(|run| run.succeeded == 2000 && !run.stalled), "{strategy}: {runs:?}");
    }
}

#[test]
fn the_oracle_wastes_no_attempt_and_no_time() {
    for run in runs("oracle") {
        assert_eq!((run.succeeded, run.attempts, run.max_accepted), (2000, 2000, 50), "{run:?}");
        assert!((run.makespan_s - run.optimal_s).abs() < 1e-9, "{run:?}");
        assert!((run.makespan_s - 20.1).abs() < 0.1, "{run:?}");
    }
}

#[test]
fn exponential_back_off_needs_eight_times_the_attempts() {
    let runs = runs("exponential:jitter=0.5,base=50ms,cap=30s");
    let attempts = mean(&runs, |run| run.attempts as f64);
    // The table's mean over 100 seeds, within four standard errors of ten seeds.
    assert!((attempts - 17_405.0).abs() < 4.0 * 73.0 / 10_f64.sqrt(), "{attempts}");
    for run in runs {
        assert_eq!(run.succeeded, 2000);
        assert!((36.0..58.0).contains(&run.makespan_s), "{run:?}");
    }
}

#[test]
fn without_jitter_exponential_back_off_takes_five_minutes() {
    let run = run("exponential:jitter=0", 1);
    assert_eq!(run.succeeded, 2000);
    assert!((run.attempts as f64 / 23_400.0 - 1.0).abs() < 0.03, "{run:?}");
    assert!((run.makespan_s / 300.0 - 1.0).abs() < 0.03, "{run:?}");
}

#[test]
fn immediate_retries_stall_once_rejections_hold_slots() {
    let run = run("immediate", 1);
    assert!(run.stalled, "{run:?}");
    assert!((1..200).contains(&run.succeeded), "{run:?}");
}

#[test]
fn immediate_retries_come_through_when_rejections_hold_no_slot() {
    let server = Config { rejects_occupy: false, ..Config::default() };
    let run = simulate("immediate", 1, &server);
    assert!(!run.stalled);
    assert!((run.attempts as f64 / 119_000.0 - 1.0).abs() < 0.03, "{run:?}");
    assert!((run.makespan_s - 20.2).abs() < 0.2, "{run:?}");
}

#[test]
fn equal_seeds_give_equal_runs_and_other_seeds_other_runs() {
    for strategy in ["exponential:jitter=0.5", "full-jitter+retry-budget", "aimd+decorrelated-jitter"] {
        assert_eq!(run(strategy, 42), run(strategy, 42), "{strategy}");
        assert_ne!(run(strategy, 42), run(strategy, 43), "{strategy}");
    }
}

/// Returns by how much the oracle's makespan exceeds the lower bound, as a share of the bound, after checking that it wasted no attempt.
fn above_the_bound(server: &Config, arrivals: ArrivalProcess, seed: u64) -> f64 {
    let schedule = || Some(server.oracle_schedule(seed, Duration::ZERO));
    let workload = Workload { arrivals, ops: Some(2000), duration: None };
    let config = RunConfig { seed, workload, share_strategy: true, ..RunConfig::default() };
    let spec: StrategySpec = "oracle".parse().expect("it is a strategy");
    let client =
        Run::new(config, |_| spec.build(seed, schedule()), least_costs(server, seed)).expect("it fits");
    let finished =
        Simulation::new(client, OperationKind::Request, seed, server.clone()).run(|_, _| Steer::On);
    let measured = finished.run.measurements();
    assert_eq!((measured.ops.succeeded, measured.attempts.total), (2000, 2000), "seed {seed}, {server:?}");
    let [makespan, bound] = [measured.makespan(), finished.run.optimal_makespan()].map(Option::unwrap);
    makespan.as_secs_f64() / bound.as_secs_f64() - 1.0
}

/// At most one percent above the lower bound.
#[test]
fn with_noise_the_oracle_wastes_no_attempt_and_little_time() {
    let server = with_delay_noise(&Config::default(), Duration::from_micros(200));
    for arrivals in [ArrivalProcess::Poisson { rate_per_s: 1000.0 }, ArrivalProcess::Burst] {
        for seed in 1..=10 {
            let above = above_the_bound(&server, arrivals.clone(), seed);
            assert!((0.0..=0.01).contains(&above), "{arrivals:?}, seed {seed}: {above}");
        }
    }
}

/// Network delays and service times are random.
#[test]
fn no_attempt_of_the_oracle_is_rejected_at_random_times() {
    for (network_delay, service_time) in
        [("uniform(50ms,150ms)", "500ms"), ("exp(100ms)", "lognormal(500ms,1)"), ("0s", "exp(500ms)")]
    {
        let [network_delay, service_time] =
            [network_delay, service_time].map(|text| text.parse().expect("a time"));
        let server = Config { network_delay, service_time, return_delay: network_delay, ..Config::default() };
        for seed in 1..=5 {
            above_the_bound(&server, ArrivalProcess::Poisson { rate_per_s: 1000.0 }, seed);
            above_the_bound(&server, ArrivalProcess::Burst, seed);
        }
    }
}
