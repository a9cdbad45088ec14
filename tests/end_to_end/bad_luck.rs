//! A server that dies during a run and may come back, and runs that stall: no measurement is lost.

use rustix::process::Signal;

use crate::support::{MockServer, assert_conserved, count, eventually, loadgen, request, start_loadgen};

const SERVER: &[&str] = &["--max-busy", "10", "--time-scale", "0.1"];

/// Kills the server after it has received some of the run's requests, and before it can have received all.
fn kill_in_mid_run(server: MockServer) -> String {
    eventually("ops are served", || (count(&server.stats(), "/accepted") > 20).then_some(()));
    let address = server.address.to_string();
    server.signal(Signal::KILL);
    assert_eq!(server.finish().code, None, "it was killed");
    address
}

#[test]
fn a_server_killed_and_restarted_in_mid_run_is_used_again() {
    let server = MockServer::start(SERVER);
    let url = server.url();
    let run =
        start_loadgen(&["--target", &url, "--time-scale", "0.1", "--ops", "200", "--no-tui", "--json", "-"]);
    let address = kill_in_mid_run(server);
    let restarted = MockServer::listen(&address, SERVER);
    let left = run.finish().exits(0).says(&["restarted during the run", "not compared"]);
    let result = left.json();
    assert_eq!(count(&result, "/ops/succeeded"), 200);
    assert!(count(&result, "/attempts/failed") > 0, "{}", result["attempts"]);
    assert!(result["server"].is_null());
    assert!(result["warnings"][0].as_str().is_some_and(|warning| warning.contains("restarted")));
    assert_conserved(&result);
    let after = count(&restarted.stats(), "/accepted");
    assert!((1..200).contains(&after), "{after} were left for the restarted server");
}

#[test]
fn a_server_that_is_reset_in_mid_run_is_no_mismatch() {
    let server = MockServer::start(SERVER);
    let url = server.url();
    let run =
        start_loadgen(&["--target", &url, "--time-scale", "0.1", "--ops", "200", "--no-tui", "--json", "-"]);
    eventually("ops are served", || (count(&server.stats(), "/accepted") > 20).then_some(()));
    request(server.address, "POST", "/_mock/reset", "");
    let left = run.finish().exits(0).says(&["reset during the run", "not compared"]);
    assert_eq!(count(&left.json(), "/ops/succeeded"), 200);
}

#[test]
fn a_server_changed_during_the_run_leaves_no_lower_bound() {
    let server = MockServer::start(SERVER);
    let url = server.url();
    let run =
        start_loadgen(&["--target", &url, "--time-scale", "0.1", "--ops", "200", "--no-tui", "--json", "-"]);
    eventually("ops are served", || (count(&server.stats(), "/accepted") > 20).then_some(()));
    request(server.address, "PATCH", "/_mock/config", r#"{"service_time":"400ms"}"#);
    let left = run.finish().exits(0).says(&["was changed during the run"]);
    assert!(left.json()["optimal_makespan_s"].is_null());
}

#[test]
fn a_reverted_change_leaves_no_lower_bound_either() {
    let server = MockServer::start(SERVER);
    let url = server.url();
    let run = start_loadgen(&[
        "--target",
        &url,
        "--time-scale",
        "0.1",
        "--ops",
        "200",
        "--no-tui",
        "--json",
        "-",
        "--explain",
    ]);
    eventually("ops are served", || (count(&server.stats(), "/accepted") > 20).then_some(()));
    // Ops with a service time close to zero make the run shorter than the bound for the original server.
    for change in [r#"{"service_time":"1ms"}"#, r#"{"service_time":"500ms"}"#] {
        request(server.address, "PATCH", "/_mock/config", change);
    }
    let left = run.finish().exits(0).says(&["was changed during the run", "no lower bound known"]);
    assert!(left.json()["optimal_makespan_s"].is_null());
}

/// The limit is a deadline or a number of attempts.
#[test]
fn a_killed_server_ends_a_limited_run_and_keeps_its_results() {
    // A window alone only probes a dead server, op by op. With a back-off, ops run out of attempts.
    let limits: [&[&str]; 2] =
        [&["--deadline", "20s"], &["--max-attempts", "5", "--strategy", "constant:delay=2s"]];
    for limit in limits {
        let server = MockServer::start(SERVER);
        let url = server.url();
        let args =
            ["--target", &url, "--time-scale", "0.1", "--ops", "200", "--rate", "200/s", "--json", "-"];
        let run = start_loadgen(&[&args[..], limit].concat());
        kill_in_mid_run(server);
        let left = run
            .finish()
            .exits(1)
            .says(&["the server's counts could not be compared", "ended with a failure"]);
        let result = left.json();
        assert_eq!(count(&result, "/ops/failed_for_good"), 0);
        assert_eq!(count(&result, "/ops/total"), 200);
        assert_eq!(count(&result, "/ops/unfinished"), 0);
        assert!(count(&result, "/ops/given_up") > 0, "{}", result["ops"]);
        assert!(count(&result, "/attempts/failed") > 0, "{}", result["attempts"]);
        assert_conserved(&result);
    }
}

#[test]
fn a_server_killed_for_good_stalls_a_run_without_a_limit() {
    let server = MockServer::start(&["--max-busy", "10", "--time-scale", "0.02"]);
    let url = server.url();
    let run = start_loadgen(&["--target", &url, "--time-scale", "0.02", "--ops", "2000", "--json", "-"]);
    kill_in_mid_run(server);
    let left = run.finish().exits(1).says(&["stalled", "ended with a failure (mostly connection refused)"]);
    let result = left.json();
    assert_eq!(count(&result, "/ops/failed"), count(&result, "/ops/unfinished"));
    assert!(result["stalled_at_s"].as_f64().is_some_and(|at| at > 60.0), "{}", result["stalled_at_s"]);
    assert!(count(&result, "/ops/unfinished") > 0);
    assert_conserved(&result);
}

#[test]
fn a_strategy_that_keeps_the_server_busy_with_rejections_stalls() {
    // Rejected ops hold slots most of the time, so about forty slots are always busy, where the limit is two.
    let left = loadgen(&[
        "--strategy",
        "immediate",
        "--ops",
        "50",
        "--arrivals",
        "burst",
        "--max-busy",
        "2",
        "--reject-time",
        "2s",
        "--service-time",
        "200ms",
        "--network-delay",
        "exp(500ms)",
        "--time-scale",
        "0.05",
        "--json",
        "-",
    ]);
    let left = left.exits(0).says(&["stalled"]);
    let result = left.json();
    let stalled_at = result["stalled_at_s"].as_f64().expect("the run stalls");
    assert!(stalled_at > 60.0, "{stalled_at}");
    assert!(count(&result, "/ops/unfinished") > 0);
    assert_eq!(count(&result, "/ops/succeeded"), count(&result, "/server/accepted"));
    assert_conserved(&result);
}
