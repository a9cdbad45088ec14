//! Limits of a policy stack as a run in virtual time records them: the true ones, and none where there is only a cap.

use loadgen_core::{OperationKind, RATE_LIMIT, REMAINING, Run, RunConfig, Workload};
use loadgen_sim::{Simulation, Steer};
use mockserver_core::Config;
use tailback::StrategySpec;

fn run(server: Config) -> Run {
    let spec: StrategySpec =
        "aimd+full-jitter:base=50ms,cap=1s".parse().expect("the strategy is well written");
    let workload = Workload { ops: Some(60), ..Workload::default() };
    let config = RunConfig { workload, ..RunConfig::default() };
    let run = Run::new(config, |_| spec.build(1, None), None).expect("the parameters are in range");
    Simulation::new(run, OperationKind::Request, 1, server).run(|_, _| Steer::On).run
}

#[test]
fn drawn_limits_are_those_of_the_stack_and_its_schedule() {
    let server = Config {
        policy: "a=token-bucket:rate=20/s,burst=10 then b=concurrency:cap=4,key=header:x"
            .parse()
            .expect("policies"),
        schedule: "1s a.rate=40/s; 2s b.cap=3".parse().expect("a schedule"),
        ..Config::default()
    };
    let run = run(server);
    let series = &run.measurements().series;
    let [rates, remaining] = series.drawn() else { panic!("two gauges: {:?}", series.drawn()) };
    assert_eq!((*rates.kind, *remaining.kind), (RATE_LIMIT, REMAINING));
    let changes = |values: Vec<Option<f64>>| {
        let mut changes: Vec<f64> = values.into_iter().flatten().collect();
        changes.dedup();
        changes
    };
    assert_eq!(changes(rates.values.iter().map(|value| value.value()).collect()), [20.0, 40.0]);
    let caps = series.points().iter().map(|point| point.server_cap.value()).collect();
    assert_eq!(changes(caps), [4.0, 3.0]);
    assert!(remaining.values.iter().all(|left| left.value().is_none_or(|left| (0.0..=10.0).contains(&left))));
    assert!(remaining.values.iter().any(|left| left.value().is_some_and(|left| left < 10.0)));
    assert!(!run.cap_changed(), "there is no cap of all");
}

#[test]
fn of_a_single_cap_there_is_nothing_but_that() {
    let run = run(Config { max_busy: 5, ..Config::default() });
    let series = &run.measurements().series;
    assert!(series.drawn().is_empty());
    let mut caps = series.points().iter().filter_map(|point| point.server_cap.value());
    assert!(caps.all(|cap| (cap - 5.0).abs() < 0.1));
}
