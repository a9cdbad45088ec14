//! Parity tests of one short real run per server policy, compared with simulations. They do not measure how close both
//! are. They show that real time, sockets and a busy machine add no more than some milliseconds here and there.

use std::time::Duration;

use loadgen_core::Run;
use loadgen_sim::{Simulation, Steer};

use crate::real_run::Setting;
use crate::replayed::{overload, submitters};

/// Tolerance of a figure beyond those of all simulated seeds, as a share. It is wide because a machine may be busy,
/// whereas a wrong driver is off by factors.
const BAND: f64 = 0.4;

/// Number of simulated runs for each real run.
const SEEDS: u64 = 10;

/// Returns the number of ops that succeeded, the number of attempts, and the seconds to the last success.
fn figures(run: &Run) -> [(&'static str, f64); 3] {
    let measured = run.measurements();
    let makespan = measured.makespan().expect("something succeeded");
    [
        ("ops succeeded", measured.ops.succeeded as f64),
        ("attempts", measured.attempts.total as f64),
        ("makespan", makespan.as_secs_f64()),
    ]
}

fn simulated(setting: &Setting, seed: u64) -> [(&'static str, f64); 3] {
    let mut setting = setting.clone();
    setting.config.seed = seed;
    let simulation = Simulation::new(setting.client(), setting.config.kind, seed, setting.server);
    figures(&simulation.run(|_, _| Steer::On).run)
}

fn assert_agrees(setting: &Setting) {
    let simulated: Vec<_> = (1..=SEEDS).map(|seed| simulated(setting, seed)).collect();
    let real = setting.run_alone();
    for (index, (name, real)) in figures(&real.run).into_iter().enumerate() {
        let values = simulated.iter().map(|figures| figures[index].1);
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(0.0, f64::max);
        let band = least * (1.0 - BAND)..=most * (1.0 + BAND);
        assert!(band.contains(&real), "{name}: {real} over HTTP, {least} to {most} simulated");
    }
}

#[test]
fn a_concurrency_cap() {
    assert_agrees(&Setting { time_scale: "0.4", ..overload("aimd:initial=40") });
}

#[test]
fn tailback_at_a_concurrency_cap() {
    assert_agrees(&Setting { time_scale: "0.5", ..overload("tailback") });
}

#[test]
fn an_overwhelmed_queue() {
    let mut setting = overload("full-jitter:base=100ms,cap=2s");
    setting.config.workload.ops = Some(100);
    setting.server.policy = "overwhelmed-queue".parse().expect("it is a policy");
    assert_agrees(&Setting { time_scale: "0.5", ..setting });
}

#[test]
fn a_descriptor_pool() {
    let mut setting = submitters("ethernet:threshold=300,cost=100ms+thain:base=1s,factor=2,cap=1h");
    setting.config.workload.duration = Some(Duration::from_secs(30));
    assert_agrees(&Setting { time_scale: "0.05", ..setting });
}
