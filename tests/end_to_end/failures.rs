//! Failures do not look like success: they are reported by status and kind, and set the exit code.

use std::net::TcpListener;

use super::foreign_server::{ForeignServer, hang_up, reply};
use crate::support::{Left, assert_conserved, count, loadgen};

fn quietly(url: &str, more: &[&str]) -> Left {
    let base = ["--target", url, "--ops", "20", "--rate", "1000/s", "--max-attempts", "2", "-q"];
    // Waits between attempts have no effect on the reported failures.
    loadgen(&[&base[..], &["--strategy", "constant:delay=1ms"], more].concat())
}

#[test]
fn runs_without_success_exit_1_with_a_reason_even_if_quiet() {
    for (status, attempts) in [
        ("404 Not Found", 20),
        ("401 Unauthorized", 20),
        ("302 Found", 20),
        ("304 Not Modified", 20),
        ("500 Internal Server Error", 40),
    ] {
        let server = ForeignServer::start(move |_, connection| reply(connection, status, ""));
        let code = &status[..3];
        let left = quietly(&server.url(), &["--json", "-"]).exits(1).says(&["failed:", "no op"]);
        assert!(left.stderr.contains(&format!("{code} × {attempts}")), "{}", left.stderr);
        let result = left.json();
        assert_eq!(count(&result, "/failures/0/status").to_string(), code);
        assert_eq!(count(&result, "/failures/0/attempts"), attempts);
        assert!(result["failures"][0]["kind"].is_null() && result["failures"][1].is_null());
        let for_good = if attempts == 20 { 20 } else { 0 };
        assert_eq!(count(&result, "/ops/failed_for_good"), for_good, "{status}");
        assert_conserved(&result);
    }
}

#[test]
fn a_server_that_would_switch_protocols_did_not_serve() {
    let server = ForeignServer::start(|_, connection| {
        connection
            .write_all(b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n")?;
        connection.flush()
    });
    quietly(&server.url(), &[]).exits(1).says(&["20 of 20 ops failed for good", "101 × 20"]);
}

/// Unless no op succeeds.
#[test]
fn one_op_failed_for_good_exits_1_but_rejected_ops_do_not() {
    let server = ForeignServer::start(|number, connection| match number {
        3 => reply(connection, "404 Not Found", ""),
        _ => reply(connection, "200 OK", ""),
    });
    quietly(&server.url(), &[]).exits(1).says(&["1 of 20 ops failed for good (404 × 1)"]);

    for status in ["503 Service Unavailable", "429 Too Many Requests"] {
        let server = ForeignServer::start(move |number, connection| match number {
            0 => reply(connection, "200 OK", ""),
            _ => reply(connection, status, ""),
        });
        assert_eq!(quietly(&server.url(), &[]).exits(0).stderr, "", "{status}");
        let base = [
            "--target",
            &server.url(),
            "-s",
            "aimd",
            "--ops",
            "5",
            "--rate",
            "1000/s",
            "--max-attempts",
            "1",
        ];
        let none = loadgen(&base).exits(1);
        assert!(none.stdout.contains("none of 5 ops done, 5 given up after "), "{}", none.stdout);
    }
}

fn failing_first(failures: usize, closes: bool) -> ForeignServer {
    ForeignServer::start(move |number, connection| match number {
        _ if number < failures && closes => hang_up(),
        _ if number < failures => reply(connection, "502 Bad Gateway", ""),
        _ => reply(connection, "200 OK", ""),
    })
}

/// Whether the strategy, `--retry-failed` or `--max-attempts` gave them up.
#[test]
fn more_than_a_tenth_of_ops_ended_by_failures_exits_1() {
    for give_up in [
        &["-s", "none"][..],
        &["-s", "constant", "--retry-failed", "false"],
        &["-s", "aimd", "--max-attempts", "1"],
    ] {
        let load = ["--ops", "20", "--rate", "1000/s", "-q", "--json", "-"];
        let run =
            |server: ForeignServer| loadgen(&[&["--target", &server.url()][..], &load, give_up].concat());
        for (closes, cause) in [(false, "502"), (true, "closed without an answer")] {
            let at_most = run(failing_first(2, closes)).exits(0);
            assert_eq!(at_most.stderr, "");
            let left = run(failing_first(3, closes)).exits(1);
            let result = left.json();
            assert_eq!((count(&result, "/ops/failed"), count(&result, "/ops/failed_for_good")), (3, 0));
            left.says(&[&format!("3 of 20 ops ended with a failure (mostly {cause})")]);
        }
    }
}

/// Half of the ops take longer than the timeout, each time.
const HALF: [&str; 11] = [
    "--simulate",
    "--ops",
    "200",
    "--service-time",
    "uniform(200ms,800ms)",
    "--timeout",
    "600ms",
    "--max-busy",
    "1000",
    "-q",
    "-s",
];

/// Configured are losses, faults and outages. Ops ended by a deadline do not count either.
#[test]
fn ops_ended_by_timeouts_exit_1_unless_these_are_configured() {
    let left = loadgen(&[&HALF[..], &["none", "--json", "-"]].concat()).exits(1);
    let failed = count(&left.json(), "/ops/failed");
    assert!((70..130).contains(&failed), "{failed}");
    left.says(&[&format!("{failed} of 200 ops ended with a failure (mostly timeout)")]);
    // These ops are retried forever, and the run stalls.
    let stalled = loadgen(&[&HALF[..], &["constant", "--json", "-"]].concat()).exits(1).json();
    assert!(!stalled["stalled_at_s"].is_null());
    assert_eq!(count(&stalled, "/ops/failed"), count(&stalled, "/ops/unfinished"));
    for configured in [
        &["--loss", "1%"][..],
        &["--fault", "502:1%"],
        &["--outages", "100s..101s"],
        &["--schedule", "100s..101s down"],
        &["--deadline", "500ms"],
    ] {
        loadgen(&[&HALF[..], &["none"], configured].concat()).exits(0);
    }
    // Rejections are results, whatever their number.
    loadgen(&["--simulate", "--ops", "200", "-s", "none", "--max-busy", "10", "-q"]).exits(0);
}

/// The same holds for sweeps. More than a tenth of the ops is too often.
#[test]
fn comparisons_exit_1_only_if_every_strategy_fails_too_often() {
    // In the queue of a server with unbounded waiting, attempts time out unless a window keeps them out of it.
    let queue = ["--policy", "concurrency:cap=10,queue=1000,queue-timeout=1h", "--service-time", "100ms"];
    let compare = |strategies: &str| {
        let base = ["compare", "--simulate", "--ops", "500", "--repeats", "2", "--timeout", "1s", "-q"];
        loadgen(&[&base[..], &queue, &["--strategies", strategies]].concat())
    };
    compare("none,fixed-window:window=10").exits(0);
    compare("none,full-jitter:max-attempts=1")
        .exits(1)
        .says(&["and more than 10 % of the ops of every other strategy failed"]);
    let both = ["compare", "--strategies", "none,immediate"];
    let simulated = [
        "--simulate",
        "--ops",
        "200",
        "--service-time",
        "uniform(200ms,800ms)",
        "--max-busy",
        "1000",
        "--repeats",
        "2",
    ];
    let too_short = ["--timeout", "600ms", "-q"];
    loadgen(&[&both[..], &simulated, &too_short].concat())
        .exits(1)
        .says(&["of the ops of every other strategy failed"]);
    let vary = ["sweep", "--strategies", "none", "--vary", "ops=100,200"];
    let simulated =
        ["--simulate", "--service-time", "uniform(200ms,800ms)", "--max-busy", "1000", "--repeats", "2"];
    loadgen(&[&vary[..], &simulated, &too_short].concat()).exits(1).says(&["ended with a failure"]);
}

#[test]
fn an_answer_during_the_warm_up_is_an_answer() {
    let server = ForeignServer::start(|number, connection| match number {
        0 => hang_up(),
        _ => reply(connection, "200 OK", ""),
    });
    quietly(&server.url(), &["--warm-up", "1h"]).exits(0);
}

#[test]
fn kinds_of_errors_are_distinguished() {
    let hangs_up = ForeignServer::start(|_, _| hang_up());
    let garbage = ForeignServer::start(|_, connection| {
        connection.write_all(b"\0\x01\x02 this is no HTTP\r\n\r\n")?;
        hang_up()
    });
    let half = ForeignServer::start(|_, connection| {
        connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")?;
        connection.flush()?;
        hang_up()
    });
    let headers = ForeignServer::start(|_, connection| {
        let many = "x: 1\r\n".repeat(201);
        write!(connection, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n{many}\r\n")?;
        connection.flush()
    });
    // No connection is accepted: they stay in the listener's backlog.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_url = format!("http://{}/", silent.local_addr().unwrap());
    // Long enough for a busy machine. Only the case of the timeout itself uses a shorter one.
    let patient = "20s";
    for (exit, url, timeout, kind, words) in [
        (69, hangs_up.url(), patient, "closed", "closed without an answer × 40"),
        (1, garbage.url(), patient, "unreadable", "no HTTP × 40"),
        (1, half.url(), patient, "truncated", "cut off in mid-answer × 40"),
        (1, headers.url(), patient, "long-headers", "too many or too long headers × 40"),
        (69, silent_url, "200ms", "timeout", "timeout × 40"),
    ] {
        let left = quietly(&url, &["--timeout", timeout, "--json", "-"]).exits(exit).says(&[words]);
        let result = left.json();
        assert_eq!(result["failures"][0]["kind"], kind);
        assert_eq!(count(&result, "/failures/0/attempts"), 40);
        assert!(result["failures"][0]["status"].is_null());
    }
}

#[test]
fn every_sample_carries_its_status_or_its_kind_of_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("samples.ndjson");
    let samples = ["--samples", file.to_str().unwrap(), "--strategy", "immediate"];
    let server = ForeignServer::start(|number, connection| match number {
        0 => reply(connection, "429 Too Many Requests", ""),
        1 => hang_up(),
        2 => reply(connection, "502 Bad Gateway", ""),
        _ => reply(connection, "204 No Content", ""),
    });
    let base = ["--target", &server.url(), "--ops", "1", "--in-flight", "1", "-q"];
    loadgen(&[&base[..], &samples].concat()).exits(0);
    let told = |text: &str| -> Vec<(serde_json::Value, serde_json::Value)> {
        let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines.map(|line| (line["status"].clone(), line["kind"].clone())).collect()
    };
    let null = serde_json::Value::Null;
    let seen = told(&std::fs::read_to_string(&file).unwrap());
    let expected = [
        (429.into(), null.clone()),
        (null.clone(), "closed".into()),
        (502.into(), null.clone()),
        (204.into(), null.clone()),
    ];
    assert_eq!(seen, expected);

    let simulated = ["--simulate", "--ops", "1", "--reject-first", "1", "--reject-status", "420", "-q"];
    loadgen(&[&simulated[..], &samples].concat()).exits(0);
    let seen = told(&std::fs::read_to_string(&file).unwrap());
    assert_eq!(seen, [(420.into(), null.clone()), (200.into(), null)]);
}

#[test]
fn repeats_comparisons_and_sweeps_without_success_exit_1() {
    let rejected = ["--simulate", "--ops", "5", "--reject-first", "1", "-q"];
    loadgen(&[&rejected[..], &["-s", "none"]].concat())
        .exits(1)
        .says(&["no op of 5 succeeded (rejected × 5)"]);
    let repeated = loadgen(&[&rejected[..], &["-s", "none", "--repeats", "3"]].concat()).exits(1);
    repeated.says(&["3 of 3 runs failed", "none, seed 1: no op"]);
    let strategies = ["--strategies", "none,aimd", "--repeats", "2"];
    let compared = loadgen(&[&["compare"], &rejected[..], &strategies].concat()).exits(1);
    compared.says(&["2 of 4 runs failed"]);
    let vary = ["--strategies", "none", "--vary", "ops=2,3", "--repeats", "2"];
    let rejected = ["--simulate", "--reject-first", "1", "-q"];
    loadgen(&[&["sweep"], &rejected[..], &vary].concat()).exits(1).says(&["runs failed"]);
}

/// The exit code of a failed check, 99, takes precedence over 1.
#[test]
fn a_stall_on_rejections_exits_0() {
    let stalled = ["--simulate", "-s", "immediate", "-q"];
    let left = loadgen(&[&stalled[..], &["--json", "-"]].concat()).exits(0);
    assert_eq!(left.stderr, "");
    let result = left.json();
    assert!(!result["stalled_at_s"].is_null() && count(&result, "/ops/failed_for_good") == 0);
    let nothing = ["--simulate", "--ops", "5", "--reject-first", "1", "-s", "none", "-q"];
    let checked = ["--fail-if", "ops.succeeded < 5"];
    loadgen(&[&nothing[..], &checked].concat())
        .exits(99)
        .says(&["no op of 5 succeeded", "ops.succeeded < 5"]);
}
