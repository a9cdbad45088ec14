//! Attempts that start only if enough is free at the server, and deferred ones.

use std::time::Duration;

use tailback::Status;

use super::{Bench, burst, closed, ms};
use crate::run::{Input, Output};
use crate::workload::RunConfig;

/// Without a reported start, an attempt counts at its end.
#[test]
fn an_attempt_counts_once_started_and_not_if_deferred() {
    let mut bench = Bench::new("ethernet:threshold=10,cost=100ms+constant:delay=1s", burst(2));
    bench.poll(ms(0));
    let least: Vec<u32> = bench.sent.iter().map(|launched| launched.min_free).collect();
    assert_eq!(least, [10, 10]);
    assert_eq!(bench.run.measurements().attempts.total, 0, "the server has not looked yet");
    bench.run.handle_input(ms(0), Input::Started(bench.sent[1].attempt));
    assert_eq!(bench.run.measurements().attempts.total, 1);
    assert_eq!(bench.answer(ms(0), Status::Deferred), Output::WaitUntil(ms(1100)));
    assert_eq!(bench.ops_out(), [1]);
    let measured = bench.run.measurements();
    assert_eq!((measured.ops.deferred, measured.attempts.total), (1, 1));
    bench.answer(ms(600), Status::Succeeded);
    // After its backoff it is the op's first attempt again. Without a reported start it counts at its end.
    bench.poll(ms(1100));
    assert_eq!(bench.sent[0].ordinal, 1);
    assert_eq!(bench.answer(ms(1700), Status::Succeeded), Output::Done);
    let measured = bench.run.measurements();
    assert_eq!((measured.attempts.total, measured.series.totals().total), (2, 2));
    bench.assert_conserved();
}

#[test]
fn withdrawn_attempts_of_unknown_start_are_accounted_for() {
    let mut bench = Bench::new("ethernet+constant", burst(2));
    bench.poll(ms(0));
    bench.run.handle_input(ms(10), Input::Abort);
    bench.poll(ms(10));
    assert_eq!(bench.run.measurements().attempts.cancelled, 2);
    bench.assert_conserved();
}

#[test]
fn a_deferred_attempt_refunds_its_window_slot_and_budget() {
    let spec = "ethernet:cost=0s+fixed-window:window=1+breaker:failures=1+constant:delay=1s";
    let mut bench = Bench::new(spec, burst(2));
    bench.poll(ms(0));
    assert_eq!(bench.ops_out(), [0]);
    bench.answer(ms(0), Status::Deferred);
    assert_eq!(bench.ops_out(), [1], "the place in the window is free");
    bench.answer(ms(600), Status::Succeeded);
    bench.poll(ms(1000));
    assert_eq!(bench.ops_out(), [0], "the breaker is closed");
    assert_eq!(bench.answer(ms(1600), Status::Succeeded), Output::Done);
    bench.assert_conserved();
}

#[test]
fn a_deferred_attempt_does_not_count_as_in_flight() {
    let mut bench = Bench::new("ethernet:threshold=10,cost=0s+constant:delay=1s", burst(3));
    bench.poll(ms(0));
    assert_eq!(bench.sent.len(), 3);
    bench.answer(ms(1), Status::Deferred);
    bench.answer(ms(600), Status::Succeeded);
    bench.answer(ms(600), Status::Succeeded);
    let most = bench.run.measurements().series.points().iter().map(|point| point.in_flight.max);
    assert!((most.fold(0.0, f32::max) - 2.0).abs() < f32::EPSILON);
}

/// This holds even if later attempts have ended before it.
#[test]
fn a_deferred_attempts_serial_is_not_reused() {
    // With so many answers, the end of the last one removes all timeouts but that of the first attempt.
    const OPS: u64 = 4099;
    let config = RunConfig { timeout: Duration::from_mins(10), ..closed(2, OPS) };
    let mut bench = Bench::new("ethernet:cost=0s+constant:delay=1s", config);
    bench.poll(ms(0));
    for later in 1..OPS {
        let launched = bench.sent.pop().unwrap();
        bench.answer_to(launched, ms(later), Status::Succeeded);
    }
    bench.answer(ms(OPS), Status::Deferred);
    bench.poll(ms(OPS + 1000));
    assert_eq!(bench.sent[0].attempt.serial, OPS);
}
