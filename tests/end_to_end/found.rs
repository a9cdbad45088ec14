//! A server that was started separately: found by its URL, counted per run, and refused if its settings conflict.

use crate::support::{MockServer, assert_conserved, count, loadgen, measure};

#[test]
fn runs_against_one_server_each_see_only_their_own_counts() {
    let server = MockServer::start(&["--max-busy", "10", "--time-scale", "0.05"]);
    let url = server.url();
    let run = |ops: &str, strategy: &str| {
        measure(&["--target", &url, "--time-scale", "0.05", "--ops", ops, "--strategy", strategy])
    };
    let (first, second) = (run("80", "aimd"), run("40", "full-jitter"));
    for (result, ops) in [(&first, 80), (&second, 40)] {
        assert_eq!(result["config"]["server"], url.as_str());
        assert_eq!(count(result, "/server/accepted"), ops);
        assert_eq!(count(result, "/server/received"), count(result, "/attempts/total"));
        assert_conserved(result);
    }
    let all = server.stats();
    assert_eq!(
        count(&all, "/received"),
        count(&first, "/attempts/total") + count(&second, "/attempts/total")
    );
    assert_eq!(count(&all, "/accepted"), 120);
    assert_eq!(count(&all, "/busy"), 0);
}

#[test]
fn two_runs_at_once_share_the_server_and_not_the_counts() {
    let server = MockServer::start(&["--max-busy", "10", "--time-scale", "0.05"]);
    let url = server.url();
    let run = || measure(&["--target", &url, "--time-scale", "0.05", "--ops", "60"]);
    let results =
        std::thread::scope(|scope| [scope.spawn(run), scope.spawn(run)].map(|thread| thread.join().unwrap()));
    for result in results {
        assert_eq!(count(&result, "/ops/succeeded"), 60);
        assert_eq!(count(&result, "/server/received"), count(&result, "/attempts/total"));
    }
}

#[test]
fn a_server_of_another_time_scale_is_refused() {
    let server = MockServer::start(&["--time-scale", "0.5"]);
    let left = loadgen(&["--target", &server.url(), "--ops", "10"]).exits(2);
    assert_eq!(left.stdout, "");
    left.says(&["time scale 0.5", "--time-scale 0.5", &server.url()]);
    assert_eq!(count(&server.stats(), "/received"), 0);
}

#[test]
fn the_servers_model_yields_lower_bound_and_oracle_schedule() {
    let server = MockServer::start(&["--max-busy", "10", "--time-scale", "0.2"]);
    let result =
        measure(&["--target", &server.url(), "--time-scale", "0.2", "--ops", "100", "--strategy", "oracle"]);
    assert_eq!(count(&result, "/ops/succeeded"), 100);
    assert_eq!(count(&result, "/server/max_accepted_seen"), 10);
    let ratio = result["makespan_s"].as_f64().unwrap() / result["optimal_makespan_s"].as_f64().unwrap();
    assert!((1.0..1.8).contains(&ratio), "{ratio}");
}

#[test]
fn what_a_rejection_advises_is_heeded_in_experiment_time() {
    let server = MockServer::start(&[
        "--max-busy",
        "1",
        "--retry-after",
        "3s",
        "--reject-status",
        "420",
        "--time-scale",
        "0.05",
    ]);
    let args = ["--time-scale", "0.05", "--ops", "2", "--arrivals", "burst", "--strategy", "immediate"];
    let result = measure(&[&["--target", server.url().as_str()][..], &args].concat());
    // The second op is rejected once, waits for 3 s, and then finds the server free.
    assert_eq!((count(&result, "/attempts/total"), count(&result, "/attempts/rejected")), (3, 1));
    let makespan = result["makespan_s"].as_f64().unwrap();
    assert!((3.7..9.0).contains(&makespan), "{makespan}");
}
