//! `loadgen reproduce` itself: verdicts depend on runs alone.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use reproduce::reproduction::{Changes, Tally};
use reproduce::scenario::{EMBEDDED, embedded};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{
    built_in, document_of, eventually, is_current, loadgen, planned, run, run_only, scenario_of,
    start_loadgen,
};

#[test]
fn every_built_in_scenario_comes_out_as_expected() {
    for (name, _) in EMBEDDED {
        let judged = built_in(name).judged(false);
        assert!(!judged.is_empty(), "{name}");
        for one in &judged {
            assert_eq!(one.as_expected(), Some(true), "{name}: {}: {}", one.claim.says, one.ours);
        }
        let mut tally = Tally::default();
        tally.add(&judged);
        assert!(tally.is_as_expected(), "{name}: {tally:?}");
    }
}

#[test]
fn the_page_of_checked_documents_is_current() {
    let mut text = String::from(
        "| document | source | claims | hold | partly | do not hold | of this project |\n\
         |---|---|---:|---:|---:|---:|---:|\n",
    );
    for (name, _) in EMBEDDED {
        let reproduction = built_in(name);
        let mut tally = Tally::default();
        tally.add(&reproduction.judged(false));
        let tallies = tally.record();
        let (source, ours) = (&tallies.source, tallies.ours.claims);
        let (claims, holds) = (source.claims, source.holds);
        let (partly, not) = (source.holds_partly, source.does_not_hold);
        let (title, about) = (&reproduction.scenario.title, &reproduction.scenario.source);
        let _ = writeln!(
            text,
            "| `{name}`: {title} | {about} | {claims} | {holds} | {partly} | {not} | {ours} |"
        );
    }
    is_current("papers.md", "papers", "tests/scenarios/verdicts.rs", &text);
}

#[test]
fn the_program_writes_the_result_of_the_library_and_counts_verdicts() {
    let list = loadgen(&["reproduce", "--list"]).exits(0).stdout;
    for (name, _) in EMBEDDED {
        assert!(list.lines().any(|line| line.split_whitespace().next() == Some(*name)), "{name}: {list}");
    }
    let scenarios = list.lines().filter(|line| !line.starts_with(' ')).count();
    assert_eq!(scenarios, EMBEDDED.len(), "{list}");

    let left = loadgen(&["reproduce", "retry-delays", "--json", "-"]).exits(0);
    let result = left.json();
    assert_eq!(result, document_of(built_in("retry-delays")));
    // The last lines count each verdict, and do not only report success.
    for (whose, words) in [("source", ""), ("ours", " of this project, which no source makes")] {
        let counts = &result["claims"][whose];
        let line = format!("\n{} claim", counts["claims"]);
        // A long line continues with two spaces.
        let whole = left.stderr.replace("\n  ", " ");
        let found = whole.rsplit(&line).next().unwrap();
        let found = found.trim_start_matches('s').lines().next().unwrap();
        let found = found.strip_prefix(words).unwrap_or_else(|| panic!("no {words}: {}", left.stderr));
        let parts: Vec<&str> = found.trim_start_matches(": ").split([',', ';']).map(str::trim).collect();
        for (place, key) in ["holds", "holds_partly", "does_not_hold"].iter().enumerate() {
            assert!(parts[place].starts_with(&format!("{} ", counts[*key])), "{key}: {}", left.stderr);
        }
        assert_eq!(parts[3..], ["all as expected"], "{}", left.stderr);
    }
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
        // The data of plots is included.
        assert_eq!(alone.contains("\"plots\""), args[0] == "reproduce");
        assert!(bytes("--threads=7") == alone, "{args:?}");
    }
}

#[test]
fn a_simulated_result_reveals_nothing_of_the_machine() {
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
        // A short host name may equal a word of the result, so only names of at least five letters are checked.
        assert!(word.len() < 5 || !left.stdout.contains(word), "`{word}` in {}", left.stdout);
    }
}

#[test]
fn another_first_seed_gives_other_runs_and_shifts_them() {
    let attempts = |seed, repeats| -> (f64, f64) {
        let small =
            ["claim=[]", "experiment.main.strategies=['exponential']", "experiment.main.workload.ops=200"];
        let changes = Changes { repeats: Some(repeats), seed: Some(seed) };
        let asked = planned(&embedded("sync-musings").unwrap(), &small, changes);
        let result = scenario_of(&run_only(asked, &["main"]));
        let figure = &result["cells"][0]["figures"]["attempts.total"];
        (figure["min"].as_f64().unwrap(), figure["max"].as_f64().unwrap())
    };
    let (first, _) = attempts(5, 1);
    let (second, _) = attempts(6, 1);
    assert!((first - second).abs() > 0.5, "both took {first}");
    // Repeat r uses seed + r.
    assert_eq!(attempts(5, 2), (first.min(second), first.max(second)));
    let flags = ["--seed=5", "--repeats=2", "--set=claim=[]", "--set=experiment.load.workload.ops=200"];
    let program = loadgen(&[&["reproduce", "retry-delays", "-q", "--json=-"], &flags[..]].concat()).exits(0);
    let changes = Changes { repeats: Some(2), seed: Some(5) };
    let settings = ["claim=[]", "experiment.load.workload.ops=200"];
    let library = run(planned(&embedded("retry-delays").unwrap(), &settings, changes));
    assert_eq!(program.json()["scenarios"][0]["cells"], scenario_of(&library)["cells"]);
}

#[test]
fn what_contradicts_virtual_time_is_refused() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["--simulate", "--time-scale=0.5"], &["--time-scale", "virtual time"]),
        (&["--simulate", "--target=http://127.0.0.1:9/"], &["--simulate", "--target"]),
        (&["--simulate", "--header=a: b"], &["--simulate", "--header"]),
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
fn an_unwritable_result_is_reported_before_anything_runs() {
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
        // One run alone takes minutes: 7 million attempts by clients that wait one second each.
        let program = start_loadgen(&[
            "reproduce",
            "ethernet",
            "--repeats=1000",
            "--set=claim=[]",
            "--set=experiment.outage.workload.ops=100000",
            "--set=experiment.submitters.vary={in_flight=[25]}",
        ]);
        eventually("it tells how far it is", || program.said().contains("runs").then_some(()));
        program.signal(signal);
        let asked = Instant::now();
        let left = program.finish().exits(code);
        assert_eq!(left.stdout, "");
        assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    }
}
