//! `compare` and `sweep` against a running server: a mockserver at a URL, or any other.

use super::foreign_server::{ForeignServer, hang_up, reply};
use crate::support::{Left, MockServer, assert_conserved, count, loadgen, measure};

const STRATEGIES: [&str; 2] = ["--strategies", "aimd,full-jitter"];

fn refused(args: &[&str], words: &[&str]) {
    let left = loadgen(args).exits(2).says(words);
    assert_eq!(left.stdout, "");
}

#[test]
fn a_comparison_runs_its_blocks_against_the_given_mockserver() {
    let server = MockServer::start(&["--max-busy", "10", "--time-scale", "0.05"]);
    let url = server.url();
    let args = ["compare", "--target", &url, "--time-scale", "0.05", "--ops", "40", "--repeats", "2"];
    let result = measure(&[&args[..], &STRATEGIES].concat());
    let runs = result["runs"].as_array().expect("runs are a list");
    assert_eq!(runs.len(), 4);
    for run in runs {
        assert_eq!(
            (&run["config"]["server"], &run["config"]["target"]),
            (&url.as_str().into(), &url.as_str().into())
        );
        assert_eq!(count(run, "/config/server_model/max_busy"), 10);
        assert_eq!(count(run, "/server/received"), count(run, "/attempts/total"));
        assert!(run["optimal_makespan_s"].is_number(), "its model is known");
        assert_conserved(run);
    }
    let sent: u64 = runs.iter().map(|run| count(run, "/attempts/total")).sum();
    assert_eq!(count(&server.stats(), "/received"), sent, "nobody else was asked");
    assert_eq!(result["comparison"]["intervals"], "over seeds, for this server model");
}

/// A sweep of the server is refused.
#[test]
fn a_sweep_of_the_workload_runs_against_the_given_mockserver() {
    let server = MockServer::start(&["--max-busy", "10", "--time-scale", "0.05"]);
    let url = server.url();
    let args = ["sweep", "--target", &url, "--time-scale", "0.05", "--vary", "ops=10,20", "--repeats", "1"];
    let result = measure(&args);
    let ops: Vec<u64> =
        result["runs"].as_array().expect("a list").iter().map(|run| count(run, "/ops/succeeded")).collect();
    assert_eq!(ops, [10, 20]);
    assert_eq!(result["sweep"]["config"]["target"], url.as_str());
    assert!(count(&server.stats(), "/received") >= 30);
    refused(
        &["sweep", "--target", &url, "--vary", "max-busy=5,10"],
        &["`--vary max-busy`", "embedded server", "a server of `--target` cannot be changed"],
    );
}

#[test]
fn a_foreign_server_has_no_bound_and_gets_the_given_request() {
    let server = ForeignServer::start(|_, connection| reply(connection, "200 OK", "done"));
    let url = server.url();
    let request = ["-m", "PUT", "-H", "Authorization: Bearer x", "-d", "a=b"];
    let args = ["compare", "--target", &url, "--ops", "3", "--rate", "100/s", "--repeats", "2"];
    let result = measure(&[&args[..], &STRATEGIES, &request].concat());
    let runs = result["runs"].as_array().expect("runs are a list");
    assert_eq!(runs.len(), 4);
    for run in runs {
        assert!(run["optimal_makespan_s"].is_null() && run["server"].is_null(), "{run}");
        assert!(run["config"]["server_model"].is_null());
        assert_eq!(run["config"]["target"], url.as_str());
    }
    let work = server.work();
    assert_eq!(work.len(), 12);
    assert!(work.iter().all(|asked| asked.line == "PUT / HTTP/1.1" && asked.body == "a=b"), "{work:?}");
    assert!(work.iter().all(|asked| asked.header("authorization") == Some("Bearer x")));
    assert!(!result.to_string().contains("Bearer x"));

    let sweep =
        ["sweep", "--target", &url, "--ops", "2", "--vary", "rate=50/s,100/s", "--repeats", "1", "--explain"];
    let left: Left = loadgen(&sweep).exits(0).says(&["server at http://"]);
    assert!(left.stdout.contains("against this server"), "{}", left.stdout);
}

#[test]
fn a_foreign_server_needs_an_explicit_load_at_every_point() {
    let server = ForeignServer::start(|_, connection| reply(connection, "200 OK", ""));
    let url = server.url();
    let words = [url.as_str(), "not a mockserver", "--rate", "--in-flight"];
    refused(&[&["compare", "--target", &url][..], &STRATEGIES].concat(), &words);
    refused(&["sweep", "--target", &url, "--vary", "ops=1,2"], &words);
    refused(&["sweep", "--target", &url, "--ops", "2", "--vary", "arrivals=burst,poisson"], &words);
    assert_eq!(server.work().len(), 0);
}

#[test]
fn what_does_not_go_with_a_target_is_refused_in_clear_words() {
    let server = MockServer::start(&["--time-scale", "0.05"]);
    let url = server.url();
    let compare = |more: &[&str], words: &[&str]| {
        refused(&[&["compare", "--target", &url][..], &STRATEGIES, more].concat(), words);
    };
    compare(&["--max-busy", "5"], &["server flags", "`--target` names another"]);
    compare(&["--sensitivity", "--time-scale", "0.05"], &["`--sensitivity`", "`--target`", "leave out"]);
    compare(&["--simulate"], &["--target", "--simulate"]);
    compare(&[], &["time scale 0.05", "--time-scale 0.05"]);
    for flag in [&["-H", "a: b"][..], &["-d", "x"], &["-k"], &["--admin-token", "x"]] {
        refused(&[&["compare", "--simulate"][..], &STRATEGIES, flag].concat(), &["--simulate"]);
    }
    let foreign = ForeignServer::start(|_, connection| reply(connection, "200 OK", ""));
    let args = ["compare", "--target", &foreign.url(), "--rate", "9/s", "--strategies", "oracle,aimd"];
    refused(&args, &["oracle"]);
    let dead = ["compare", "--target", "http://127.0.0.1:1", "--rate", "9/s", "--strategies", "none,aimd"];
    loadgen(&dead).exits(69).says(&["no server responds"]);
}

#[test]
fn a_comparison_without_any_response_fails_with_a_reason() {
    let server = ForeignServer::start(|_, _| hang_up());
    let args = ["compare", "--target", &server.url(), "--ops", "2", "--rate", "100/s", "--repeats", "1"];
    let more = ["--max-attempts", "2", "--quiet"];
    loadgen(&[&args[..], &STRATEGIES, &more].concat())
        .exits(69)
        .says(&["no attempt received a response", "--target"]);
}

#[test]
fn conditions_and_baselines_judge_a_comparison_of_a_target() {
    let server = MockServer::start(&["--max-busy", "10", "--time-scale", "0.05"]);
    let other = MockServer::start(&["--max-busy", "11", "--time-scale", "0.05"]);
    let folder = tempfile::tempdir().unwrap();
    let baseline = folder.path().join("then.json").to_str().unwrap().to_owned();
    let run = |url: &str, more: &[&str]| {
        let args = ["compare", "--target", url, "--time-scale", "0.05", "--ops", "20", "--repeats", "1"];
        loadgen(&[&args[..], &STRATEGIES, more].concat())
    };
    run(&server.url(), &["--save-baseline", &baseline]).exits(0);
    // The verdict on such short runs is random. The test checks only that they can be compared.
    let again = run(&server.url(), &["--baseline", &baseline, "--noise", "99%"]);
    assert!(again.stderr.contains("against baseline") && again.code != Some(2), "{again:?}");
    run(&other.url(), &["--baseline", &baseline]).exits(2).says(&["max_busy is 11, there 10"]);
    run(&server.url(), &["--fail-if", "ops.succeeded >= 20"]).exits(99);
}
