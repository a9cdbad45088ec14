//! Check of the client's fast path for strategies that only retry. Combined with a window that never throttles, such a strategy
//! takes the general path, and every attempt must be the same.

use std::time::Duration;

use loadgen_core::{ArrivalProcess, Input, OperationKind, Run, RunConfig, RunLog, Workload};
use loadgen_sim::{Simulation, Steer};
use mockserver_core::Config;
use tailback::StrategySpec;
use vocabulary::Instant;

/// Returns the log of a run, which is ended at `stop`.
fn log(strategy: &str, config: &RunConfig, server: &Config, stop: Option<Instant>) -> RunLog {
    let spec: StrategySpec = strategy.parse().expect("the strategy is well written");
    let (seed, kind) = (config.seed, config.kind);
    let mut run =
        Run::new(config.clone(), |_| spec.build(seed, None), None).expect("the parameters are in range");
    run.record_log();
    if let Some(stop) = stop {
        run.handle_input(stop, Input::Stop);
    }
    let mut finished = Simulation::new(run, kind, seed, server.clone()).run(|_, _| Steer::On);
    let mut log = finished.run.take_log().expect("it was recorded");
    for sample in &mut log.samples {
        sample.window = None;
    }
    log
}

#[test]
fn a_window_that_never_holds_anything_back_changes_nothing() {
    let ms = Duration::from_millis;
    let workload = |arrivals| Workload { arrivals, ops: Some(300), duration: None };
    let of = |arrivals| RunConfig { workload: workload(arrivals), ..RunConfig::default() };
    let poisson = || of(ArrivalProcess::Poisson { rate_per_s: 400.0 });
    let configs = [
        poisson(),
        RunConfig { clients: 7, seed: 2, ..poisson() },
        RunConfig { clients: 3, share_strategy: true, timeout: ms(450), ..poisson() },
        RunConfig { deadline: Some(ms(1500)), pause: ms(20), ..of(ArrivalProcess::Closed { in_flight: 80 }) },
        RunConfig { kind: OperationKind::ReadModifyWrite, retry_failed: false, ..of(ArrivalProcess::Burst) },
    ];
    let quick =
        || Config { max_busy: 8, service_time: "exp(60ms)".parse().expect("a time"), ..Config::default() };
    let servers = [
        quick(),
        Config { loss: 0.05, retry_after: Some(Duration::from_secs(1)), ..quick() },
        Config { outages: "200ms..900ms".parse().expect("outages"), ..quick() },
    ];
    let retries =
        ["full-jitter", "exponential:max-attempts=4", "constant:delay=100ms", "none", "decorrelated-jitter"];
    for config in &configs {
        for server in &servers {
            for retry in retries {
                for stop in [None, Some(Instant::from_millis(300))] {
                    let short = log(retry, config, server, stop);
                    let long = log(&format!("{retry}+fixed-window:window=1000000"), config, server, stop);
                    assert!(!short.outputs.is_empty());
                    assert!(short == long, "{retry}: {config:?} {server:?} {stop:?}");
                }
            }
        }
    }
}
