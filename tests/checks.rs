//! `--fail-if` and baselines through the built program: exit codes, messages, and refusals.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::loadgen_in;

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

const RUN: [&str; 5] = ["--simulate", "--ops", "300", "--repeats", "6"];

fn run(directory: &Path, more: &[&str]) -> Output {
    loadgen_in(directory, &[&RUN[..], more].concat())
}

#[test]
fn a_condition_that_holds_exits_with_99_and_says_which() {
    let here = directory();
    // The seed's server rejects one op in six once.
    let more = ["--fail-if", "amplification > 1.01", "--fail-if", "efficiency < 10%", "--json", "-"];
    let left = run(here.path(), &more);
    let told = told(&left);
    assert_eq!(left.status.code(), Some(99), "{told}");
    assert!(told.contains("failed: `amplification > 1.01` with aimd: 1."), "{told}");
    assert!(told.contains("(fails if efficiency < 10%)") && told.contains("  ok   aimd: "), "{told}");
    assert!(!told.contains("failed: `efficiency"), "{told}");
    let result: Value = serde_json::from_slice(&left.stdout).expect("the result is JSON");
    let mean = result["summary"]["amplification"]["mean"].as_f64().expect("a mean");
    assert!(mean > 1.01, "{mean}");

    let limit = format!("amplification > {}", mean + 0.001);
    let passed = run(here.path(), &["--quiet", "--fail-if", &limit]);
    assert_eq!((passed.status.code(), self::told(&passed)), (Some(0), String::new()));
    let quiet = run(here.path(), &["--quiet", "--fail-if", "makespan_s.max > 0.1"]);
    assert_eq!(quiet.status.code(), Some(99));
    assert!(
        self::told(&quiet).starts_with("failed: `makespan_s.max > 0.1` with aimd"),
        "{}",
        self::told(&quiet)
    );
}

#[test]
fn a_single_run_over_http_is_checked_too() {
    let here = directory();
    let args = ["--ops", "40", "--rate", "200/s", "--time-scale", "0.2", "--no-tui"];
    let with = |more: &[&str]| loadgen_in(here.path(), &[&args[..], more].concat());
    let failed = with(&["--fail-if", "ops.succeeded == 40"]);
    assert_eq!(failed.status.code(), Some(99), "{}", told(&failed));
    let passed = with(&["--fail-if", "ops.succeeded != 40", "--save-baseline", "http.json"]);
    assert_eq!(passed.status.code(), Some(0), "{}", told(&passed));
    let compared = with(&["--baseline", "http.json", "--noise", "90%"]);
    assert_eq!(compared.status.code(), Some(0), "{}", told(&compared));
    assert!(told(&compared).contains("ops.succeeded"), "{}", told(&compared));
    let simulated = loadgen_in(
        here.path(),
        &["--simulate", "--ops", "40", "--rate", "200/s", "--baseline", "http.json", "--noise", "90%"],
    );
    assert_eq!(simulated.status.code(), Some(2));
    assert!(told(&simulated).contains(r#"mode is "simulated", there "http""#), "{}", told(&simulated));
}

#[test]
fn invalid_conditions_are_refused_before_anything_runs() {
    let here = directory();
    let refused = [
        (&["--fail-if", "amplifcation > 1"][..], "`amplification`"),
        (&["--fail-if", "amplification = 1"], "a single `=` is not a comparison"),
        (&["--fail-if", "op_latency_ms.p99 > 250ms"], "the path already includes the unit"),
        (&["--fail-if", "attempts.total of amid > 1"], "did you mean `aimd`?"),
        (&["--noise", "5%"], "--baseline"),
        (&["--baseline", "none"], "create it with `--save-baseline`"),
        (&["--baseline", "x", "--noise", "200%"], "below 100 %"),
    ];
    for (args, words) in refused {
        let left = run(here.path(), &[args, &["--json", "result.json"]].concat());
        assert_eq!(left.status.code(), Some(2), "{args:?}");
        assert!(told(&left).contains(words), "{args:?}: {}", told(&left));
        assert!(!here.path().join("result.json").exists(), "{args:?} ran");
    }
}

fn changed(directory: &Path, change: impl Fn(&mut Value)) {
    let saved = run(directory, &["--quiet", "--save-baseline", "main"]);
    assert!(saved.status.success(), "{}", told(&saved));
    let file = directory.join("tailback-baselines/main.json");
    let text = std::fs::read_to_string(&file).expect("the baseline was saved");
    let mut baseline: Value = serde_json::from_str(&text).expect("it is JSON");
    change(&mut baseline);
    std::fs::write(&file, baseline.to_string()).expect("the baseline can be written");
}

fn scale(baseline: &mut Value, figure: &str, factor: f64) {
    let values = baseline["strategies"]["aimd"][figure].as_array_mut().expect("the figure is kept");
    for value in values {
        *value = json!(value.as_f64().expect("a number") * factor);
    }
}

#[test]
fn a_baseline_gives_a_verdict_per_figure() {
    let here = directory();
    changed(here.path(), |_| {});
    let same = run(here.path(), &["--baseline", "main"]);
    assert_eq!(same.status.code(), Some(0), "{}", told(&same));
    assert!(told(&same).contains("attempts.total") && !told(&same).contains("WORSE"), "{}", told(&same));

    changed(here.path(), |baseline| {
        scale(baseline, "makespan_s", 0.8);
        scale(baseline, "attempts.total", 1.5);
        scale(baseline, "op_latency_ms.p50", 0.98);
    });
    let mixed = run(here.path(), &["--baseline", "main"]);
    let said = told(&mixed);
    assert_eq!(mixed.status.code(), Some(99), "{said}");
    let verdict = |figure: &str| {
        let line = said.lines().find(|line| line.trim().starts_with(figure)).unwrap_or_default();
        line.split_whitespace().last().unwrap_or_default().to_owned()
    };
    assert_eq!(verdict("makespan_s"), "WORSE", "{said}");
    assert_eq!(verdict("attempts.total"), "better", "{said}");
    assert_eq!(verdict("op_latency_ms.p50"), "same", "{said}");
    assert!(said.contains("failed: makespan_s of aimd is worse than the baseline's"), "{said}");
    let lenient = run(here.path(), &["--baseline", "main", "--noise", "30%"]);
    assert_eq!(lenient.status.code(), Some(0), "{}", told(&lenient));
}

/// Several strategies that the baseline lacks are refused.
#[test]
fn a_changed_setting_and_its_baseline_are_both_named() {
    let here = directory();
    assert!(run(here.path(), &["--save-baseline", "main"]).status.success());
    let changed = run(here.path(), &["--strategy", "aimd:beta=0.3", "--baseline", "main"]);
    assert_eq!(changed.status.code(), Some(99), "{}", told(&changed));
    let words = told(&changed).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("aimd:beta=0.3 (compared with aimd of the baseline) "), "{words}");
    assert!(words.contains("of aimd:beta=0.3 is worse than the baseline's of aimd: "), "{words}");
    let other = run(here.path(), &["--strategy", "full-jitter", "--baseline", "main"]);
    assert_eq!(other.status.code(), Some(99), "{}", told(&other));
    let several = ["compare", "--simulate", "--ops", "300", "--repeats", "6", "--baseline", "main"];
    let several = loadgen_in(here.path(), &[&several[..], &["--strategies", "full-jitter,cubic"]].concat());
    assert_eq!(several.status.code(), Some(2), "{}", told(&several));
    assert!(
        told(&several).contains("has the strategies aimd, and this run has full-jitter, cubic"),
        "{}",
        told(&several)
    );
}

#[test]
fn a_baseline_of_another_experiment_is_refused_with_a_reason() {
    let here = directory();
    changed(here.path(), |_| {});
    let refused = [
        (&["--max-busy", "40"][..], "server_model.max_busy is 40, there 50"),
        (&["--seed", "7"], "seed is 7, there 1"),
        (&["--rate", "500/s"], "workload.rate_per_s is 500.0, there 1000.0"),
    ];
    for (args, words) in refused {
        let left = run(here.path(), &[args, &["--baseline", "main"]].concat());
        assert_eq!(left.status.code(), Some(2), "{args:?}");
        assert!(told(&left).contains(words), "{args:?}: {}", told(&left));
    }
    let fewer =
        loadgen_in(here.path(), &["--simulate", "--ops", "300", "--repeats", "5", "--baseline", "main"]);
    assert!(told(&fewer).contains("repeats is 5, there 6"), "{}", told(&fewer));
}

#[test]
fn invalid_baselines_are_refused_with_file_and_place() {
    let here = directory();
    changed(here.path(), |_| {});
    let file = here.path().join("tailback-baselines/main.json");
    let whole = std::fs::read_to_string(&file).expect("the baseline was saved");
    let newer = whole.replacen("\"version\":1", "\"version\":9", 1);
    let texts = [
        (&whole[..whole.len() / 2], "line 1"),
        ("{\"schema_version\": 1}", "it is not a baseline"),
        ("", "it is empty"),
        (newer.as_str(), "version 9"),
    ];
    for (text, words) in texts {
        std::fs::write(&file, text).expect("the file can be written");
        let left = run(here.path(), &["--baseline", "main"]);
        assert_eq!(left.status.code(), Some(2), "{text}");
        let told = told(&left);
        assert!(told.contains("tailback-baselines/main.json") && told.contains(words), "{told}");
    }
    // A missing folder is made; a file cannot hold a baseline.
    let made = run(here.path(), &["--save-baseline", "missing/main.json"]);
    assert!(made.status.success() && here.path().join("missing/main.json").is_file(), "{}", told(&made));
    let nowhere = run(here.path(), &["--save-baseline", "missing/main.json/other.json"]);
    assert_eq!(nowhere.status.code(), Some(74), "{}", told(&nowhere));
}

#[test]
fn truths_are_compared_run_by_run() {
    let here = directory();
    // Some runs of this client leave ops undone, and some do not.
    let some = ["--strategy", "exponential:jitter=0.5,max-attempts=6", "--repeats", "20"];
    let some =
        [&["--simulate", "--ops", "250"], &some[..], &["--fail-if", "makespan_complete == false"]].concat();
    let left = loadgen_in(here.path(), &some);
    assert_eq!(left.status.code(), Some(99), "{}", told(&left));
    assert!(told(&left).contains(": false in ") && told(&left).contains(" of 20 runs"), "{}", told(&left));
    let all = run(here.path(), &["--fail-if", "makespan_complete == false"]);
    assert_eq!(all.status.code(), Some(0), "{}", told(&all));
    assert!(told(&all).contains("true in all 6 runs"), "{}", told(&all));
}

#[test]
fn strategies_of_a_comparison_are_checked_one_by_one() {
    let here = directory();
    let args = ["compare", "--simulate", "--strategies", "aimd,immediate:max-attempts=3", "--ops", "300"];
    let with = |more: &[&str]| loadgen_in(here.path(), &[&args[..], more].concat());
    assert_eq!(with(&["--save-baseline", "pair"]).status.code(), Some(0));
    let each = with(&["--fail-if", "ops.given_up > 0", "--save-baseline", "unsaved"]);
    let said = told(&each);
    assert_eq!(each.status.code(), Some(99), "{said}");
    assert!(said.contains("failed: `ops.given_up > 0` with immediate:max-attempts=3"), "{said}");
    assert!(said.contains("ok   aimd: 0 (fails if ops.given_up > 0)"), "{said}");
    assert!(said.contains("`tailback-baselines/unsaved.json` not saved, because a check failed"), "{said}");
    let one = with(&["--fail-if", "ops.given_up of aimd > 0", "--baseline", "pair"]);
    assert_eq!(one.status.code(), Some(0), "{}", told(&one));
    let absent = with(&["--fail-if", "ops.given_up of none > 0"]);
    assert_eq!(absent.status.code(), Some(2), "{}", told(&absent));
    assert!(told(&absent).contains("there are: aimd, immediate:max-attempts=3"), "{}", told(&absent));
}

#[test]
fn junit_has_one_test_case_per_check_and_is_well_formed() {
    let here = directory();
    assert!(run(here.path(), &["--save-baseline", "b.json"]).status.success());
    let more = ["--fail-if", "amplification > 1.01", "--fail-if", "efficiency < 10%"];
    let left = run(here.path(), &[&more[..], &["--junit", "checks.xml"]].concat());
    assert_eq!(left.status.code(), Some(99), "{}", told(&left));
    let read = |name: &str| std::fs::read_to_string(here.path().join(name)).expect("the file was written");
    insta::assert_snapshot!("junit", read("checks.xml"));
    let again = run(here.path(), &["--baseline", "b.json", "--junit", "again.xml"]);
    assert_eq!(again.status.code(), Some(0), "{}", told(&again));
    let again = read("again.xml");
    assert!(again.contains("failures=\"0\"") && again.contains("against the baseline"), "{again}");
    let other = ["compare", "--simulate", "-s", "aimd,full-jitter,none", "--ops", "300", "--repeats", "6"];
    let other = loadgen_in(
        here.path(),
        &[&other[..], &["--baseline", "b.json", "--junit", "other.xml", "-q"]].concat(),
    );
    assert_eq!(other.status.code(), Some(0), "{}", told(&other));
    assert!(told(&other).contains("warning: full-jitter was not checked"), "{}", told(&other));
    assert_eq!(read("other.xml").matches("<skipped ").count(), 2, "{}", read("other.xml"));
    let refused = run(here.path(), &["--junit", "x.xml"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(told(&refused).contains("add `--fail-if` or `--baseline`"), "{}", told(&refused));
}
