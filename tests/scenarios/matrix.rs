//! Random combinations of strategies, workloads and servers: a run in virtual time ends, its counts match, and a second run gives the same
//! result.

use std::time::Duration;

use loadgen_core::{ArrivalProcess, OperationKind, Run, RunConfig, Workload};
use loadgen_sim::{Simulation, Steer};
use mockserver_core::Config;
use tailback::StrategySpec;
use vocabulary::{Purpose, draws, unit};

const CASES: u64 = 60;

/// Number of calls of the steering function after which a run counts as endless. One call covers 65 536 events.
const MAX_LOOKS: u32 = 100;

const STRATEGIES: &[&str] = &[
    "none",
    "immediate+breaker",
    "constant:delay=20ms",
    "uniform:max=1s",
    "linear:base=10ms,max-attempts=5",
    "exponential:base=10ms,cap=10s",
    "full-jitter",
    "equal-jitter+retry-budget",
    "decorrelated-jitter+fixed-window",
    "thain:base=100ms,cap=1m",
    "aimd",
    "aimd:variant=tahoe,beta=0.5+exponential:jitter=0.5",
    "netflix-aimd:min=1",
    "netflix-vegas:initial=2",
    "netflix-gradient:windowed=false",
    "netflix-gradient2+full-jitter",
    "palantir:initial=1",
    "vector-arc",
    "ethernet:threshold=5+full-jitter",
    "aimd+full-jitter+retry-budget+breaker",
    "aimd+full-jitter+hedging:delay=100ms,copies=2",
    "none+percentile-hedging:min-samples=5,period=300ms+retry-budget",
];

const POLICIES: &[&str] = &[
    "concurrency-cap",
    "overwhelmed-queue",
    "overwhelmed-queue:capacity=2,service=3,limit=4",
    "overwhelmed-queue:subset=random,limit=7",
    "descriptor-pool",
    "descriptor-pool:descriptors=120",
];

/// A combination that depends only on its number.
#[derive(Clone, Debug)]
struct Case {
    strategy: &'static str,
    client: RunConfig,
    server: Config,
}

fn case(number: u64) -> Case {
    let mut rng = draws(number, Purpose::Arrivals, 0, 0);
    let mut below = |count: usize| -> usize {
        let drawn = unit(&mut rng);
        (1..count).filter(|step| drawn * count as f64 >= *step as f64).count()
    };
    // Strategies take turns, so that all are used.
    let strategy = STRATEGIES[usize::try_from(number).unwrap() % STRATEGIES.len()];
    let policy = POLICIES[below(POLICIES.len())];
    let max_busy = [1, 7, 50][below(3)];
    let server = serde_json::json!({
        "policy": policy,
        "service_time": (["0s", "50ms", "exp(100ms)", "lognormal(80ms,1)"][below(4)]),
        "reject_time": (["0s", "10ms"][below(2)]),
        "network_delay": (["0s", "20ms", "normal(10ms,2ms)"][below(3)]),
        "return_delay": (["0s", "uniform(1ms,50ms)"][below(2)]),
        "rejects_occupy": below(2) == 0,
        "retry_after": ([None, Some("300ms")][below(2)]),
        "loss": ([0.0, 0.05, 0.5][below(3)]),
        "outages": (["", "1s..3s", "0s..500ms,700ms..2s"][below(3)]),
        "reject_first": ([0, 0, 2][below(3)]),
        "seed": number,
    });
    let arrivals = match below(5) {
        0 => ArrivalProcess::Poisson { rate_per_s: 500.0 },
        1 => ArrivalProcess::Uniform { rate_per_s: 100.0 },
        2 => ArrivalProcess::Burst,
        3 => ArrivalProcess::Closed { in_flight: 20 },
        _ => {
            ArrivalProcess::Listed((0..200).map(|step| vocabulary::Instant::from_millis(step / 10)).collect())
        }
    };
    let duration = [None, Some(Duration::from_secs(2))][below(2)];
    let client = RunConfig {
        seed: number,
        workload: Workload { arrivals, ops: Some(200), duration },
        kind: [OperationKind::Request, OperationKind::ReadModifyWrite][below(2)],
        clients: [1, 3, 200][below(3)],
        share_strategy: below(3) == 0,
        timeout: [Duration::from_millis(60), Duration::from_secs(2)][below(2)],
        deadline: [None, Some(Duration::from_millis(500)), Some(Duration::from_secs(5))][below(3)],
        drain: duration.map(|_| [Duration::ZERO, Duration::from_secs(5)][below(2)]),
        retry_failed: below(4) > 0,
        bins: Some(Duration::from_millis(100)),
        exact_latencies: true,
        ..RunConfig::default()
    };
    let serde_json::Value::Object(patch) = server else { unreachable!("it is written as an object") };
    // Set directly, because some of these policies ignore `max_busy`, so that a change of the configuration would be refused.
    Case { strategy, client, server: Config { max_busy, ..Config::default().patched(&patch).unwrap() } }
}

fn told(case: &Case) -> String {
    let Case { strategy, client, server } = case;
    let spec: StrategySpec = strategy.parse().unwrap();
    let seed = client.seed;
    let run = Run::new(client.clone(), |_| spec.build(seed, None), None).unwrap();
    let mut looks = 0;
    let finished = Simulation::new(run, client.kind, seed, server.clone()).run(|_, now| {
        looks += 1;
        assert!(looks < MAX_LOOKS, "no end in sight at {now:?}: {case:#?}");
        Steer::On
    });
    let conservation = finished.run.conservation(Some(&finished.server.counts));
    assert!(conservation.holds(), "{:?}: {case:#?}", conservation.mismatches);
    let measured = finished.run.measurements();
    assert!(measured.ops.arrived <= 200, "{case:#?}");
    assert!(measured.ops.succeeded <= measured.attempts.succeeded, "{case:#?}");
    format!("{measured:?} {:?}", finished.server.counts)
}

#[test]
fn every_run_ends_adds_up_and_is_the_same_again() {
    let mut all = Vec::new();
    for number in 0..CASES {
        let case = case(number);
        let first = told(&case);
        assert!(first == told(&case), "another run came out otherwise: {case:#?}");
        all.push(first);
    }
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len() as u64, CASES, "the cases differ");
}

#[test]
fn another_seed_gives_another_run() {
    let mut other = case(5);
    let first = told(&other);
    other.client.seed += 1;
    assert!(first != told(&other));
}
