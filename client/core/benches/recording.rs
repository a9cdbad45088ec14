//! Benchmarks of the cost of measuring per attempt, and of the speed of the client state machine.

use std::time::Duration;

use divan::counter::ItemsCount;
use loadgen_core::{
    ArrivalProcess, AttemptResult, Completion, Input, Measurements, Output, Run, RunConfig, Workload,
};
use tailback::{Status, StrategySpec};
use vocabulary::Instant;

fn main() {
    divan::main();
}

const ATTEMPTS: u64 = 100_000;

fn instants(attempt: u64) -> (Instant, Instant, Instant) {
    let sent = attempt * 20_000 + 100_000;
    let (lag, latency) = ((attempt * 5) & 0xffff, 500_000 + ((attempt * 7919) & 0xf_ffff));
    (Instant::from_nanos(sent - lag), Instant::from_nanos(sent), Instant::from_nanos(sent + latency))
}

/// Records counters, two histograms and the series, for attempts that all succeed.
#[divan::bench]
fn recording(bencher: divan::Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(ATTEMPTS)).with_inputs(Measurements::default).bench_refs(|measured| {
        for attempt in 0..ATTEMPTS {
            let (due, sent, answered) = instants(attempt);
            measured.on_sent(sent, 50, 1);
            measured.send_lag.record_between(due, sent);
            measured.on_ended(answered, Status::Succeeded, sent, 49);
        }
    });
}

/// Runs the loop of `recording` without recording, so that its time can be subtracted.
#[divan::bench]
fn nothing(bencher: divan::Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(ATTEMPTS)).bench(|| {
        for attempt in 0..ATTEMPTS {
            divan::black_box(instants(attempt));
        }
    });
}

/// Runs the whole client (arrivals, strategy, queues, measurements) in a closed loop of 50 against a server that
/// answers at once.
#[divan::bench(args = ["none", "fixed-window", "aimd", "full-jitter"])]
fn the_client(bencher: divan::Bencher<'_, '_>, strategy: &str) {
    let spec: StrategySpec = strategy.parse().expect("it is in the registry");
    bencher.counter(ItemsCount::new(ATTEMPTS)).bench(|| {
        let config = RunConfig {
            workload: Workload {
                arrivals: ArrivalProcess::Closed { in_flight: 50 },
                ops: Some(ATTEMPTS),
                duration: None,
            },
            ..RunConfig::default()
        };
        let mut run = Run::new(config, |_| spec.build(1, None), None).expect("it needs no foreknowledge");
        let mut now = Instant::ORIGIN;
        loop {
            match run.poll_output(now) {
                Output::Send(launched) => {
                    now = now + Duration::from_micros(10);
                    let completion = Completion {
                        attempt: launched.attempt,
                        sent_at: launched.due,
                        result: AttemptResult::plain(Status::Succeeded),
                    };
                    run.handle_input(now, Input::AttemptEnd(completion));
                }
                Output::Done => break,
                other => panic!("a server that answers at once leaves nothing to wait for: {other:?}"),
            }
        }
        run.measurements().ops.succeeded
    });
}
