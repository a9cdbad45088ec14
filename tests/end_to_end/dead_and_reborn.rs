//! A server that dies during a run and comes back later: the behaviour of a client without back-off during the outage and after it.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{MockServer, assert_conserved, count, eventually, loadgen, start_loadgen};

const SERVER: &[&str] = &["--max-busy", "20", "--service-time", "100ms", "--network-delay", "10ms"];

/// Duration of the outage. It is part of the experiment, not a wait for something else.
const DEAD: Duration = Duration::from_millis(1500);

fn attempts(samples: &str) -> Vec<(f64, f64, String)> {
    let read = |line: &str| {
        let sample: Value = serde_json::from_str(line).unwrap();
        let number = |key: &str| sample[key].as_f64().unwrap_or_else(|| panic!("no {key} in {line}"));
        (number("sent_s"), number("ended_s"), sample["outcome"].as_str().unwrap().to_owned())
    };
    samples.lines().map(read).collect()
}

#[test]
fn aimd_only_probes_a_dead_port_and_recovers_with_the_server() {
    let server = MockServer::start(SERVER);
    let (url, address) = (server.url(), server.address.to_string());
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("samples.ndjson");
    let run = start_loadgen(&[
        "--target",
        &url,
        "--strategy",
        "aimd",
        "--ops",
        "600",
        "--rate",
        "120/s",
        "--no-tui",
        "--samples",
        file.to_str().unwrap(),
        "--json",
        "-",
    ]);
    eventually("ops are served", || (count(&server.stats(), "/accepted") > 60).then_some(()));
    server.signal(Signal::KILL);
    server.finish();
    std::thread::sleep(DEAD);
    let _reborn = MockServer::listen(&address, SERVER);
    let result = run.finish().exits(0).json();
    assert_eq!(count(&result, "/ops/succeeded"), 600);
    assert_conserved(&result);

    let attempts = attempts(&std::fs::read_to_string(&file).unwrap());
    let answered = ["succeeded", "rejected"];
    let failed = || attempts.iter().filter(|(.., outcome)| !answered.contains(&outcome.as_str()));
    let first = failed().map(|(_, ended, _)| *ended).fold(f64::INFINITY, f64::min);
    let last = failed().map(|(sent, ..)| *sent).fold(0.0, f64::max);
    assert!(last - first > 1.0, "the port was dead from {first} to {last} s");
    let probes = failed().filter(|(sent, ..)| *sent > first).count();
    // One probe every 250 ms, and a few earlier ones at first. Without pacing there are thousands.
    assert!((3..30).contains(&probes), "{probes} attempts from {first} to {last} s");
    // The backlog of the outage is waiting. The server could serve 180 ops per second.
    let normal = last + 1.25..last + 2.25;
    let done = attempts.iter().filter(|(_, ended, how)| how == "succeeded" && normal.contains(ended)).count();
    assert!(done > 60, "{done} ops in the second after the rebirth's first");
}

#[test]
fn limiters_only_probe_a_server_that_fails_everything() {
    let failing = MockServer::start(&["--network-delay", "0", "--fault", "502:100%"]);
    let url = failing.url();
    let load = ["--ops", "2000", "--duration", "5s", "--drain", "0s", "--quiet", "--json", "-"];
    for strategy in ["aimd", "fixed-window", "bbr"] {
        let real = ["--target", &url, "--strategy", strategy];
        let simulated =
            ["--simulate", "--network-delay", "1ms", "--fault", "502:100%", "--strategy", strategy];
        for how in [&real[..], &simulated] {
            let result = loadgen(&[how, &load].concat()).exits(1).json();
            let attempts = count(&result, "/attempts/total");
            // The attempts of the first window, then probes 50 to 250 ms apart: 20 or 21 probes in 5 s.
            assert!((25..=100).contains(&attempts), "{strategy}: {attempts} attempts, {how:?}");
            assert_conserved(&result);
        }
    }
}

#[test]
fn random_failures_do_not_delay_strategies() {
    // Mean makespans of these seeds before strategies sent probes after failures.
    for (strategy, before_s) in [("aimd", 70.84), ("fixed-window", 24.63), ("cubic", 160.25)] {
        let args = [
            "--simulate",
            "--delay-noise",
            "0",
            "--fault",
            "502:5%",
            "--repeats",
            "8",
            "-q",
            "--json",
            "-",
            "-s",
            strategy,
        ];
        let result = loadgen(&args).exits(0).json();
        let runs = result["runs"].as_array().unwrap();
        let makespan_s = runs.iter().map(|run| run["makespan_s"].as_f64().unwrap()).sum::<f64>() / 8.0;
        assert!(
            (makespan_s / before_s - 1.0).abs() < 0.05,
            "{strategy}: {makespan_s} s, before {before_s} s"
        );
    }
}

#[test]
fn virtual_time_that_hardly_passes_ends_as_a_stall() {
    let left = loadgen(&[
        "--simulate",
        "-s",
        "immediate",
        "--timeout",
        "1ns",
        "--ops",
        "100",
        "--json",
        "-",
        "--quiet",
    ]);
    let result = left.json();
    assert_eq!(count(&result, "/attempts/failed"), 10_000_000);
    let stalled_at = result["stalled_at_s"].as_f64().unwrap();
    assert!(stalled_at < 0.2, "{stalled_at}");
    assert_eq!(count(&result, "/ops/unfinished"), count(&result, "/ops/total"));
    assert_conserved(&result);
}
