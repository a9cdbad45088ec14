//! Shards of a run's clients: separate programs against one server, started by one barrier, and merged without losing an attempt.

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{
    Folder, MockServer, Program, assert_conserved, count, eventually, figure, loadgen, request, start_loadgen,
};

/// Starts one shard of the run described by `more`, with this server as target and barrier.
fn shard(server: &MockServer, place: &str, file: &str, more: &[&str]) -> Program {
    let url = server.url();
    let own = ["--client-shard", place, "--barrier", &url, "--target", &url, "--json", file, "--no-tui"];
    start_loadgen(&[&own[..], more].concat())
}

fn document(folder: &Folder, name: &str) -> Value {
    serde_json::from_str(&folder.read(name)).unwrap()
}

// No attempt times out, however busy the machine is.
const AIMD: &[&str] =
    &["--strategy", "aimd", "--ops", "2000", "--clients", "4", "--time-scale", "0.1", "--timeout", "1h"];

/// Each program has one client. Counts agree to the last attempt.
#[test]
fn four_client_shards_merge_into_one_run_that_adds_up() {
    let folder = Folder::new();
    let server = MockServer::start(&["--max-busy", "50", "--time-scale", "0.1"]);
    let files: Vec<String> =
        (0..4).map(|index| folder.path(&format!("{index}.json")).display().to_string()).collect();
    let programs: Vec<Program> = files
        .iter()
        .enumerate()
        .map(|(index, file)| {
            shard(&server, &format!("{index}/4"), file, &[AIMD, &["--progress", "ndjson"]].concat())
        })
        .collect();
    let left: Vec<_> = programs.into_iter().map(|program| program.finish().exits(0)).collect();
    let shards: Vec<Value> = (0..4).map(|index| document(&folder, &format!("{index}.json"))).collect();
    let runs: Vec<&Value> = shards.iter().map(|shard| &shard["tasks"][0]["run"]).collect();

    let whole = folder.path("whole.json").display().to_string();
    let args: Vec<&str> =
        ["merge", "-o", &whole].into_iter().chain(files.iter().rev().map(String::as_str)).collect();
    loadgen(&args).exits(0);
    let merged = document(&folder, "whole.json");
    let sum = |pointer: &str| runs.iter().map(|run| count(run, pointer)).sum::<u64>();
    for pointer in
        ["/ops/total", "/ops/succeeded", "/attempts/total", "/attempts/rejected", "/op_latency_ms/count"]
    {
        assert_eq!(count(&merged, pointer), sum(pointer), "{pointer}");
    }
    assert_eq!(count(&merged, "/ops/succeeded"), 2000);
    assert_conserved(&merged);
    let attempts = count(&merged, "/attempts/total");
    assert_eq!(count(&server.stats(), "/received"), attempts);
    assert_eq!(count(&merged, "/server/received"), attempts);
    let rows = merged["merged"]["rows"].as_array().unwrap();
    for (row, run) in rows.iter().zip(&runs) {
        assert_eq!(count(row, "/received"), count(run, "/attempts/total"));
        assert_eq!(count(row, "/accepted"), count(run, "/ops/succeeded"));
    }
    assert_eq!(rows.len(), 4);
    let ids: Vec<&Value> = runs.iter().map(|run| &run["shard"]["run"]).collect();
    assert!(ids.iter().all(|id| *id == ids[0]));
    // Each client has the same ops as in the whole run.
    assert_eq!(runs.iter().map(|run| count(run, "/ops/total")).collect::<Vec<_>>(), [500; 4]);
    assert_eq!(count(&merged, "/fairness/clients"), 4);
    assert!(figure(&merged, "/makespan_s") >= figure(&merged, "/optimal_makespan_s"));
    assert!(merged["window"]["settled_at_s"].is_null() && merged["fairness"]["jain"].is_null());
    let sent = merged["series"].as_array().unwrap().iter().map(|point| count(point, "/sent")).sum::<u64>();
    assert_eq!(sent, attempts);

    // Live figures add up to the result.
    for (left, run) in left.iter().zip(&runs) {
        let lines: Vec<Value> = left.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let told = |key: &str| lines.iter().map(|line| count(line, key)).sum::<u64>();
        assert_eq!(told("/ops_succeeded"), count(run, "/ops/succeeded"));
        assert_eq!(told("/attempts_sent"), count(run, "/attempts/total"));
        assert_eq!(told("/op_latency/count"), count(run, "/op_latency_ms/count"));
        assert_eq!(lines.iter().filter(|line| line["last"] == true).count(), 1);
        assert_eq!(lines.last().unwrap()["last"], true);
        for words in [": all 500 ops done in ", "the server received exactly what was sent"] {
            assert!(left.stderr.contains(words), "{}", left.stderr);
        }
    }

    // With a missing shard, a merge is refused unless it is `--partial`.
    let lost = &files[..3];
    let args: Vec<&str> =
        ["merge", "-o", &whole].into_iter().chain(lost.iter().map(String::as_str)).collect();
    loadgen(&args)
        .exits(2)
        .says(&["the clients of shard 3/4 are missing; `--partial` merges the shards that exist"]);
    assert_eq!(document(&folder, "whole.json"), merged, "nothing was written");
    let lacks = "incomplete: the clients of shard 3/4 are missing";
    let page = folder.path("whole.html").display().to_string();
    let partly = loadgen(&[&args[..], &["--partial", "--html", &page]].concat()).exits(1).says(&[lacks]);
    for words in ["lacks clients", "the clients of 1 of 4 shards are missing."] {
        assert!(folder.read("whole.html").contains(words), "{words}");
    }
    for words in ["of 3 of 4 shards done in", "without the clients of 3/4", "received exactly what was sent"]
    {
        assert!(partly.stdout.contains(words), "{}", partly.stdout);
    }
    let rest = document(&folder, "whole.json");
    assert!(rest["server"].is_null(), "it counted the lost one's, too");
    assert_eq!((count(&rest, "/ops/total"), &rest["merged"]["missing"]), (1500, &serde_json::json!([3])));
}

#[test]
fn one_interrupted_shard_makes_the_merged_run_interrupted() {
    let folder = Folder::new();
    let server = MockServer::start(&["--max-busy", "50", "--time-scale", "0.1"]);
    let files = ["0.json", "1.json"].map(|name| folder.path(name).display().to_string());
    let [stopped, other] = [0, 1].map(|index| shard(&server, &format!("{index}/2"), &files[index], AIMD));
    eventually("they have begun", || (count(&server.stats(), "/received") > 50).then_some(()));
    stopped.signal(Signal::TERM);
    stopped.finish().exits(143);
    other.finish().exits(0);
    let whole = folder.path("whole.json").display().to_string();
    let left = loadgen(&["merge", &files[0], &files[1], "-o", &whole, "-q"]).exits(143);
    assert!(!left.stderr.contains("failed for good"), "{}", left.stderr);
    assert_eq!(document(&folder, "whole.json")["interrupted"], "SIGTERM");
}

#[test]
fn every_repeat_has_a_barrier_and_a_run_of_its_own() {
    let folder = Folder::new();
    let server = MockServer::start(&["--max-busy", "50", "--time-scale", "0.1"]);
    let files = ["0.json", "1.json"].map(|name| folder.path(name).display().to_string());
    let more =
        ["--ops", "40", "--clients", "3", "--rate", "200/s", "--repeats", "2", "--time-scale", "0.1", "-q"];
    // Shards may use different numbers of threads.
    let threads = [["--threads", "1"], ["--threads", "2"]];
    let programs: Vec<_> = (0..2)
        .map(|index| {
            shard(&server, &format!("{index}/2"), &files[index], &[&more[..], &threads[index]].concat())
        })
        .collect();
    for program in programs {
        program.finish().exits(0);
    }
    let whole = folder.path("whole.json").display().to_string();
    loadgen(&["merge", &files[0], &files[1], "-o", &whole]).exits(0);
    let merged = document(&folder, "whole.json");
    let runs = merged["runs"].as_array().unwrap();
    assert_eq!(runs.iter().map(|run| count(run, "/ops/total")).collect::<Vec<_>>(), [40, 40]);
    assert_eq!(runs.iter().map(|run| count(run, "/seed")).collect::<Vec<_>>(), [1, 2]);
    assert_ne!(runs[0]["merged"]["run"], runs[1]["merged"]["run"]);
    assert_eq!(
        count(&server.stats(), "/received"),
        count(&runs[1], "/attempts/total"),
        "it was reset between"
    );
}

#[test]
fn a_barrier_that_does_not_fill_says_how_many_came() {
    let server = MockServer::start(&[]);
    let url = server.url();
    let args = ["--client-shard", "1/3", "--clients", "3", "--barrier", &url, "--target", &url];
    let left = loadgen(&[&args[..], &["--barrier-timeout", "10ms"]].concat()).exits(69);
    left.says(&["1 of 3 shards arrived", "missing: 0, 2", "--barrier"]);
    // A waiting shard keeps its number reserved, and a signal ends its wait.
    let waits = start_loadgen(&args);
    // A request without a number takes no shard's place.
    let unnumbered = "/_mock/barrier?run=seed-1&of=3&wait_ms=0";
    eventually("it waits", || {
        let came = request(server.address, "POST", unnumbered, "").body.contains("2 of 3 shards arrived");
        came.then_some(())
    });
    loadgen(&args).exits(2).says(&["1 of 3 is already waiting"]);
    // Shards that could not be merged do not start.
    for more in [["--ops", "7"], ["--strategy", "none"], ["--repeats", "2"], ["-m", "PUT"]] {
        let other = ["--client-shard", "0/3"];
        loadgen(&[&other[..], &args[2..], &more].concat())
            .exits(2)
            .says(&["so their results could not be merged"]);
    }
    waits.signal(Signal::INT);
    waits.finish().exits(130);
    assert_eq!(count(&server.stats(), "/received"), 0);
}

#[test]
fn a_later_barrier_that_does_not_fill_costs_no_finished_run() {
    let folder = Folder::new();
    let server = MockServer::start(&["--max-busy", "50", "--time-scale", "0.1"]);
    let files = ["0.json"].map(|name| folder.path(name).display().to_string());
    let repeats = ["--repeats", "2", "--barrier-timeout", "2s"];
    let more = ["--ops", "40", "--clients", "2", "--rate", "200/s", "--time-scale", "0.1"];
    let stays = shard(&server, "0/2", &files[0], &[&more[..], &repeats].concat());
    // The other shard comes to the first barrier only, and sends nothing.
    let come = "/_mock/barrier?run=seed-1&of=2&index=1";
    assert_eq!(request(server.address, "POST", come, "").status, 200);
    stays.finish().exits(69).says(&[
        "did not receive all shards in time",
        "1 of 2 shards arrived; missing: 1",
        "--barrier",
    ]);
    let tasks = document(&folder, "0.json")["tasks"].clone();
    assert_eq!(tasks.as_array().unwrap().len(), 1);
    assert_eq!(count(&tasks[0], "/run/ops/succeeded"), count(&tasks[0], "/run/ops/total"));
    let whole = folder.path("whole.json").display().to_string();
    loadgen(&["merge", &files[0], "-o", &whole, "--partial"]).exits(1).says(&["1/2", "1 of 2 runs"]);
    let merged = document(&folder, "whole.json");
    assert_eq!(merged["runs"].as_array().unwrap().len(), 1);
    assert_eq!(count(&merged, "/runs/0/ops/total"), count(&tasks[0], "/run/ops/total"));
}

#[test]
fn what_cannot_be_a_share_of_a_run_is_refused_with_the_reason() {
    let server = MockServer::start(&[]);
    let url = server.url();
    let given = ["--client-shard", "0/2", "--clients", "2", "--target", &url, "--barrier", &url];
    for (more, words) in [
        (&["--in-flight", "5"][..], "depends on the ops of other shards"),
        (&["--share-strategy"], "one strategy"),
        (&["--strategy", "oracle"], "one schedule for all clients"),
        (&["--fail-if", "amplification > 1"], "loadgen merge"),
        (&["--html", "page.html"], "loadgen merge"),
        (&["--simulate"], ""),
    ] {
        loadgen(&[&given[..], more].concat()).exits(2).says(&[words]);
    }
    let alone = |more: &[&str]| loadgen(&[&["--client-shard", "0/2"], more].concat()).exits(2);
    alone(&["--clients", "2"]).says(&["common start"]);
    alone(&["--barrier", &url, "--target", &url]).says(&["at least as many `--clients`"]);
    alone(&["--clients", "2", "--barrier", &url, "--max-busy", "9"]).says(&["server that all shards share"]);
    alone(&["--clients", "2", "--start-at", "0", "--run-id", "a"]).says(&["has passed"]);
    loadgen(&["--client-shard", "2/2", "--clients", "2", "--barrier", &url])
        .exits(2)
        .says(&["no shard 2 of 2"]);
    loadgen(&["--client-shard", "0/0", "--barrier", &url]).exits(2).says(&["the number of shards is 0"]);
    let nobody = ["--clients", "2", "--target", &url, "--barrier", "http://127.0.0.1:1"];
    loadgen(&[&["--client-shard", "0/2"], &nobody[..]].concat()).exits(69).says(&["--barrier"]);
}

/// Returns a time three seconds from now, in the format of `--start-at`.
fn soon() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    (now.as_secs() + 3).to_string()
}

#[test]
fn a_run_id_that_the_server_knows_from_another_run_is_refused() {
    let folder = Folder::new();
    let server = MockServer::start(&["--time-scale", "0.1"]);
    let (url, file) = (server.url(), folder.path("0.json").display().to_string());
    let run = |id: &str| {
        let args = ["--client-shard", "0/1", "--start-at", &soon(), "--run-id", id, "--target", &url];
        loadgen(&[&args[..], &["--ops", "20", "--time-scale", "0.1", "--json", &file]].concat())
    };
    run("a1").exits(0);
    let first = document(&folder, "0.json");
    let words = ["`00000000000000a1` (--run-id)", "a new id", "clocks"];
    run("a1").exits(2).says(&words);
    assert_eq!(document(&folder, "0.json"), first, "nothing was written");
    assert_eq!(count(&server.stats(), "/received"), count(&first, "/tasks/0/run/attempts/total"));
    request(server.address, "POST", "/_mock/reset", "");
    run("a1").exits(0);
}

#[test]
fn shards_with_a_start_time_report_how_late_they_were() {
    let folder = Folder::new();
    let server = MockServer::start(&["--time-scale", "0.1"]);
    let url = server.url();
    let files = ["0.json", "1.json"].map(|name| folder.path(name).display().to_string());
    let start = soon();
    let programs: Vec<_> = (0..2)
        .map(|index| {
            let place = format!("{index}/2");
            let args = ["--client-shard", &place, "--start-at", &start, "--run-id", "a1", "--target", &url];
            let more = ["--ops", "20", "--clients", "2", "--time-scale", "0.1", "--json", &files[index]];
            start_loadgen(&[&args[..], &more].concat())
        })
        .collect();
    for program in programs {
        let left = program.finish().exits(0);
        assert!(left.stdout.contains("/2 of run 00000000000000a1   ready "), "{}", left.stdout);
    }
    let whole = folder.path("whole.json").display().to_string();
    loadgen(&["merge", &files[0], &files[1], "-o", &whole]).exits(0);
    let merged = document(&folder, "whole.json");
    assert_eq!(count(&merged, "/ops/total"), 20);
    assert_eq!(merged["merged"]["run"], "00000000000000a1");
    assert!(figure(&merged, "/merged/late_ms") >= 0.0);
    assert_eq!(count(&merged, "/server/received"), count(&merged, "/attempts/total"));
}
