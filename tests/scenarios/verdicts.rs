//! `loadgen reproduce` itself: verdicts come from runs, and from nothing else.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::program::{Program, loadgen, written};

/// Every built-in scenario; each is run with the seeds that its bands are meant for.
const SCENARIOS: &[&str] = &["sync-musings", "retry-delays", "exploring-backoff", "ethernet", "occ"];

#[test]
fn every_built_in_scenario_comes_out_as_expected() {
    let list = loadgen(&["reproduce", "--list"]).exits(0).stdout;
    for name in SCENARIOS {
        assert!(list.lines().any(|line| line.split_whitespace().next() == Some(*name)), "{name}: {list}");
        let left = loadgen(&["reproduce", name, "--json", "-"]).exits(0);
        let claims = left.json()["scenarios"][0]["claims"].as_array().unwrap().clone();
        assert!(claims.iter().all(|claim| claim["as_expected"] == true), "{claims:?}");
        assert!(left.stderr.ends_with(&format!("all {} claims came out as expected\n", claims.len())));
    }
    let scenarios = list.lines().filter(|line| !line.starts_with(' ')).count();
    assert_eq!(scenarios, SCENARIOS.len(), "{list}");
}

#[test]
fn another_server_flips_verdicts() {
    let args = [
        "reproduce",
        "sync-musings",
        "--repeats=1",
        "--json=-",
        "--set=experiment.growth.vary={ops=[50,100,5000,10000]}",
        "--set=experiment.worse.workload.duration=20s",
    ];
    let left = loadgen(&[&args[..], &["--set=server.max_busy=100"]].concat()).exits(1);
    let result = left.json();
    let claim = |says: &str| {
        let claims = result["scenarios"][0]["claims"].as_array().unwrap();
        claims.iter().find(|claim| claim["says"].as_str().unwrap().starts_with(says)).unwrap().clone()
    };
    for (says, verdict) in [
        ("The optimum is 20 s", "does not hold"),
        ("It completes within 25 s", "does not hold"),
        ("Exponential backoff performs 17 392", "does not hold"),
        ("Attempts grow superlinearly", "holds"),
    ] {
        assert_eq!(claim(says)["verdict"], verdict, "{says}");
        assert_eq!(claim(says)["as_expected"], verdict == "holds", "{says}");
        let unmet = left.stderr.rsplit_once("did not come out as expected:").unwrap().1;
        assert_eq!(unmet.contains(says), verdict != "holds", "{says}");
    }
    // Twice the slots take half the time.
    let optimum = claim("The optimum is 20 s")["values"][0]["value"].as_f64().unwrap();
    assert!((10.0..10.4).contains(&optimum), "{optimum}");
}

/// Two ops one after the other, each 3 attempts in all, and a claim about them.
fn two_ops(claim: &str) -> String {
    format!(
        "name = \"two\"\ntitle = \"Two ops\"\nrepeats = 2\n[workload]\nat = [\"0s\", \"1s\"]\n[server]\nreject_first = \
         2\n[strategies]\na = \"immediate\"\nb = \"none\"\n[experiment.main]\n[[claim]]\nsays = \"Of two ops\"\n{claim}"
    )
}

#[test]
fn verdicts_follow_bands_and_expectations() {
    for (claim, value, verdict, code) in [
        ("figure = \"attempts.total\"\nof = \"a\"\naccept = [6, 6]", 6.0, "holds", 0),
        ("figure = \"attempts.total\"\nof = \"a\"\naccept = [7, 9]", 6.0, "does not hold", 1),
        (
            "figure = \"attempts.total\"\nof = \"a\"\naccept = [7, 9]\nexpect = \"does-not-hold\"",
            6.0,
            "does not hold",
            0,
        ),
        (
            "figure = \"attempts.total\"\nof = \"a\"\naccept = [6, 6]\nexpect = \"does-not-hold\"",
            6.0,
            "holds",
            1,
        ),
        (
            "figure = \"attempts.total\"\nof = \"a\"\naccept = [6, 6]\nexpect = \"holds-partly\"",
            6.0,
            "holds",
            1,
        ),
        ("figure = \"attempts.total\"\nof = \"a\"\nagainst = \"b\"\naccept = [3, 3]", 3.0, "holds", 0),
        ("figure = \"ops.given_up\"\nof = \"b\"\nminus = 1\ntimes = 10\naccept = [10, 10]", 10.0, "holds", 0),
        (
            "figure = \"attempts.total\"\nof = \"a\"\nstat = \"share-above\"\nthreshold = 5\naccept = [1, 1]",
            1.0,
            "holds",
            0,
        ),
        ("figure = \"attempts.total\"\nof = \"a\"\nstat = \"deviation\"\naccept = [0, 0]", 0.0, "holds", 0),
    ] {
        let (_dir, path) = written(two_ops(claim).as_bytes());
        let left =
            loadgen(&["reproduce", "--scenario", path.to_str().unwrap(), "--json=-", "-q"]).exits(code);
        let found = left.json()["scenarios"][0]["claims"][0].clone();
        assert_eq!(found["verdict"], verdict, "{claim}: {found}");
        assert_eq!(found["values"][0]["value"].as_f64(), Some(value), "{claim}: {found}");
    }
}

#[test]
fn a_claim_may_hold_at_some_points_only() {
    let text = "name = \"points\"\ntitle = \"Points\"\nrepeats = 1\n[workload]\nat = [\"0s\"]\n[strategies]\na = \
                \"immediate\"\n[experiment.main]\nvary = { reject_first = [1, 2, 3] }\n[[claim]]\nsays = \"Two or \
                three\"\nfigure = \"attempts.total\"\nof = \"a\"\nover = [1, 2, 3]\naccept = [2, 3]\nexpect = \
                \"holds-partly\"\n[[claim]]\nsays = \"It grows\"\nfigure = \"attempts.total\"\nof = \"a\"\ngrowth = [1, \
                3]\naccept = [0.63, 0.631]\n";
    let (_dir, path) = written(text.as_bytes());
    let left = loadgen(&["reproduce", "--scenario", path.to_str().unwrap(), "--json=-", "-q"]).exits(0);
    let claims = left.json()["scenarios"][0]["claims"].clone();
    assert_eq!(claims[0]["verdict"], "holds partly");
    let values: Vec<&Value> =
        claims[0]["values"].as_array().unwrap().iter().map(|one| &one["value"]).collect();
    assert_eq!(values, [2.0, 3.0, 4.0]);
    // log(4 / 2) / log(3 / 1)
    assert_eq!(claims[1]["verdict"], "holds");
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
        let mut program = Program::start(&[
            "reproduce",
            "ethernet",
            "--repeats=1000",
            "--set=claim=[]",
            "--set=experiment.outage.workload.ops=100000",
            "--set=experiment.submitters.vary={in_flight=[25]}",
        ]);
        // A line of progress says that it is under way.
        program.says("runs");
        kill_process(Pid::from_child(&program.child), signal).unwrap();
        let asked = Instant::now();
        let left = program.finish().exits(code);
        assert_eq!(left.stdout, "");
        assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    }
}
