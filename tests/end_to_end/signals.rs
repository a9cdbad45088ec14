//! SIGINT and SIGTERM: the first stops and keeps, the second leaves at once.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::{MockServer, Program, assert_conserved, count, eventually, start_loadgen};

/// A run that would take long, after its first answers.
fn long_run(server: &MockServer, more: &[&str]) -> Program {
    let url = server.url();
    let args = ["--target", &url, "--ops", "100000", "--rate", "100/s", "--no-tui"];
    let run = start_loadgen(&[&args[..], more].concat());
    eventually("requests are answered", || (count(&server.stats(), "/accepted") > 20).then_some(()));
    run
}

#[test]
fn the_first_signal_stops_the_run_and_keeps_what_was_measured() {
    for (signal, name, code) in [(Signal::INT, "SIGINT", 130), (Signal::TERM, "SIGTERM", 143)] {
        let server = MockServer::start(&["--service-time", "50ms", "--network-delay", "1ms"]);
        let run = long_run(&server, &["--json", "-"]);
        run.signal(signal);
        let left = run.finish().exits(code).says(&["makespan", name]);
        let result = left.json();
        assert_eq!(result["interrupted"], name);
        assert!(count(&result, "/ops/succeeded") > 0);
        // What was in flight may end: nothing was withdrawn, and the server's counts are the client's.
        assert_eq!(count(&result, "/attempts/total"), count(&result, "/server/received"));
        assert_eq!(count(&result, "/attempts/cancelled"), 0);
        assert_conserved(&result);
        assert_eq!(count(&server.stats(), "/received"), count(&result, "/server/received"));
    }
}

#[test]
fn a_run_that_was_cut_off_is_kept_but_not_summed_up_with_whole_ones() {
    let server = MockServer::start(&["--service-time", "50ms", "--network-delay", "1ms"]);
    let url = server.url();
    let args =
        ["--target", &url, "--ops", "40", "--rate", "100/s", "--repeats", "1000", "--no-tui", "--json", "-"];
    let run = start_loadgen(&args);
    eventually("a second run goes on", || (count(&server.stats(), "/accepted") > 60).then_some(()));
    run.signal(Signal::INT);
    let result = run.finish().exits(130).json();
    let runs = result["runs"].as_array().expect("runs are a list");
    let whole = runs.iter().filter(|run| run["interrupted"].is_null()).count() as u64;
    assert!(whole > 0 && runs.len() as u64 - whole <= 1, "{whole} of {}", runs.len());
    assert_eq!(count(&result, "/summary/makespan_s/count"), whole);
}

#[test]
fn a_signal_does_not_wait_for_a_server_that_takes_its_time() {
    let server = MockServer::start(&["--service-time", "10m", "--network-delay", "0", "--max-busy", "1000"]);
    let url = server.url();
    let run = start_loadgen(&["--target", &url, "--ops", "10", "--timeout", "1h", "--no-tui", "--json", "-"]);
    eventually("requests arrive", || (count(&server.stats(), "/received") == 10).then_some(()));
    run.signal(Signal::INT);
    let asked = Instant::now();
    let result = run.finish().exits(130).json();
    assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
    assert_eq!((count(&result, "/attempts/cancelled"), count(&result, "/ops/unfinished")), (10, 10));
    assert_conserved(&result);
    eventually("the slots of withdrawn requests are free", || {
        (count(&server.stats(), "/busy") == 0).then_some(())
    });
}

#[test]
fn the_second_signal_leaves_at_once() {
    let server = MockServer::start(&["--service-time", "10m", "--network-delay", "0", "--max-busy", "1000"]);
    let url = server.url();
    let run = start_loadgen(&["--target", &url, "--ops", "10", "--timeout", "1h", "--no-tui", "--json", "-"]);
    eventually("requests arrive", || (count(&server.stats(), "/received") == 10).then_some(()));
    let asked = Instant::now();
    let left = run.finish_by_signals(Signal::INT).exits(130);
    assert!(asked.elapsed() < Duration::from_millis(1500), "{:?}", asked.elapsed());
    assert_eq!(left.stdout, "");
}

#[test]
fn repeats_that_were_not_begun_are_left_out() {
    let server = MockServer::start(&["--service-time", "50ms", "--network-delay", "1ms"]);
    let run = long_run(&server, &["--repeats", "3", "--json", "-"]);
    run.signal(Signal::INT);
    let document = run.finish().exits(130).json();
    assert_eq!(document["runs"].as_array().map(Vec::len), Some(1), "{document}");
}
