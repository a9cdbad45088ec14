//! Benchmarks: simulated attempts per second with all measurements on, and scaling of repeats over cores.

use divan::counter::ItemsCount;
use loadgen_core::{ArrivalProcess, OperationKind, Run, RunConfig, Workload};
use loadgen_sim::{Finished, Simulation, Steer, least_costs, side_by_side};
use mockserver_core::Config;
use tailback::StrategySpec;
use vocabulary::Distribution;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    divan::main();
}

fn simulate(strategy: &str, config: RunConfig, server: &Config) -> Finished {
    let (seed, kind) = (config.seed, config.kind);
    let spec: StrategySpec = strategy.parse().expect("it is in the registry");
    let client = Run::new(config, |_| spec.build(seed, None), least_costs(server, seed)).expect("it starts");
    Simulation::new(client, kind, seed, server.clone()).run(|_, _| Steer::On)
}

fn sync_musings(strategy: &str, ops: u64, seed: u64) -> Finished {
    let workload = Workload { ops: Some(ops), ..Workload::default() };
    let config = RunConfig { workload, seed, exact_latencies: true, ..RunConfig::default() };
    simulate(strategy, config, &Config::default())
}

const EXPONENTIAL: &str = "exponential:jitter=0.5,base=50ms,cap=30s";

/// The experiment of seed 000: about 17 000 attempts, then ten times the ops.
#[divan::bench(args = [(EXPONENTIAL, 2_000), (EXPONENTIAL, 20_000), ("aimd", 2_000), ("aimd", 20_000)])]
fn sync_musings_attempts(bencher: divan::Bencher<'_, '_>, (strategy, ops): (&str, u64)) {
    let attempts = sync_musings(strategy, ops, 1).run.measurements().attempts.total;
    bencher.counter(ItemsCount::new(attempts)).bench(|| sync_musings(strategy, ops, 1));
}

/// The experiment of seed 004: every client once, read-modify-write, full jitter.
#[divan::bench(args = [100, 200])]
fn occ_run(bencher: divan::Bencher<'_, '_>, clients: u32) {
    bencher.bench(|| {
        let hop: Distribution = "normal(10ms,2ms)".parse().expect("it is a distribution");
        let server = Config {
            max_busy: 1_000_000,
            service_time: Distribution::ZERO,
            reject_time: Distribution::ZERO,
            network_delay: hop,
            ..Config::default()
        };
        let workload =
            Workload { arrivals: ArrivalProcess::Burst, ops: Some(u64::from(clients)), duration: None };
        let kind = OperationKind::ReadModifyWrite;
        let config = RunConfig { workload, kind, clients, exact_latencies: true, ..RunConfig::default() };
        simulate("full-jitter:base=10ms,cap=2s", config, &server)
    });
}

/// A million ops of `clients` clients, each with its own strategy, on a server that can serve all of them at their first attempt.
#[divan::bench(args = [1, 1_000, 100_000], consts = [false, true], sample_count = 10)]
fn clients_of_one_run<const WINDOW: bool>(bencher: divan::Bencher<'_, '_>, clients: u32) {
    let strategy = if WINDOW { "aimd:initial=100000,ssthresh=100000" } else { "full-jitter" };
    bencher.counter(ItemsCount::new(1_000_000_u32)).bench(|| {
        let arrivals = ArrivalProcess::Poisson { rate_per_s: 100_000.0 };
        let workload = Workload { arrivals, ops: Some(1_000_000), duration: None };
        let server = Config { max_busy: 1_000_000, ..Config::default() };
        simulate(strategy, RunConfig { workload, clients, ..RunConfig::default() }, &server)
    });
}

/// A hundred seeds of the experiment of seed 000 on this many threads.
#[divan::bench(args = [1, 2])]
fn a_hundred_seeds(bencher: divan::Bencher<'_, '_>, threads: usize) {
    bencher.counter(ItemsCount::new(100_u32)).bench(|| {
        side_by_side(100, threads, |seed| sync_musings("aimd", 2_000, seed as u64).server.counts, |_| true);
    });
}
