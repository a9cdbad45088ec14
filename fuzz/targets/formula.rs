//! Fuzz target of back-off formulas: their text parses to the same formula, and every delay is one that can be waited.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadgen_core::{OperationKind, Run, RunConfig, Workload};
use loadgen_sim::{Simulation, Steer};
use mockserver_core::Config;
use tailback::StrategySpec;

fuzz_target!(|text: &str| {
    let typed = format!("backoff:max-attempts=6,formula={text}");
    let Ok(spec) = typed.parse::<StrategySpec>() else { return };
    let written = spec.to_string();
    let again = written.parse::<StrategySpec>().unwrap_or_else(|error| panic!("{text} {written}: {error}"));
    assert_eq!(again.to_string(), written, "{text}");
    let workload = Workload { ops: Some(5), ..Workload::default() };
    let config = RunConfig { workload, ..RunConfig::default() };
    let Ok(run) = Run::new(config, |_| spec.build(1, None), None) else { return };
    let policy = "script:steps=429 retry-after:2|503|close|500".parse().expect("it is a policy");
    let server = Config { policy, ..Config::default() };
    let finished = Simulation::new(run, OperationKind::Request, 1, server).run(|_, _| Steer::On);
    let _ = finished.run.conservation(Some(&finished.server.counts));
});
