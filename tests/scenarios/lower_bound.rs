//! No strategy beats the lower bound on the makespan, which is the same for every strategy.

use std::num::NonZero;
use std::time::Duration;

use loadgen_core::{ArrivalProcess, Group, LowerBound, Requests, Run, RunConfig, Workload};
use loadgen_sim::{Finished, Simulation, Steer, least_costs};
use mockserver_core::{Config, Policies};
use tailback::{PartKind, STRATEGIES, StrategySpec};
use vocabulary::{Purpose, draws, unit};

use crate::support::{full_or, loadgen};

/// Cases in full size, and thinned; with limits of rates, and without.
const CASES: (u64, u64) = (100, 40);
const CASES_OF_RATES: (u64, u64) = (40, 20);

fn strategies() -> Vec<StrategySpec> {
    let alone = STRATEGIES.iter().map(|entry| match entry.kind {
        PartKind::Budget | PartKind::Hedging => format!("{}+full-jitter", entry.name),
        _ => entry.name.to_owned(),
    });
    let combined =
        ["immediate+breaker", "aimd:initial=1,beta=0.5+immediate", "fixed-window:window=3+constant"];
    let quick = ["full-jitter:base=2ms,cap=50ms", "uniform:max=20ms", "oracle+full-jitter:base=1ms"];
    alone
        .chain(combined.into_iter().chain(quick).map(str::to_owned))
        .map(|text| text.parse().unwrap())
        .collect()
}

/// Rate limits, some with a concurrency limit: their bounds hold, too. None is a plain concurrency limit, for which oracles have schedules.
const LIMITS: &[&str] = &[
    "token-bucket:rate=100/s,burst=10",
    "token-bucket:rate=20/200ms,burst=30,refill=stepwise",
    "gcra:rate=80/s,burst=1,own=yes",
    "fixed-window:limit=20,window=150ms",
    "fixed-window:limit=30,window=170ms,align=epoch,later=keep then concurrency:cap=8",
    "sliding-log:limit=15,window=100ms then concurrency-cap",
    "concurrency:cap=5,queue=20,queue-timeout=300ms then gcra:rate=150/s,burst=20 then sliding-log:limit=40,window=300ms",
    "token-bucket:rate=60/s,burst=20 then concurrency:cap=1,queue=100,queue-timeout=250ms,key=header:authorization",
    "gcra:rate=70/s,burst=15 then concurrency:cap=2,queue=100,queue-timeout=150ms",
    "random:p=0.2 then token-bucket:rate=200/s,burst=5 then slow-down:knee=3",
];

/// Returns a workload and a server that depend only on the number.
fn case(number: u64) -> (RunConfig, Config) {
    let mut rng = draws(number, Purpose::Arrivals, 0, 0);
    let mut below = |count: usize| -> usize {
        let drawn = unit(&mut rng);
        (1..count).filter(|step| drawn * count as f64 >= *step as f64).count()
    };
    let server = serde_json::json!({
        "max_busy": ([1, 2, 7, 50][below(4)]),
        "service_time": (["50ms", "exp(100ms)", "lognormal(80ms,1.5)", "uniform(20ms,90ms)", "0s"][below(5)]),
        "reject_time": (["0s", "10ms", "exp(20ms)"][below(3)]),
        "network_delay": (["0s", "20ms", "normal(10ms,2ms)", "normal(200ms,10ms)", "exp(30ms)"][below(5)]),
        "return_delay": (["0s", "uniform(1ms,50ms)", "lognormal(30ms,0.2)", "exp(40ms)", "7ms"][below(5)]),
        "rejects_occupy": below(2) == 0,
        "retry_after": ([None, Some("30ms")][below(2)]),
        "loss": ([0.0, 0.0, 0.1][below(3)]),
        "outages": (["", "", "100ms..300ms"][below(3)]),
        "reject_first": ([0, 0, 1][below(3)]),
        "seed": number,
    });
    let at_100 = |step: u64| vocabulary::Instant::from_millis(100 * step);
    let groups = [(90, 0, 500), (60, 100, 120)].map(|(ops, from, to)| {
        let [from, to] = [from, to].map(Duration::from_millis);
        Group { ops, from, to, grid: Duration::ZERO }
    });
    let arrivals = match below(7) {
        0 => ArrivalProcess::Poisson { rate_per_s: 500.0 },
        1 => ArrivalProcess::Uniform { rate_per_s: 100.0 },
        2 => ArrivalProcess::Burst,
        3 => ArrivalProcess::Closed { in_flight: 20 },
        4 => ArrivalProcess::Closed { in_flight: 3 },
        5 => ArrivalProcess::Scattered(groups.into()),
        _ => ArrivalProcess::Listed((0..150).map(|step| at_100(step / 10)).collect()),
    };
    let closed = matches!(arrivals, ArrivalProcess::Closed { .. });
    let duration = [None, Some(Duration::from_millis(700))][below(2)].filter(|_| !closed);
    let client = RunConfig {
        seed: number,
        workload: Workload { arrivals, ops: Some(150), duration },
        clients: [1, 3, 150][below(3)],
        share_strategy: below(3) == 0,
        timeout: [Duration::from_millis(400), Duration::from_secs(30)][below(2)],
        deadline: [None, None, Some(Duration::from_secs(2))][below(3)],
        warm_up: [Duration::ZERO, Duration::from_millis(300)][below(2)],
        ..RunConfig::default()
    };
    (client, Config::default().patched(server.as_object().unwrap()).unwrap())
}

fn run(spec: &StrategySpec, client: &RunConfig, server: &Config) -> Finished {
    let seed = client.seed;
    let schedule = || Some(server.oracle_schedule(seed, Duration::ZERO));
    // Same as on the command line, where the oracle schedules all clients together.
    let share_strategy = client.share_strategy || spec.needs_foreknowledge();
    let config = RunConfig { share_strategy, ..client.clone() };
    let run = Run::new(config, |_| spec.build(seed, schedule()), least_costs(server, seed)).unwrap();
    Simulation::new(run, client.kind, seed, server.clone()).run(|_, _| Steer::On)
}

#[test]
fn no_strategy_beats_the_bound_which_is_the_same_for_all() {
    let strategies = strategies();
    let (complete, close) = hold(&strategies, full_or(CASES.0, CASES.1), |_| Policies::default());
    // Excludes a trivial bound, which would hold, too.
    assert!(
        complete > full_or(1000, 400) && close > full_or(100, 40),
        "{complete} runs complete, {close} of them within 5 %"
    );
}

#[test]
fn no_strategy_beats_what_limits_of_rates_prove() {
    let blind: Vec<_> = strategies().into_iter().filter(|spec| !spec.needs_foreknowledge()).collect();
    let limits = |number: u64| LIMITS[usize::try_from(number).unwrap() % LIMITS.len()].parse().unwrap();
    let (complete, close) = hold(&blind, full_or(CASES_OF_RATES.0, CASES_OF_RATES.1), limits);
    assert!(
        complete > full_or(300, 150) && close > full_or(30, 15),
        "{complete} runs complete, {close} of them within 5 %"
    );
}

/// Tokens are held while their requests wait for a slot, and refunded long after others have arrived.
#[test]
fn late_refunds_let_no_strategy_beat_the_bound() {
    let ops = std::iter::repeat_n(0, 20).chain(std::iter::repeat_n(119_950, 40));
    let server = serde_json::json!({
        "policy": "token-bucket:rate=1/s,burst=20 then concurrency:cap=1,queue=100,queue-timeout=100s,key=header:authorization",
        "service_time": "300s",
        "reject_time": "0s",
        "network_delay": "0s",
    });
    let server = Config::default().patched(server.as_object().unwrap()).unwrap();
    let strategies = ["constant:delay=10ms+hedging:delay=20s,copies=4", "constant:delay=10ms"];
    for (seed, strategy) in (1..=3).flat_map(|seed| strategies.map(|strategy| (seed, strategy))) {
        let arrivals = ops.clone().map(vocabulary::Instant::from_millis).collect();
        let client = RunConfig {
            seed,
            workload: Workload { arrivals: ArrivalProcess::Listed(arrivals), ops: Some(60), duration: None },
            requests: Requests { api_keys: NonZero::new(1_000_000), ..Requests::default() },
            timeout: Duration::from_secs(1000),
            // The first success takes 300 s.
            patience: Duration::from_secs(1000),
            ..RunConfig::default()
        };
        let planned = LowerBound::planned(&client, least_costs(&server, seed).unwrap(), 1000).unwrap();
        let finished = run(&strategy.parse().unwrap(), &client, &server);
        let measured = finished.run.measurements();
        assert_eq!(measured.ops.succeeded, 60, "{strategy}");
        let makespan = measured.makespan().unwrap();
        assert!(makespan >= planned, "{seed}: {strategy} {makespan:?} {planned:?}");
    }
}

/// Checks the bound for all runs. Returns the number of complete runs, and of those close to the bound.
fn hold(strategies: &[StrategySpec], cases: u64, policy: impl Fn(u64) -> Policies) -> (u32, u32) {
    let (mut complete, mut close) = (0, 0);
    for number in 0..cases {
        let (client, server) = case(number);
        let server = Config { policy: policy(number), ..server };
        let planned = LowerBound::planned(&client, least_costs(&server, number).unwrap(), 1000).unwrap();
        for strategy in strategies {
            let finished = run(strategy, &client, &server);
            let bound = finished.run.optimal_makespan();
            assert_eq!(bound, Some(planned), "{number}: {strategy} {client:?} {server:?}");
            let measured = finished.run.measurements();
            if measured.ops.succeeded < measured.ops.arrived {
                continue;
            }
            let makespan = measured.makespan().unwrap();
            assert!(
                makespan >= planned,
                "{number}: {strategy} {makespan:?} {planned:?} {client:?} {server:?}"
            );
            complete += 1;
            close += u32::from(makespan.as_secs_f64() < planned.as_secs_f64() * 1.05);
        }
    }
    (complete, close)
}

fn over_bound(args: &[&str]) -> Vec<f64> {
    let left = loadgen(&[&["--simulate", "--json", "-", "--quiet"], args].concat()).exits(0);
    let document = left.json();
    let one = |run: &serde_json::Value| {
        assert_eq!(run["makespan_complete"], true);
        run["makespan_s"].as_f64().unwrap() / run["optimal_makespan_s"].as_f64().unwrap()
    };
    document["runs"].as_array().map_or_else(|| vec![one(&document)], |runs| runs.iter().map(one).collect())
}

/// They may beat first come, first served.
#[test]
fn retries_in_a_lucky_order_do_not_beat_the_bound() {
    let server = ["--service-time", "exp(300ms)", "--rejects-occupy", "false"];
    let load = ["-s", "full-jitter:base=20ms,cap=500ms", "--ops", "500", "--repeats", "60"];
    let ratios = over_bound(&[&load[..], &server].concat());
    assert_eq!(ratios.len(), 60);
    assert!(ratios.iter().all(|ratio| *ratio >= 1.0), "{ratios:?}");
}

#[test]
fn random_ways_back_do_not_bring_anybody_below_the_bound() {
    for delay in ["exp(200ms)", "uniform(10ms,900ms)", "normal(300ms,100ms)", "lognormal(300ms,1)"] {
        for strategy in ["oracle", "aimd", "immediate"] {
            let args = ["-s", strategy, "--return-delay", delay, "--rejects-occupy", "false"];
            let ratios = over_bound(&[&args[..], &["--ops", "100", "--repeats", "25"]].concat());
            assert!(ratios.iter().all(|ratio| *ratio >= 1.0), "{strategy} {delay}: {ratios:?}");
        }
    }
}

#[test]
fn by_default_the_bound_is_20_1_s_and_the_oracle_reaches_it() {
    let exact = ["--simulate", "-s", "oracle", "--json", "-", "--quiet", "--delay-noise", "0"];
    let left = loadgen(&exact).exits(0).json();
    let bound = left["optimal_makespan_s"].as_f64().unwrap();
    assert!((20.1..20.15).contains(&bound), "{bound}");
    assert_eq!(left["makespan_s"], left["optimal_makespan_s"]);
    assert!((1.0..=1.01).contains(&over_bound(&["-s", "oracle"])[0]));
}

#[test]
fn a_slow_closed_loop_exceeds_its_bound() {
    let ratio = |strategy: &str, in_flight: &str| {
        over_bound(&["-s", strategy, "--in-flight", in_flight, "--ops", "1000"])[0]
    };
    assert!((1.0..1.01).contains(&ratio("oracle", "100")));
    assert!(ratio("fixed-window:window=10", "100") > 5.0);
    assert!(ratio("aimd", "100") > 1.1);
    assert!((1.0..1.01).contains(&ratio("immediate", "20")), "places, not slots, are what is scarce");
}

#[test]
fn there_is_no_bound_where_none_is_proven() {
    for args in [
        &["--in-flight", "10", "--duration", "5s"][..],
        &["--kind", "read-modify-write", "--clients", "5", "--ops", "20"],
        &["--policy", "overwhelmed-queue", "--ops", "100"],
        &["--policy", "descriptor-pool", "--ops", "100"],
    ] {
        let left = loadgen(&[&["--simulate", "-s", "full-jitter", "--json", "-", "--quiet"], args].concat());
        assert!(left.exits(0).json()["optimal_makespan_s"].is_null(), "{args:?}");
    }
}

/// It is not compared with the bound.
#[test]
fn a_stalled_run_has_the_bound_of_all_its_ops() {
    let server = [
        "--max-busy",
        "2",
        "--service-time",
        "200ms",
        "--reject-time",
        "2s",
        "--network-delay",
        "exp(500ms)",
    ];
    let load = [&["--in-flight", "50", "--ops", "500"][..], &server].concat();
    let result = |strategy: &str| {
        loadgen(&[&["--simulate", "--json", "-", "--quiet", "-s", strategy], &load[..]].concat())
            .exits(0)
            .json()
    };
    let (stalled, done) = (result("immediate"), result("aimd"));
    assert!(stalled["stalled_at_s"].is_number() && stalled["ops"]["total"] != done["ops"]["total"]);
    assert_eq!(stalled["optimal_makespan_s"], done["optimal_makespan_s"]);
    let said = loadgen(&[&["--simulate", "-s", "immediate"], &load[..]].concat()).exits(0).stdout;
    assert!(!said.contains("at least"), "{said}");
}
