//! Documents merged through the built program: they equal the document of a single program. Also the behaviour of one shard.

use std::fs;
use std::net::TcpListener;

use serde_json::Value;

use crate::support::{MockServer, interrupted, loadgen_in, request};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns a text without a flag that a merge leaves out of the command line.
fn without(flag: &str, text: &str) -> String {
    let forms = [format!(",\"{flag}\""), format!(",\n    &quot;{flag}&quot;"), format!(" {flag}")];
    forms.iter().fold(text.to_owned(), |text, form| text.replace(form, ""))
}

/// Runs a command whole and in `of` merged shards, and compares all files and all output. The last word of the command is `--repeats=N`.
fn same_in_shards(of: u32, command: &[&str], code: i32) {
    let repeats = command.last().expect("a command");
    let folder = tempfile::tempdir().expect("a temporary directory");
    let here = folder.path();
    let outputs = |name: &str| ["json", "csv", "html"].map(|end| format!("{name}.{end}"));
    let [json, csv, html] = outputs("whole");
    let whole = loadgen_in(here, &[command, &["--json", &json, "--csv", &csv, "--html", &html]].concat());
    assert_eq!(whole.status.code(), Some(code), "{}", text(&whole.stderr));
    let mut merge = vec!["merge".to_owned()];
    for index in 0..of {
        let (shard, file) = (format!("{index}/{of}"), format!("shard-{index}.json"));
        let done =
            loadgen_in(here, &[command, &["--shard", &shard, "--json", &file, "--threads", "1"]].concat());
        assert!(done.status.success() && done.stdout.is_empty(), "{}", text(&done.stderr));
        merge.insert(1, file);
    }
    let [json, csv, html] = outputs("merged");
    merge.extend(["--output", &json, "--csv", &csv, "--html", &html].map(ToOwned::to_owned));
    let merged = loadgen_in(here, &merge.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(merged.status.code(), Some(code), "{}", text(&merged.stderr));
    for (name, other) in outputs("whole").iter().zip(outputs("merged")) {
        let [whole, merged] =
            [name, &other].map(|name| fs::read_to_string(here.join(name)).expect("it is written"));
        assert!(without(repeats, &whole) == merged, "{name} and {other} differ");
    }
    assert_eq!(text(&merged.stdout), text(&whole.stdout));
    // The number of progress lines depends on the machine.
    let without_progress = |stderr: &[u8]| {
        let all = text(stderr);
        all.lines().filter(|line| !line.contains(" runs  ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(without_progress(&merged.stderr), without_progress(&whole.stderr));
}

#[test]
fn a_sweep_in_four_shards_is_the_sweep_to_the_byte() {
    let command = "sweep --simulate --strategies aimd,full-jitter,oracle --vary ops=50,200 --vary aimd.beta=0.5,0.9 --repeats=6";
    same_in_shards(4, &command.split(' ').collect::<Vec<_>>(), 0);
}

#[test]
fn a_comparison_in_three_shards_is_the_comparison_to_the_byte() {
    let command = "compare --simulate --strategies aimd,exponential:jitter=0.5,none --ops 200 --sensitivity --repeats=7";
    same_in_shards(3, &command.split(' ').collect::<Vec<_>>(), 0);
}

/// So does a single run.
#[test]
fn runs_in_shards_equal_the_undivided_runs_to_the_byte() {
    let command = "--simulate --strategy aimd+retry-budget --ops 200 --clients 4 --repeats=5";
    same_in_shards(2, &command.split(' ').collect::<Vec<_>>(), 0);
    same_in_shards(2, &["--simulate", "--ops", "100", "--repeats=1"], 0);
    // Nothing succeeds. This is judged for all runs together.
    same_in_shards(2, &["--simulate", "--ops", "10", "--loss", "1", "--max-attempts", "1", "--repeats=2"], 1);
}

#[test]
fn over_http_each_shard_does_its_runs_and_merging_sends_nothing() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let command = "sweep --strategies aimd,none --vary ops=5,10 --repeats 2 --time-scale 0.05 --no-tui --service-time 20ms";
    let command: Vec<&str> = command.split(' ').collect();
    for (shard, file) in [("0/2", "0.json"), ("1/2", "1.json")] {
        let done =
            loadgen_in(folder.path(), &[command.as_slice(), &["--shard", shard, "--json", file]].concat());
        assert!(done.status.success(), "{}", text(&done.stderr));
    }
    let merged = loadgen_in(folder.path(), &["merge", "0.json", "1.json", "-o", "-"]);
    assert!(merged.status.success(), "{}", text(&merged.stderr));
    let printed = text(&merged.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(printed.contains("merging sends no requests"), "{printed}");
    let merged: Value = serde_json::from_slice(&merged.stdout).expect("it is JSON");
    let runs = merged["runs"].as_array().expect("there are runs");
    let found: Vec<(&str, u64, u64)> = runs
        .iter()
        .map(|run| {
            let number = |value: &Value| value.as_u64().expect("it is a number");
            (run["strategy"].as_str().expect("it is a text"), number(&run["at"]["ops"]), number(&run["seed"]))
        })
        .collect();
    let at = |ops| [("aimd", ops, 1), ("none", ops, 1), ("aimd", ops, 2), ("none", ops, 2)];
    assert_eq!(found, [at(5), at(10)].concat());
    let first = runs.iter().filter_map(|run| run["started_at"].as_str()).min();
    assert_eq!(merged["sweep"]["started_at"].as_str(), first);
}

/// A merge refuses the missing ones, and counts them with `--partial`.
#[test]
fn a_stopped_shard_keeps_its_finished_runs() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let here = folder.path();
    // Each run takes a tenth of a second.
    let command = [
        "--ops",
        "5",
        "--service-time",
        "100ms",
        "--network-delay",
        "0ms",
        "--max-busy",
        "5",
        "--repeats",
        "9000",
    ];
    let shard = ["--arrivals", "burst", "--shard", "1/2", "--json", "1.json", "--no-tui"];
    let (output, errors) = interrupted(here, &[&command[..], &shard].concat(), "eta ");
    assert_eq!(output.status.code(), Some(130), "{errors:?}");
    let document: Value =
        serde_json::from_slice(&fs::read(here.join("1.json")).expect("it was written")).expect("it is whole");
    let tasks = document["runs"].as_array().expect("there are runs");
    assert!(!tasks.is_empty() && tasks.iter().all(|run| run["interrupted"].is_null()));
    let printed = errors.join(" ");
    assert!(
        printed.contains("of its 4 500 blocks done") && printed.contains("it lacks blocks "),
        "{errors:?}"
    );
    let refused = loadgen_in(here, &["merge", "1.json", "-o", "merged.json"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("`1.json` lacks blocks "), "{}", text(&refused.stderr));
    let merged = loadgen_in(here, &["merge", "--partial", "1.json", "-o", "merged.json", "--quiet"]);
    assert_eq!(merged.status.code(), Some(1), "{}", text(&merged.stderr));
    let merged: Value = serde_json::from_slice(&fs::read(here.join("merged.json")).expect("it was written"))
        .expect("it is JSON");
    assert_eq!(merged["runs"].as_array().map(Vec::len), Some(tasks.len()));
    assert_eq!(merged["incomplete"]["missing_tasks"], 9000 - tasks.len());
}

#[test]
fn shards_against_one_server_are_merged_when_it_is_gone() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let server = MockServer::start(&["--service-time", "5ms", "--network-delay", "1ms"]);
    let url = server.url();
    let request =
        ["--target", &url, "-m", "POST", "-H", "X-Secret: 7", "-H", "X-More: 8", "-d", "abc", "--idempotent"];
    let command = [
        "--ops",
        "20",
        "--rate",
        "200/s",
        "--repeats",
        "3",
        "--strategy",
        "aimd",
        "--no-tui",
        "--threads",
        "2",
    ];
    let secret = ["-H", "X-Secret: 9"];
    for (shard, file) in [("0/2", "0.json"), ("1/2", "1.json")] {
        let all = [&command[..], &request, &secret, &["--shard", shard, "--json", file]].concat();
        let done = loadgen_in(folder.path(), &all);
        assert!(done.status.success(), "{}", text(&done.stderr));
    }
    drop(server);
    let shard = fs::read_to_string(folder.path().join("0.json")).expect("it is written");
    assert!(!shard.contains("X-Secret: 7") && !shard.contains("\"abc\""), "secrets are in no document");
    let merged =
        loadgen_in(folder.path(), &["merge", "0.json", "1.json", "-o", "-", "--fail-if", "ops.total < 1"]);
    assert!(merged.status.success(), "{}", text(&merged.stderr));
    let merged: Value = serde_json::from_slice(&merged.stdout).expect("it is JSON");
    let runs = merged["runs"].as_array().expect("there are runs");
    assert_eq!(runs.iter().map(|run| run["seed"].as_u64()).collect::<Vec<_>>(), [1, 2, 3].map(Some));
    assert!(
        runs.iter().all(|run| run["server"]["received"] == run["attempts"]["total"]),
        "counts are compared"
    );
    assert_eq!(merged["summary"]["ops.succeeded"]["mean"], 20.0);
}

#[test]
fn an_unreachable_target_is_refused_before_a_shard_begins() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let command =
        "--target http://127.0.0.1:9 --rate 50/s --ops 2 --repeats 2 --no-tui --shard 0/1 --json 0.json";
    let shard = loadgen_in(folder.path(), &command.split(' ').collect::<Vec<_>>());
    assert_eq!(shard.status.code(), Some(69), "{}", text(&shard.stderr));
    assert!(!folder.path().join("0.json").exists());
}

/// The message gives the reason.
#[test]
fn a_shard_without_any_response_fails_but_is_written() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    // No connection is accepted: they stay in the listener's backlog.
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let url = format!("http://{}/", listener.local_addr().expect("it is bound"));
    let command = "--strategy aimd --ops 3 --rate 100/s --timeout 100ms --retry-failed false --no-tui --shard 0/1 --json 0.json";
    let shard = loadgen_in(
        folder.path(),
        &[&["--target", &url], &command.split(' ').collect::<Vec<_>>()[..]].concat(),
    );
    assert_eq!(shard.status.code(), Some(69), "{}", text(&shard.stderr));
    assert!(text(&shard.stderr).contains("no attempt received a response"), "{}", text(&shard.stderr));
    let merged = loadgen_in(folder.path(), &["merge", "0.json", "-o", "-", "--quiet"]);
    assert_eq!(
        merged.status.code(),
        Some(69),
        "as it is where one program does it: {}",
        text(&merged.stderr)
    );
    let merged: Value = serde_json::from_slice(&merged.stdout).expect("it is JSON");
    assert_eq!((&merged["attempts"]["failed"], &merged["ops"]["given_up"]), (&3.into(), &3.into()));
}

#[test]
fn scenarios_in_shards_are_refused_with_a_reason() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let refused = loadgen_in(folder.path(), &["reproduce", "occ", "--shard", "0/2"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("cannot be divided into shards"), "{}", text(&refused.stderr));
}

#[test]
fn a_shard_goes_to_a_file_or_stdout_and_has_no_report() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let command = ["--simulate", "--ops", "10", "--shard", "0/1", "--json"];
    let to = |file: &str| {
        let done = loadgen_in(folder.path(), &[&command[..], &[file]].concat());
        assert!(done.status.success(), "{}", text(&done.stderr));
        text(&done.stdout)
    };
    let (file, stdout) = (to("0.json"), to("-"));
    assert_eq!(file, "");
    assert_eq!(stdout, fs::read_to_string(folder.path().join("0.json")).expect("it is written"));
    let report = loadgen_in(folder.path(), &["report", "0.json", "-o", "page.html"]);
    assert_eq!(report.status.code(), Some(2));
    assert!(text(&report.stderr).contains("`loadgen merge`"), "{}", text(&report.stderr));
    assert!(!folder.path().join("page.html").exists());
}

#[test]
fn loads_that_ran_together_add_up_to_the_ledger_of_their_server() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let server = MockServer::start(&["--max-busy", "5", "--service-time", "20ms", "--network-delay", "1ms"]);
    let url = server.url();
    let load = |seed: &'static str, ops: &'static str, file: &'static str| {
        let (here, url) = (folder.path(), &url);
        move || {
            let words =
                ["--target", url, "--strategy", "aimd", "--no-tui", "--rate", "100/s", "--clients", "2"];
            let own = ["--seed", seed, "--ops", ops, "--json", file];
            let done = loadgen_in(here, &[&words[..], &own].concat());
            assert!(done.status.success(), "{}", text(&done.stderr));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(load("1", "80", "one.json"));
        scope.spawn(load("2", "60", "two.json"));
    });
    let stats = request(server.address, "GET", "/_mock/stats", "").json();
    drop(server);
    let merged =
        loadgen_in(folder.path(), &["merge", "--together", "two.json", "one.json", "-o", "all.json"]);
    assert!(merged.status.success(), "{}", text(&merged.stderr));
    let read = |name: &str| -> Value {
        let text = fs::read_to_string(folder.path().join(name)).expect("it is written");
        serde_json::from_str(&text).expect("it is JSON")
    };
    let (all, one, two) = (read("all.json"), read("one.json"), read("two.json"));
    assert_eq!((&all["ops"]["total"], &all["ops"]["succeeded"]), (&140.into(), &140.into()));
    assert_eq!(all["attempts"]["total"], stats["received"]);
    for key in ["received", "accepted", "rejected"] {
        assert_eq!(all["server"][key], stats[key], "{key}");
    }
    let number =
        |document: &Value, path: &str| document.pointer(path).and_then(Value::as_f64).expect("a number");
    for path in [
        "/config/workload/ops",
        "/config/workload/rate_per_s",
        "/config/workload/clients",
        "/op_latency_ms/count",
    ] {
        assert!((number(&all, path) - number(&one, path) - number(&two, path)).abs() < 1e-9, "{path}");
    }
    for (path, of) in
        [("/op_latency_ms/max", f64::max as fn(f64, f64) -> f64), ("/op_latency_ms/min", f64::min)]
    {
        assert!((number(&all, path) - of(number(&one, path), number(&two, path))).abs() < 1e-6, "{path}");
    }
    let p50s = [&one, &two].map(|document| number(document, "/op_latency_ms/p50"));
    let p50 = number(&all, "/op_latency_ms/p50");
    assert!(p50 >= p50s[0].min(p50s[1]) * 0.99 && p50 <= p50s[0].max(p50s[1]) * 1.01, "{p50} {p50s:?}");
    for path in ["/fairness", "/optimal_makespan_s", "/rejection_latency_ms/p99", "/generator/peak_rss_bytes"]
    {
        assert!(all.pointer(path).is_some_and(Value::is_null), "{path}");
    }
    assert_eq!(all["config"]["merged"].as_array().map(Vec::len), Some(2));
    let refused = |files: &[&str], expected: &str, code: i32| {
        let done = loadgen_in(folder.path(), &[&["merge", "--together", "-o", "x.json"], files].concat());
        assert_eq!(done.status.code(), Some(code), "{}", text(&done.stderr));
        assert!(text(&done.stderr).contains(expected), "{}", text(&done.stderr));
    };
    refused(&["one.json", "one.json"], "have the same seed 1", 2);
    refused(&["one.json", "gone.json"], "`gone.json` cannot be read", 2);
    refused(&["one.json", "all.json"], "it is not the document of a single run over HTTP", 2);
    refused(&["--partial", "one.json", "gone.json"], "left out: `gone.json`", 1);
    assert!(read("x.json")["warnings"][0].as_str().is_some_and(|text| text.starts_with("1 of 2 documents")));
    let simulated = loadgen_in(folder.path(), &["--simulate", "--ops", "9", "--json", "simulated.json"]);
    assert!(simulated.status.success());
    refused(&["one.json", "simulated.json"], "it is not the document of a single run over HTTP", 2);
    let earlier = fs::read_to_string(folder.path().join("two.json")).expect("it is written");
    let start = two["started_at"].as_str().expect("a time");
    let earlier = earlier.replace(start, "2001-01-01T00:00:00.000Z");
    fs::write(folder.path().join("earlier.json"), earlier).expect("it can be written");
    refused(&["one.json", "earlier.json"], "did not overlap in time", 2);
}
