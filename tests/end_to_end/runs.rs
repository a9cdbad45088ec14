//! Successful runs: their outputs, the content of the result, and agreement of client and server.

use serde_json::Value;

use crate::support::{assert_conserved, count, figure, loadgen, measure};

/// Keys that other programs rely on.
const FIXED_KEYS: &[&str] = &[
    "/schema_version",
    "/mode",
    "/strategy",
    "/seed",
    "/config/server",
    "/ops/total",
    "/ops/succeeded",
    "/ops/given_up",
    "/ops/unfinished",
    "/ops/deferred",
    "/attempts/total",
    "/attempts/succeeded",
    "/attempts/rejected",
    "/attempts/failed",
    "/attempts/cancelled",
    "/attempts/shed",
    "/amplification",
    "/efficiency",
    "/makespan_s",
    "/optimal_makespan_s",
    "/goodput_per_s",
    "/stalled_at_s",
    "/server/received",
    "/server/reads",
    "/server/accepted",
    "/server/rejected",
    "/server/max_busy_seen",
    "/server/max_accepted_seen",
    "/generator/send_lag_ms/p50",
    "/generator/send_lag_ms/p99",
    "/generator/send_lag_ms/max",
    "/generator/cpu_s",
    "/generator/peak_rss_bytes",
    "/series/0/t_s",
    "/series/0/sent",
    "/series/0/succeeded",
    "/series/0/rejected",
    "/series/0/in_flight",
    "/series/0/window",
    "/series/0/ssthresh",
    "/series/0/server_busy",
    "/wall_s",
];

const SHORT: &[&str] = &["--max-busy", "10", "--ops", "100", "--time-scale", "0.05"];

#[test]
fn a_run_over_http_has_about_the_outcome_of_virtual_time() {
    let args = ["--strategy", "aimd", "--ops", "2000", "--max-busy", "50", "--time-scale", "0.2"];
    // No attempt times out, however busy the machine is.
    let result = measure(&[&args[..], &["--timeout", "1h"]].concat());
    assert_eq!(count(&result, "/ops/succeeded"), 2000);
    // In virtual time it takes 2088 attempts and 25.2 s. Other load on the machine adds to both, and a wrong driver is off by factors.
    // Replayed logs show that it makes exactly the same decisions as in virtual time. The upper limits grow with the time that this
    // machine added to attempts of 600 ms.
    let slower = 1.0 + figure(&result, "/generator/excess_ms/mean") / 600.0;
    let attempts = count(&result, "/attempts/total") as f64;
    assert!((2030.0..=2900.0 * slower).contains(&attempts), "{}, {slower}", result["attempts"]);
    assert!((24.0..36.0 * slower).contains(&figure(&result, "/makespan_s")), "{}", result["makespan_s"]);
    assert!((20.0..20.3).contains(&figure(&result, "/optimal_makespan_s")));
    assert_eq!(count(&result, "/attempts/total"), count(&result, "/server/received"));
    assert_eq!(count(&result, "/attempts/rejected"), count(&result, "/server/rejected"));
    assert_eq!(count(&result, "/server/accepted"), 2000);
    assert_eq!(count(&result, "/server/max_accepted_seen"), 50);
    assert_conserved(&result);
    assert!((1..=600).contains(&result["series"].as_array().unwrap().len()));
}

#[test]
fn machine_output_on_stdout_moves_the_summary_to_stderr() {
    let left = loadgen(&[SHORT, &["--json", "-"]].concat()).exits(0).says(&["aimd: all 100 ops done in "]);
    let result = left.json();
    for key in FIXED_KEYS {
        assert!(result.pointer(key).is_some(), "no `{key}` in {result}");
    }
    for latency in ["op_latency_ms", "attempt_latency_ms"] {
        for key in ["count", "min", "mean", "stdev", "p50", "p75", "p90", "p95", "p99", "p999", "max"] {
            assert!(result[latency][key].is_number(), "{latency}.{key}: {}", result[latency]);
        }
    }
    assert_eq!(
        (result["mode"].as_str(), result["config"]["server"].as_str()),
        (Some("http"), Some("embedded"))
    );
    assert_eq!(result["stalled_at_s"], Value::Null);
    assert_conserved(&result);
}

/// It has at most 80 columns, and no colours in a pipe.
#[test]
fn without_machine_output_the_summary_is_on_stdout() {
    let left = loadgen(SHORT).exits(0).says(&["embedded mockserver at http://127.0.0.1:"]);
    for words in [
        "aimd: all 100 ops done in ",
        "no client can be faster than",
        "the server received exactly what was sent",
    ] {
        assert!(left.stdout.contains(words), "no `{words}` in {}", left.stdout);
    }
    for line in left.stdout.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
    assert!(!left.stdout.contains('\u{1b}'), "no colours into a pipe");
}

#[test]
fn a_quiet_run_says_nothing_at_all() {
    for more in [&[][..], &["--explain"]] {
        let left = loadgen(&[SHORT, &["--quiet"], more].concat()).exits(0);
        assert_eq!((left.stdout.as_str(), left.stderr.as_str()), ("", ""));
    }
}

#[test]
fn a_result_goes_to_a_file_and_leaves_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("result.json");
    let left = loadgen(&[SHORT, &["--json", file.to_str().unwrap()]].concat()).exits(0);
    assert!(left.stdout.contains("ops done in"), "the summary stays on stdout");
    let result: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(count(&result, "/ops/succeeded"), 100);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_closed_loop_never_has_more_in_flight_than_it_may() {
    let result = measure(&[
        "--strategy",
        "none",
        "--in-flight",
        "5",
        "--ops",
        "60",
        "--max-busy",
        "50",
        "--time-scale",
        "0.05",
    ]);
    assert_eq!(count(&result, "/attempts/total"), 60);
    assert_eq!(count(&result, "/server/received"), 60);
    assert_eq!(count(&result, "/server/max_busy_seen"), 5);
    // Twelve rounds of 600 ms.
    assert!((7.2..20.0).contains(&figure(&result, "/makespan_s")), "{}", result["makespan_s"]);
}

#[test]
fn repeats_use_the_seeds_that_follow() {
    let left =
        loadgen(&[SHORT, &["--repeats", "3", "--seed", "7", "--json", "-", "--quiet"]].concat()).exits(0);
    let document = left.json();
    let runs = document["runs"].as_array().unwrap();
    let seeds: Vec<u64> = runs.iter().map(|run| count(run, "/seed")).collect();
    assert_eq!(seeds, [7, 8, 9]);
    for run in runs {
        assert_eq!(count(run, "/ops/succeeded"), 100);
        assert_eq!(count(run, "/server/received"), count(run, "/attempts/total"));
        assert_conserved(run);
    }
}

#[test]
fn several_clients_have_a_window_each() {
    let strategy = ["--strategy", "fixed-window:window=3", "--arrivals", "burst", "--clients", "4"];
    let result =
        measure(&[&strategy[..], &["--ops", "48", "--max-busy", "50", "--time-scale", "0.05"]].concat());
    assert_eq!(count(&result, "/ops/succeeded"), 48);
    assert_eq!(count(&result, "/server/max_busy_seen"), 12);
    let shared = measure(
        &[&strategy[..], &["--share-strategy", "--ops", "24", "--max-busy", "50", "--time-scale", "0.05"]]
            .concat(),
    );
    assert_eq!(count(&shared, "/server/max_busy_seen"), 3);
}

#[test]
fn a_duration_limits_arrivals_and_the_run_drains() {
    let result = measure(&[
        "--duration",
        "2s",
        "--rate",
        "50/s",
        "--arrivals",
        "uniform",
        "--max-busy",
        "50",
        "--time-scale",
        "0.2",
    ]);
    assert_eq!(count(&result, "/ops/total"), 100);
    assert_eq!(count(&result, "/ops/succeeded"), 100);
    assert!((2.5..7.0).contains(&figure(&result, "/makespan_s")), "{}", result["makespan_s"]);
}
