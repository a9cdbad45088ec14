//! Decisions per second of each part alone: admit, send, end, and for every second op a failure.
//!
//! Source: the project's issue ("benchmarks: decisions per second of each strategy").

use std::hint::black_box;
use std::time::Duration;

use divan::Bencher;
use divan::counter::ItemsCount;
use tailback::{
    AttemptEnd, Candidate, Classification, FailedOp, Instant, LaunchDecision, LimiterView, OracleSchedule,
    Outcome, RetryState, STRATEGIES, Status, Strategy, StrategySpec,
};

fn main() {
    divan::main();
}

const LAUNCHES: u32 = 1000;

/// Schedule that sends every op as soon as it is ready.
fn at_once() -> OracleSchedule {
    OracleSchedule::new(|_op, from| from)
}

/// Strategies beyond single names: several parts together, and backoffs as production clients configure them.
const COMPOSED: &[&str] = &[
    "aimd+full-jitter+retry-budget+breaker",
    "backoff:base=50ms,throttled-base=1s,cap=20s,spread=full",
    "backoff:base=500ms,cap=8s,spread=below|0.25,grain=timer",
    "backoff:base=500ms,factor=1.5,cap=60s,spread=around|0.5",
    "backoff:base=50ms,cap=none,spread=tower|0.99,cap-applies=after-spread",
    "backoff:base=2s,growth=polly",
    "backoff:cap=none,formula=(min(30,base*2^k)+(2*u)^2)",
];

fn names() -> impl Iterator<Item = &'static str> {
    STRATEGIES.iter().map(|entry| entry.name).chain(COMPOSED.iter().copied())
}

#[divan::bench(args = names())]
fn decisions(bencher: Bencher<'_, '_>, name: &str) {
    let spec: StrategySpec = name.parse().expect("the registry's names are strategies");
    bencher
        .counter(ItemsCount::new(LAUNCHES))
        .with_inputs(|| spec.build(1, Some(at_once())).expect("it has all it needs"))
        .bench_local_values(|mut strategy| {
            for op in 0..LAUNCHES {
                black_box(launch_and_end(&mut strategy, u64::from(op)));
            }
            strategy
        });
}

/// Runs one op from arrival to its end. Every second op is rejected and gets a delay.
fn launch_and_end(strategy: &mut Strategy, op: u64) -> bool {
    let now = Instant::from_millis(op);
    let last_classification = Classification::Done;
    let candidate =
        Candidate { seq: op, op, attempt: 1, arrived: now, last: None, last_classification, copy: 0 };
    strategy.on_ready(now, &candidate);
    let mut state = RetryState::default();
    let view = LimiterView { in_flight: 0, ready: 1, sleeping: 0, candidate };
    let LaunchDecision::Send(permits, _) = strategy.admit(now, black_box(&view), &mut state) else {
        return false;
    };
    let ended = AttemptEnd {
        seq: op,
        op,
        attempt: 1,
        sent_at: now,
        in_flight_when_sent: 1,
        in_flight: 1,
        ready: 0,
        round_continues: false,
    };
    let status = if op.is_multiple_of(2) { Status::Succeeded } else { Status::Rejected };
    let outcome = Outcome::plain(status);
    let then = now + Duration::from_millis(1);
    strategy.on_ended(then, &ended, &outcome, &permits, &mut state);
    if status == Status::Rejected {
        let failed = FailedOp { op, arrived: now, failures: 1 + u32::from(op > 500), outcome };
        black_box(strategy.on_failure(then, &failed, 1, &mut state));
    }
    true
}
