//! Runs with a hundred thousand clients, each with its own strategy, with figures that can be computed by hand.

use loadgen_core::{ArrivalProcess, Run, RunConfig, Workload};
use loadgen_sim::{Finished, Simulation, Steer};
use mockserver_core::Config;
use tailback::StrategySpec;
use vocabulary::Distribution;

const CLIENTS: u32 = 100_000;

/// Runs `ops` ops on a server with `max_busy` slots and a service time of 500 ms, without a network.
fn run(strategy: &str, arrivals: ArrivalProcess, ops: u64, max_busy: u32) -> Finished {
    let spec: StrategySpec = strategy.parse().expect("the strategy is well written");
    let workload = Workload { arrivals, ops: Some(ops), duration: None };
    let config = RunConfig { workload, clients: CLIENTS, ..RunConfig::default() };
    let server = Config { max_busy, network_delay: Distribution::ZERO, ..Config::default() };
    let (seed, kind) = (config.seed, config.kind);
    let client = Run::new(config, |_| spec.build(seed, None), None).expect("the parameters are in range");
    Simulation::new(client, kind, seed, server).run(|_, _| Steer::On)
}

#[test]
fn every_client_gets_the_same_of_a_server_with_room_for_all() {
    let arrivals = ArrivalProcess::Uniform { rate_per_s: 100_000.0 };
    let Finished { run, server } = run("aimd+full-jitter+retry-budget", arrivals, 200_000, 200_000);
    let measured = run.measurements();
    let figures = measured.fairness_figures().expect("there are several clients");
    assert_eq!(
        (measured.ops.arrived, measured.ops.succeeded, measured.ops.unfinished()),
        (200_000, 200_000, 0)
    );
    assert_eq!((measured.attempts.total, measured.most_attempts_per_op), (200_000, 1));
    assert_eq!((figures.clients, figures.jain_whole_run), (100_000, Some(1.0)));
    assert_eq!((figures.slowest_mean_ms, figures.slowest_over_median), (Some(500.0), Some(1.0)));
    assert!(run.conservation(Some(&server.counts)).holds());
}

#[test]
fn a_rejected_client_that_does_not_retry_gets_nothing() {
    let Finished { run, server } = run("none", ArrivalProcess::Burst, 100_000, 40_000);
    let measured = run.measurements();
    let figures = measured.fairness_figures().expect("there are several clients");
    assert_eq!((measured.ops.succeeded, measured.ops.given_up), (40_000, 60_000));
    assert_eq!((measured.attempts.total, measured.attempts.rejected), (100_000, 60_000));
    assert_eq!((figures.clients, figures.jain_whole_run), (100_000, Some(0.4)));
    assert_eq!((figures.slowest_client, figures.slowest_mean_ms), (Some(99_999), None));
    assert!(run.conservation(Some(&server.counts)).holds());
}
