//! Parity tests of every fault against every kind of strategy: no op is lost, counted twice or left hanging, and the
//! counts of both sides agree.
//!
//! `cargo test --test parity -- --ignored --nocapture the_matrix` prints the table of docs/benchmarks.md.

use std::thread;
use std::time::Duration;

use loadgen_core::{ArrivalProcess, Cause, Run};
use loadgen_sim::{Simulation, Steer};
use wire::ServerCounts;

use crate::real_run::Setting;
use crate::replayed::overload;

const OPS: u64 = 100;

const STRATEGIES: [(&str, &str); 7] = [
    ("aimd", "aimd:initial=10"),
    ("full-jitter", "full-jitter:base=50ms,cap=1s"),
    ("retry-budget", "full-jitter:base=50ms,cap=1s+retry-budget"),
    ("hedging", "full-jitter:base=50ms,cap=1s+hedging:delay=250ms,copies=2"),
    ("urllib3", "preset:urllib3"),
    ("openai", "preset:openai"),
    ("none", "none"),
];

const FAULTS: [&str; 17] = [
    "reset:10%",
    "close:10%",
    "hang:10%",
    "truncate:10%",
    "garbage:10%",
    "slow-headers(2s):10%",
    "slow-body(2s):10%",
    "slow-body(10s):10%",
    "500:10%",
    "429:10%",
    "reset:10%:after",
    "close:10%:after",
    "hang:10%:after",
    "truncate:10%:after",
    "garbage:10%:after",
    "503:10%:after",
    "reset:3%,close:3%,hang:3%,truncate:3%,garbage:3%,slow-headers(2s):3%,slow-body(2s):3%,500:3%,reset:3%:after,hang:3%:after,500:3%:after",
];

/// Arrival rates in ops per second. Twice the server's capacity makes faults coincide with rejections. At half of it,
/// attempts differ only by faults, and not by which one came a millisecond earlier.
const CROWDED: f64 = 400.0;
const QUIET: f64 = 100.0;

fn setting(strategy: &'static str, fault: &str, rate_per_s: f64) -> Setting {
    let mut setting = overload(strategy);
    setting.config.workload.arrivals = ArrivalProcess::Poisson { rate_per_s };
    setting.config.workload.ops = Some(OPS);
    setting.config.timeout = Duration::from_secs(3);
    setting.server.fault = fault.parse().expect("faults");
    setting
}

#[derive(Debug, PartialEq)]
struct Outcome {
    succeeded: u64,
    attempts: u64,
    failed: Vec<(Cause, u64)>,
}

impl Outcome {
    /// Returns the outcome of a run. Checks that every op ended, and that nothing was lost or doubled on either side.
    fn new(run: &Run, server: &ServerCounts, what: &str) -> Self {
        let measured = run.measurements();
        let (ops, attempts) = (measured.ops, measured.attempts);
        let ended = (ops.arrived, ops.succeeded + ops.given_up, ops.unfinished());
        assert_eq!(ended, (OPS, OPS, 0), "{what}: every op ends once");
        let conservation = run.conservation(Some(server));
        assert!(conservation.holds(), "{what}: {:?}", conservation.mismatches);
        let failed = measured.failures.by_frequency();
        let told: u64 = failed.iter().map(|(_, count)| count).sum();
        assert_eq!(told, attempts.failed, "{what}: {failed:?}");
        Self { succeeded: ops.succeeded, attempts: attempts.total, failed }
    }

    fn simulated(strategy: &'static str, fault: &str, rate_per_s: f64) -> Self {
        let setting = setting(strategy, fault, rate_per_s);
        let (kind, seed) = (setting.config.kind, setting.config.seed);
        let simulation = Simulation::new(setting.client(), kind, seed, setting.server);
        let finished = simulation.run(|_, _| Steer::On);
        Self::new(&finished.run, &finished.server.counts, &format!("{strategy}, {fault}, simulated"))
    }

    fn over_http(setting: &Setting) -> Self {
        let real = setting.run();
        let what = format!("{}, {}, over HTTP", setting.strategy, setting.server.fault);
        real.replay(setting).unwrap_or_else(|error| panic!("{what}: {error}"));
        Self::new(&real.run, &real.server.stats.counts, &what)
    }

    /// Formats the numbers of succeeded ops, of attempts, and of failed attempts.
    fn words(&self) -> String {
        let failed: u64 = self.failed.iter().map(|(_, count)| count).sum();
        format!("{} · {} · {failed}", self.succeeded, self.attempts)
    }
}

fn cause_words(cause: Cause) -> String {
    match cause {
        Cause::Status(code) => code.to_string(),
        Cause::Error(kind) => kind.to_string(),
    }
}

#[test]
fn every_fault_and_every_strategy_in_virtual_time() {
    for fault in FAULTS {
        let mut failed = 0;
        for (_, strategy) in STRATEGIES {
            failed += Outcome::simulated(strategy, fault, CROWDED).failed.len();
            Outcome::simulated(strategy, fault, QUIET);
        }
        let is_harmless = fault.starts_with("slow") && fault.contains("(2s)");
        assert_eq!(failed == 0, is_harmless, "{fault}: {failed} kinds of failures");
    }
}

#[test]
fn every_fault_and_every_strategy_at_least_once_over_http() {
    for (index, fault) in FAULTS.into_iter().enumerate() {
        // At the usual scale, the timeout is 300 ms. On a busy machine, most attempts then time out, and hedged retries keep it so.
        let slow = setting(STRATEGIES[index % STRATEGIES.len()].1, fault, CROWDED);
        Outcome::over_http(&Setting { time_scale: "0.3", ..slow });
    }
}

#[test]
#[ignore = "prints the table of docs/benchmarks.md, in some minutes"]
#[expect(clippy::print_stdout, reason = "it is run for what it prints")]
fn the_matrix() {
    let names = STRATEGIES.map(|(name, _)| name).join(" | ");
    println!("| fault | failed as | {names} |\n|---|---|{}", "---|".repeat(STRATEGIES.len()));
    for fault in FAULTS {
        // The runs of a row are concurrent, because they sleep most of the time.
        let runs = thread::scope(|scope| {
            let runs = STRATEGIES.map(|(_, strategy)| {
                scope.spawn(move || {
                    let setting = Setting { time_scale: "1", ..setting(strategy, fault, QUIET) };
                    (Outcome::simulated(strategy, fault, QUIET), Outcome::over_http(&setting))
                })
            });
            runs.map(|run| run.join().expect("it says why itself"))
        });
        let cells = runs.each_ref().map(|(simulated, real)| {
            if simulated == real {
                simulated.words()
            } else {
                format!("{}<br>{}", simulated.words(), real.words())
            }
        });
        let causes = runs.into_iter().flat_map(|(simulated, real)| [simulated.failed, real.failed]);
        let mut causes: Vec<Cause> = causes.flatten().map(|(cause, _)| cause).collect();
        causes.sort_unstable();
        causes.dedup();
        let causes: Vec<String> = causes.into_iter().map(cause_words).collect();
        println!("| `{fault}` | {} | {} |", causes.join(", "), cells.join(" | "));
    }
}
