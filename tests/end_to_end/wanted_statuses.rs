//! `--success`: statuses that count as successes.

use super::foreign_server::{ForeignServer, reply};
use crate::support::{Folder, Left, MockServer, assert_conserved, count, loadgen, measure};

const STATUSES: [&str; 5] =
    ["200 OK", "404 Not Found", "429 Too Many Requests", "302 Found", "500 Internal Server Error"];

/// Server that sends each of the five statuses in turn.
fn server() -> ForeignServer {
    ForeignServer::start(|number, connection| reply(connection, STATUSES[number % 5], "slow down"))
}

fn run(url: &str, more: &[&str]) -> Left {
    let base = ["--target", url, "--ops", "20", "--rate", "1000/s", "-s", "none", "-q", "--json", "-"];
    loadgen(&[&base[..], more].concat())
}

#[test]
fn listed_statuses_succeed_and_all_others_fail() {
    for transport in ["hyper", "reqwest"] {
        for (list, exit, succeeded, rejected, failed_for_good) in [
            ("200-299", 1, 4, 4, 8),
            ("200-399,404", 1, 12, 4, 0),
            ("404", 1, 4, 4, 8),
            ("200-599", 0, 16, 4, 0),
            ("200-599,429", 0, 20, 0, 0),
        ] {
            let server = server();
            let result =
                run(&server.url(), &["--transport", transport, "--success", list]).exits(exit).json();
            assert_eq!(count(&result, "/ops/succeeded"), succeeded, "{transport} {list}");
            assert_eq!(count(&result, "/attempts/rejected"), rejected, "{transport} {list}");
            assert_eq!(count(&result, "/ops/failed_for_good"), failed_for_good, "{transport} {list}");
            assert_eq!(result["config"]["workload"]["success"], list);
            assert_conserved(&result);
        }
    }
}

#[test]
fn listed_rejections_win_over_ranges_and_words_over_all() {
    for (list, rejected_when, succeeded, rejected) in [
        ("200-499", "404", 8, 8),
        ("200-499,404", "404", 12, 4),
        ("200-599,200,404", "body:slow-down", 0, 20),
    ] {
        let server = server();
        let left = run(&server.url(), &["--success", list, "--rejected-when", rejected_when]);
        let result = left.json();
        assert_eq!(count(&result, "/ops/succeeded"), succeeded, "{list} {rejected_when}");
        assert_eq!(count(&result, "/attempts/rejected"), rejected, "{list} {rejected_when}");
    }
}

#[test]
fn a_mockservers_verdict_wins() {
    for (server_flags, success) in
        [(&["--reject-first", "1"][..], "503"), (&["--reject-first", "1", "--reject-status", "404"], "404")]
    {
        let server = MockServer::start(&[server_flags, &["--time-scale", "0.05"]].concat());
        let base = ["--target", &server.url(), "--time-scale", "0.05", "--ops", "10", "-s", "immediate"];
        let result = measure(&[&base[..], &["--success", success]].concat());
        assert_eq!((count(&result, "/ops/succeeded"), count(&result, "/attempts/rejected")), (10, 10));
        assert_conserved(&result);
    }
}

#[test]
fn comparisons_sweeps_and_merged_shards_keep_the_statuses() {
    let folder = Folder::new();
    let server = server();
    let url = server.url();
    let target = format!("--target {url} --ops 5 --in-flight 1 --repeats 1 -q");
    let load = format!("{target} --success 200-599,429");
    let json = |name: &str| -> serde_json::Value { serde_json::from_str(&folder.read(name)).unwrap() };
    folder.loadgen(&format!("compare --strategies none,immediate {load} --json c.json")).exits(0);
    for strategy in 0..2 {
        let run = &json("c.json")["runs"][strategy];
        assert_eq!(run["config"]["workload"]["success"], "200-599,429");
        assert_eq!(run["ops"]["succeeded"], 5);
    }
    folder.loadgen(&format!("sweep --strategies none --vary clients=1,2 {load} --json s.json")).exits(0);
    assert!(folder.read("s.json").contains(r#""success":"200-599,429""#));
    folder.loadgen(&format!("{load} -s none --shard 0/1 --json 0.json")).exits(0);
    folder.loadgen("merge 0.json -o m.json -q").exits(0);
    assert!(folder.read("m.json").contains(r#""success":"200-599,429""#));
    folder.loadgen(&format!("sweep --strategies none --vary success=200-599,302 {target}")).exits(1);
}

#[test]
fn lists_without_a_meaning_are_refused() {
    let refused = |args: &[&str], words: &str| {
        loadgen(&[args, &["--success", "404"]].concat()).exits(2).says(&["`--success`", words]);
    };
    refused(&["--simulate"], "`--simulate`");
    refused(&["compare", "--simulate", "--strategies", "none,aimd"], "`--simulate`");
    refused(&["sweep", "--simulate", "--strategies", "none", "--vary", "ops=1,2"], "`--simulate`");
    refused(&["--kind", "read-modify-write"], "`--kind read-modify-write`");
    refused(&["recommend", "-s", "aimd", "--in-flight", "4"], "`loadgen recommend`");
    let vary = ["sweep", "--simulate", "--strategies", "none", "--vary", "success=200,404"];
    loadgen(&vary).exits(2).says(&["`--success`", "`--simulate`"]);
    for list in ["99", "600", "200-", "500-400", "abc", "", "200,,404"] {
        let wrong = ["--target", "http://127.0.0.1:9/", "--rate", "9/s", "--success", list];
        loadgen(&wrong).exits(2).says(&["--success", "such as `200-399,404`"]);
    }
}
