//! Fuzz target of strategies: their text parses to the same strategy, which can be run.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadgen_core::{OperationKind, Run, RunConfig, Workload};
use loadgen_sim::{Simulation, Steer};
use mockserver_core::Config;
use tailback::StrategySpec;

fuzz_target!(|text: &str| {
    let Ok(spec) = text.parse::<StrategySpec>() else { return };
    let written = spec.to_string();
    let again = written.parse::<StrategySpec>().unwrap_or_else(|error| panic!("{text} {written}: {error}"));
    assert_eq!(again.to_string(), written, "{text}");
    let _ = spec.describe();
    if spec.needs_foreknowledge() {
        return;
    }
    let workload = Workload { ops: Some(30), ..Workload::default() };
    let config = RunConfig { workload, ..RunConfig::default() };
    let Ok(run) = Run::new(config, |_| spec.build(1, None), None) else { return };
    let server = Config { max_busy: 2, retry_after: Some(std::time::Duration::from_secs(1)), ..Config::default() };
    let finished = Simulation::new(run, OperationKind::Request, 1, server).run(|_, _| Steer::Stop);
    let _ = finished.run.conservation(Some(&finished.server.counts));
});
