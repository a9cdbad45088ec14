//! Ops with several attempts in flight: nothing gets lost in any combination, and the costs and gains of copies.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loadgen_core::{ArrivalProcess, OperationKind, Run, RunConfig, Sample, Workload};
use loadgen_sim::{Finished, Simulation, Steer};
use mockserver_core::Config;
use tailback::{MAX_COPIES, Status, StrategySpec};
use vocabulary::{Distribution, Instant, Purpose, draws, unit};

fn run(strategy: &str, config: &RunConfig, server: &Config) -> (Finished, Vec<Sample>) {
    let spec: StrategySpec = strategy.parse().unwrap_or_else(|error| panic!("{strategy}: {error}"));
    let mut run = Run::new(config.clone(), |_| spec.build(config.seed, None), None).expect("it starts");
    let samples = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&samples);
    run.record_samples(Box::new(move |sample| sink.lock().expect("nobody panics").push(*sample)));
    let mut looks = 0;
    let finished = Simulation::new(run, config.kind, config.seed, server.clone()).run(|_, now| {
        looks += 1;
        assert!(looks < 100, "no end in sight at {now:?}: {strategy}");
        Steer::On
    });
    let samples = std::mem::take(&mut *samples.lock().expect("nobody panics"));
    (finished, samples)
}

const CASES: u64 = 300;

const HEDGERS: &[&str] = &[
    "hedging:delay=30ms,copies=1",
    "hedging:delay=5ms,copies=4",
    "hedging:delay=0,copies=2",
    "hedging:delay=20ms,copies=3,after-failure=wait",
    "hedging:delay=20ms,copies=2,after-failure=end",
    "percentile-hedging:percentile=0.5,min-samples=5,period=200ms",
    "percentile-hedging:percentile=0.9,min-samples=0,period=50ms,after-failure=next",
];

const POLICIES: &[&str] = &[
    "none",
    "full-jitter:base=10ms,cap=100ms",
    "constant:delay=20ms,max-attempts=4",
    "immediate:max-attempts=9,max-time=300ms",
    "constant:delay=30ms,max-attempts=2 over constant:delay=10ms,max-attempts=5",
    "constant:delay=50ms,max-attempts=3+fixed-window:window=4 over none",
    "exponential:base=10ms,cap=1s,retry-after=exact,retry-on=rejected",
    "full-jitter:max-connect=1,max-read=2,max-status=3",
];

const OTHERS: &[&str] = &[
    "",
    "+aimd:initial=5",
    "+fixed-window:window=3",
    "+aws-adaptive",
    "+retry-budget:max=4,ratio=0.5,ask=failure",
    "+retry-budget:max=3,ratio=0.5+breaker:failures=3,when-open=shed,open=50ms,cap=100ms",
    "+envoy-budget:least=1+aws-quota:capacity=20",
    "+finagle-budget:reserve=1+fixed-window:window=8",
    "+tower-budget:reserve=1,deposit=request+failsafe-budget",
    "+breaker:failures=2,when-open=wait,open=20ms,cap=50ms",
    "+ratio-breaker:least=2,ratio=0.5,open=50ms,when-open=shed+sre-throttle:on-refusal=fail",
    "+vector-arc:initial=3+token-bucket:rate=200",
    "+netflix-vegas:initial=2",
    "+bbr",
];

/// Returns a strategy, a workload and a server that depend only on `number`.
fn case(number: u64) -> (String, RunConfig, Config) {
    let mut rng = draws(number, Purpose::Arrivals, 0, 0);
    let mut below = |count: usize| -> usize {
        let drawn = unit(&mut rng);
        (1..count).filter(|step| drawn * count as f64 >= *step as f64).count()
    };
    let hedger = HEDGERS[below(HEDGERS.len())];
    let (policy, others) = (POLICIES[below(POLICIES.len())], OTHERS[below(OTHERS.len())]);
    let strategy = format!("{policy}+{hedger}{others}");
    let time = |text: &str| -> Distribution { text.parse().expect("it is a distribution") };
    let server = Config {
        max_busy: [1, 7, 50][below(3)],
        service_time: time(["0s", "50ms", "exp(100ms)", "lognormal(30ms,1.5)"][below(4)]),
        reject_time: time(["0s", "10ms"][below(2)]),
        network_delay: time(["0s", "20ms", "normal(10ms,2ms)"][below(3)]),
        return_delay: time(["0s", "uniform(1ms,50ms)"][below(2)]),
        rejects_occupy: below(2) == 0,
        retry_after: [None, Some(Duration::from_millis(70))][below(2)],
        loss: [0.0, 0.05, 0.3][below(3)],
        outages: ["", "100ms..300ms"][below(2)].parse().expect("they are outages"),
        reject_first: [0, 0, 2][below(3)],
        policy: ["concurrency-cap", "overwhelmed-queue:capacity=5,service=3,limit=9"][below(2)]
            .parse()
            .expect("it is a policy"),
        ..Config::default()
    };
    let arrivals = match below(4) {
        0 => ArrivalProcess::Poisson { rate_per_s: 500.0 },
        1 => ArrivalProcess::Uniform { rate_per_s: 100.0 },
        2 => ArrivalProcess::Burst,
        _ => ArrivalProcess::Closed { in_flight: 20 },
    };
    let duration = [None, Some(Duration::from_secs(1))][below(2)];
    let config = RunConfig {
        seed: number,
        workload: Workload { arrivals, ops: Some(150), duration },
        kind: [OperationKind::Request, OperationKind::Request, OperationKind::ReadModifyWrite][below(3)],
        clients: [1, 3][below(2)],
        share_strategy: below(3) == 0,
        timeout: [Duration::from_millis(60), Duration::from_secs(2)][below(2)],
        deadline: [None, Some(Duration::from_millis(150)), Some(Duration::from_secs(3))][below(3)],
        drain: duration.map(|_| [Duration::ZERO, Duration::from_secs(2)][below(2)]),
        retry_failed: below(4) > 0,
        patience: Duration::from_secs(5),
        ..RunConfig::default()
    };
    (strategy, config, server)
}

/// Returns the maximum number of attempts of one op in flight at once. An attempt that ends as another begins is not counted with
/// it.
fn most_at_once(samples: &[&Sample]) -> i32 {
    let mut changes: Vec<(Instant, i32)> =
        samples.iter().flat_map(|sample| [(sample.due, 1), (sample.ended, -1)]).collect();
    changes.sort_unstable();
    let mut live = 0;
    changes.iter().fold(0, |most, (_, change)| {
        live += change;
        most.max(live)
    })
}

/// No op has too many attempts in flight, or more than one success.
#[test]
fn all_attempts_are_accounted_for_in_any_combination() {
    let (mut duplicates, mut sheds) = (0, 0);
    for number in 0..CASES {
        let (strategy, config, server) = case(number);
        let what = || format!("case {number}: {strategy} {config:#?} {server:#?}");
        let (finished, samples) = run(&strategy, &config, &server);
        let conservation = finished.run.conservation(Some(&finished.server.counts));
        assert!(conservation.holds(), "{:?} {}", conservation.mismatches, what());
        let measured = finished.run.measurements();
        let attempts = measured.attempts;
        assert_eq!(samples.len() as u64, attempts.total, "an attempt has not ended: {}", what());
        let mut by_op: BTreeMap<u64, Vec<&Sample>> = BTreeMap::new();
        for sample in &samples {
            by_op.entry(sample.op).or_default().push(sample);
        }
        let most = i32::try_from(MAX_COPIES).expect("it is small") + 1;
        let mut numbers = 0;
        for samples in by_op.values_mut() {
            assert!(most_at_once(samples) <= most, "{}", what());
            let succeeded = samples.iter().filter(|sample| sample.status == Status::Succeeded);
            assert!(succeeded.count() <= 1, "{}", what());
            samples.sort_by_key(|sample| sample.attempt);
            assert!(samples.iter().zip(1..).all(|(sample, number)| sample.attempt == number), "{}", what());
            numbers += samples.len() as u64 - 1;
        }
        assert!(attempts.duplicates <= numbers, "{}", what());
        if strategy.contains("max-attempts=4+hedging") {
            assert!(measured.most_attempts_per_op <= 4, "{}", what());
        }
        duplicates += attempts.duplicates;
        sheds += attempts.shed;
        if number % 10 == 0 {
            assert_eq!(
                samples,
                run(&strategy, &config, &server).1,
                "another run came out otherwise: {}",
                what()
            );
        }
    }
    assert!(duplicates > 5000 && sheds > 1000, "{duplicates} copies, {sheds} sheds");
}

/// Runs ten thousand ops on a server without a limit. Returns the numbers of copies and of withdrawn attempts, and the latencies
/// of 50, 99 and 99.9 % of the ops in ms. A time of `lognormal(100ms,1)` has a median of 61 ms; a twentieth takes longer than 314
/// ms.
fn tail(strategy: &str, server: Config) -> (u64, u64, [u128; 3]) {
    let arrivals = ArrivalProcess::Poisson { rate_per_s: 100.0 };
    let workload = Workload { arrivals, ops: Some(10_000), duration: None };
    let config = RunConfig { workload, exact_latencies: true, seed: 1, ..RunConfig::default() };
    let (finished, _) = run(strategy, &config, &Config { max_busy: 1_000_000, ..server });
    let measured = finished.run.measurements();
    assert_eq!(measured.ops.succeeded, 10_000);
    let quantiles = [0.5, 0.99, 0.999].map(|share| measured.op_latency.quantile(share).as_millis());
    (measured.attempts.duplicates, measured.attempts.cancelled, quantiles)
}

fn varying() -> Distribution {
    "lognormal(100ms,1)".parse().expect("it is a distribution")
}

/// A delay at the 95th percentile costs about 5 % more attempts.
#[test]
fn copies_shorten_the_tail_for_few_extra_attempts() {
    let ways = Config {
        service_time: Distribution::ZERO,
        network_delay: Distribution::ZERO,
        return_delay: varying(),
        ..Config::default()
    };
    let tail = |strategy: &str| tail(strategy, ways.clone());
    assert_eq!(tail("none"), (0, 0, [59, 633, 1387]));
    // As computed: P(X > t) P(X > t - 314 ms) is a hundredth at t = 405 ms.
    assert_eq!(tail("none+hedging:delay=314ms,copies=1"), (482, 482, [59, 407, 574]));
    // Withdrawn attempts, which are the long ones, leave no latency, so the measured percentile is too short.
    let tower = "none+percentile-hedging:percentile=0.95,min-samples=100,period=10s";
    assert_eq!(tail(tower), (884, 884, [59, 372, 631]));
    assert_eq!(tail("none+hedging:delay=0,copies=3"), (30_000, 30_000, [22, 98, 146]));
}

#[test]
fn work_that_is_long_by_itself_is_as_long_for_a_copy() {
    let work = Config { service_time: varying(), network_delay: Distribution::ZERO, ..Config::default() };
    let hedged = tail("none+hedging:delay=314ms,copies=1", work.clone());
    assert_eq!((hedged.0, hedged.2), (522, tail("none", work).2));
}

#[test]
fn a_lost_message_costs_the_delay_of_a_copy_not_a_timeout() {
    let lossy = Config {
        service_time: Distribution::millis(50),
        network_delay: Distribution::ZERO,
        loss: 0.01,
        ..Config::default()
    };
    assert_eq!(tail("immediate", lossy.clone()), (0, 0, [50, 30_050, 30_050]));
    assert_eq!(tail("immediate+hedging:delay=100ms,copies=2", lossy), (213, 213, [50, 150, 150]));
}
