//! `loadgen reproduce` itself: verdicts come from runs, and from nothing else.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Left, eventually, loadgen, start_loadgen};

/// Every built-in scenario, in the order in which all are run.
const SCENARIOS: &[&str] = &["sync-musings", "retry-delays", "exploring-backoff", "ethernet", "occ"];

/// Each of them, as anybody runs it.
pub(crate) static ALL: LazyLock<Vec<Left>> =
    LazyLock::new(|| SCENARIOS.iter().map(|name| loadgen(&["reproduce", name, "--json", "-"])).collect());

#[test]
fn every_built_in_scenario_comes_out_as_expected() {
    let list = loadgen(&["reproduce", "--list"]).exits(0).stdout;
    for (name, left) in SCENARIOS.iter().zip(ALL.iter()) {
        assert_eq!(left.code, Some(0), "{}", left.stderr);
        assert!(list.lines().any(|line| line.split_whitespace().next() == Some(*name)), "{name}: {list}");
        let result = left.json();
        let claims = result["scenarios"][0]["claims"].as_array().unwrap();
        assert!(claims.iter().all(|claim| claim["as_expected"] == true), "{claims:?}");
        // The last lines say how many came out how, and not only that all is well.
        for (whose, words) in [("source", ""), ("ours", " of ours, which no source makes")] {
            let counts = &result["claims"][whose];
            let line = format!("\n{} claim", counts["claims"]);
            let found = left.stderr.rsplit(&line).next().unwrap();
            let found = found.trim_start_matches('s').lines().next().unwrap();
            let held = found.strip_prefix(words).unwrap_or_else(|| panic!("no {words}: {}", left.stderr));
            let held: Vec<&str> = held.trim_start_matches(": ").split([',', ';']).map(str::trim).collect();
            for (place, key) in ["holds", "holds_partly", "does_not_hold"].iter().enumerate() {
                assert!(held[place].starts_with(&format!("{} ", counts[*key])), "{key}: {}", left.stderr);
            }
            assert_eq!(held[3..], ["all as expected"], "{}", left.stderr);
        }
    }
    let scenarios = list.lines().filter(|line| !line.starts_with(' ')).count();
    assert_eq!(scenarios, SCENARIOS.len(), "{list}");
}

#[test]
fn threads_change_no_byte() {
    for args in [
        &["reproduce", "retry-delays", "--repeats=2"][..],
        &[
            "reproduce",
            "occ",
            "--repeats=2",
            "--set=claim=[]",
            "--set=experiment.contention.vary={clients=[1,50]}",
        ],
        &["--simulate", "--repeats=20", "--ops=300", "--strategy=full-jitter"],
        &["--simulate", "--repeats=5", "--ops=300", "--kind=read-modify-write", "--clients=30"],
    ] {
        let bytes = |threads: &str| loadgen(&[args, &["--json=-", "-q", threads]].concat()).exits(0).stdout;
        let alone = bytes("--threads=1");
        assert!(alone.len() > 500, "{alone}");
        assert!(bytes("--threads=2") == alone, "{args:?}");
    }
}

#[test]
fn a_simulated_result_tells_nothing_of_the_machine() {
    let left = loadgen(&["--simulate", "--repeats=3", "--ops=100", "--json=-", "-q", "--threads=2"]).exits(0);
    for run in left.json()["runs"].as_array().unwrap() {
        assert_eq!(run["wall_s"], Value::Null);
        for key in ["cpu_s", "peak_rss_bytes", "connections"] {
            assert_eq!(run["generator"][key], Value::Null, "{key}");
        }
        assert_eq!(run["config"]["target"], Value::Null);
    }
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned();
    let here = std::env::current_dir().unwrap();
    for word in ["threads", host.as_str(), here.to_str().unwrap(), env!("CARGO_BIN_EXE_loadgen")] {
        // A host may be called like a word of the result; only names of some length tell anything.
        assert!(word.len() < 5 || !left.stdout.contains(word), "`{word}` in {}", left.stdout);
    }
}

#[test]
fn another_first_seed_gives_other_runs_and_shifts_them() {
    let attempts = |seed: &str, repeats: &str| -> (f64, f64) {
        let args = ["reproduce", "sync-musings", "-q", "--json=-", "--set=claim=[]", seed, repeats];
        let small = [
            "--set=experiment.growth.vary={ops=[50]}",
            "--set=experiment.main.strategies=['exponential']",
            "--set=experiment.main.workload.ops=200",
            "--set=experiment.worse.workload.ops=1",
        ];
        let result = loadgen(&[&args[..], &small].concat()).exits(0).json();
        let figure = &result["scenarios"][0]["cells"][0]["figures"]["attempts.total"];
        (figure["min"].as_f64().unwrap(), figure["max"].as_f64().unwrap())
    };
    let (first, _) = attempts("--seed=5", "--repeats=1");
    let (second, _) = attempts("--seed=6", "--repeats=1");
    assert!((first - second).abs() > 0.5, "both took {first}");
    // Repeat r uses seed + r.
    assert_eq!(attempts("--seed=5", "--repeats=2"), (first.min(second), first.max(second)));
}

#[test]
fn what_contradicts_virtual_time_is_refused() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["--simulate", "--time-scale=0.5"], &["--time-scale", "virtual time"]),
        (&["--simulate", "--target=http://127.0.0.1:9/"], &["--simulate", "--target"]),
        (&["--simulate", "--method=POST"], &["--simulate", "--method"]),
        (&["--simulate", "--insecure"], &["--simulate", "--insecure"]),
        (&["reproduce", "--time-scale=0.5"], &["--http"]),
        (&["reproduce", "sync-muse"], &["unknown scenario `sync-muse`", "--list"]),
        (&["reproduce", "ocs"], &["did you mean `occ`?"]),
        (&["reproduce", "occ", "--repeats=0"], &["--repeats"]),
        (&["reproduce", "occ", "--threads=0"], &["--threads"]),
        (&["reproduce", "occ", "--seed=-1"], &["seed"]),
    ];
    for (args, words) in cases {
        let left = loadgen(args).exits(2);
        assert_eq!(left.stdout, "", "{args:?}");
        for word in *words {
            assert!(left.stderr.contains(word), "{args:?}: no `{word}` in {}", left.stderr);
        }
    }
}

#[test]
fn a_result_that_cannot_be_written_is_told_before_anything_runs() {
    let started = Instant::now();
    let left = loadgen(&["reproduce", "--json=/nowhere/at/all.json"]).exits(74);
    assert!(
        left.stderr.contains("/nowhere/at/all.json") && left.stderr.contains("--json"),
        "{}",
        left.stderr
    );
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn an_interrupt_ends_a_long_reproduction_at_once() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        // One run alone takes minutes: 7 million attempts of clients that wait a second each.
        let program = start_loadgen(&[
            "reproduce",
            "ethernet",
            "--repeats=1000",
            "--set=claim=[]",
            "--set=experiment.outage.workload.ops=100000",
            "--set=experiment.submitters.vary={in_flight=[25]}",
        ]);
        // A line of progress says that it is under way.
        eventually("it tells how far it is", || program.said().contains("runs").then_some(()));
        program.signal(signal);
        let asked = Instant::now();
        let left = program.finish().exits(code);
        assert_eq!(left.stdout, "");
        assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    }
}
