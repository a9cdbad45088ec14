//! Attempts that wait for a connection. They count as sent once they got one.

use std::time::Duration;

use tailback::Status;

use super::{Bench, burst, ms};
use crate::run::{Input, Output};
use crate::workload::RunConfig;

fn counts(bench: &Bench) -> (u64, u64, u64) {
    let measured = bench.run.measurements();
    assert_eq!(measured.series.totals().total, measured.attempts.total);
    (measured.attempts.total, measured.attempts.failed, measured.attempts.unsent)
}

#[test]
fn an_attempt_that_times_out_in_the_queue_was_never_sent() {
    let config = RunConfig { timeout: Duration::from_secs(1), ..burst(3) };
    let mut bench = Bench::new("none", config);
    bench.poll(ms(0));
    for waiting in [1, 2] {
        bench.run.handle_input(ms(0), Input::Waiting(bench.sent[waiting].attempt));
    }
    assert_eq!(counts(&bench), (1, 0, 0));
    bench.run.handle_input(ms(500), Input::Connected(bench.sent[1].attempt));
    assert_eq!(counts(&bench), (2, 0, 0));
    bench.run.handle_input(ms(600), Input::Connected(bench.sent[1].attempt));
    assert_eq!(bench.poll(ms(1000)), Output::Done);
    assert_eq!(counts(&bench), (2, 2, 1));
    assert_eq!(bench.run.measurements().ops.given_up, 3);
    assert_eq!(bench.run.measurements().failures.results()[0].attempts, 2);
    bench.assert_conserved();
}

#[test]
fn a_waiting_attempt_that_is_withdrawn_was_never_sent() {
    for strategy in ["none", "ethernet+constant"] {
        let mut bench = Bench::new(strategy, burst(2));
        bench.poll(ms(0));
        bench.run.handle_input(ms(0), Input::Waiting(bench.sent[1].attempt));
        bench.run.handle_input(ms(10), Input::Abort);
        bench.poll(ms(10));
        assert_eq!(bench.run.measurements().attempts.cancelled, 1, "{strategy}");
        assert_eq!(counts(&bench), (1, 0, 1), "{strategy}");
        bench.assert_conserved();
    }
}

#[test]
fn a_retry_that_waits_counts_once() {
    let mut bench = Bench::new("constant:delay=1s", burst(1));
    bench.poll(ms(0));
    bench.answer(ms(100), Status::Rejected);
    bench.poll(ms(1100));
    bench.run.handle_input(ms(1100), Input::Waiting(bench.sent[0].attempt));
    bench.run.handle_input(ms(1200), Input::Connected(bench.sent[0].attempt));
    assert_eq!(bench.answer(ms(1300), Status::Succeeded), Output::Done);
    assert_eq!(counts(&bench), (2, 0, 0));
    bench.assert_conserved();
}
