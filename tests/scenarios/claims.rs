//! Claims as `loadgen reproduce` prints and counts them. Their judgement is tested in `experiments`, with literal figures.

use reproduce::reproduction::Changes;
use reproduce::scenario::embedded;
use serde_json::Value;

use crate::support::{document_of, loadgen, planned, run_only, written};

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn claim(result: &Value, says: &str) -> Value {
    let claims = result["scenarios"][0]["claims"].as_array().unwrap();
    let found = claims.iter().find(|claim| claim["says"].as_str().unwrap().starts_with(says));
    found.unwrap_or_else(|| panic!("nothing says `{says}`")).clone()
}

fn changed(name: &str, repeats: u32, settings: &[&str], experiment: &str) -> Value {
    let changes = Changes { repeats: Some(repeats), seed: None };
    document_of(&run_only(planned(&embedded(name).unwrap(), settings, changes), &[experiment]))
}

/// Returns a scenario of two consecutive ops with 3 attempts each, and a claim about them.
fn two_ops(claim: &str) -> String {
    format!(
        "name = \"two\"\ntitle = \"Two ops\"\nrepeats = 2\n[workload]\nat = [\"0s\", \"1s\"]\n[server]\nreject_first = \
         2\n[strategies]\na = \"immediate\"\nb = \"none\"\n[experiment.main]\n[experiment.other]\nserver = {{ reject_first = \
         0 }}\n[[claim]]\nsays = \"Of two ops\"\nexperiment = \"main\"\n{claim}"
    )
}

#[test]
fn one_sided_sentences_hold_however_far_the_figure_lies() {
    // There are 84 % fewer calls, which is more than half.
    let slow = ["server.network_delay=\"10ms\"", "server.return_delay=\"10ms\""];
    let result = changed("occ", 10, &slow, "clusters");
    let half = claim(&result, "Full jitter reduces the calls of 100 clients by more than half");
    assert!(half["values"][0]["value"].as_f64().unwrap() < 0.3, "{half}");
    assert_eq!(half["verdict"], "holds");
    assert_eq!(half["accept"], serde_json::json!([null, 0.5]));

    // 24.6 s is within 25 s, and so would be 1 s.
    let result = changed("sync-musings", 3, &["strategies.aimd=aimd:beta=0.95"], "main");
    let within = claim(&result, "It completes all requests within 25 s");
    assert!((24.0..25.0).contains(&within["values"][0]["value"].as_f64().unwrap()), "{within}");
    assert_eq!(within["verdict"], "holds");
}

#[test]
fn worse_than_is_a_ratio_against_the_other_and_not_a_number() {
    let args = [
        "reproduce",
        "sync-musings",
        "--repeats=1",
        "--json=-",
        "--set=experiment.growth.vary={ops=[50,100,5000,10000]}",
        "--set=experiment.worse.workload.duration=20s",
        "--set=server.max_busy=100",
    ];
    let left = loadgen(&args).exits(1);
    let result = left.json();
    for (says, verdict, as_expected) in [
        // With twice the slots there are far fewer attempts, but without jitter there are still more than with it.
        ("It would be even worse without jitter: more attempts", "holds", Value::Bool(true)),
        ("It completes all requests within 25 s", "holds", Value::Bool(true)),
        ("Attempts grow superlinearly", "holds", Value::Bool(true)),
        ("In the first few seconds essentially no", "does not hold", Value::Bool(false)),
        // One run has no spread, so that no claim about a mean can fail.
        ("Exponential backoff performs 17 392", "too few runs", Value::Null),
        ("The optimum is 20 s", "too few runs", Value::Null),
    ] {
        let found = claim(&result, says);
        assert_eq!((&found["verdict"], &found["as_expected"]), (&verdict.into(), &as_expected), "{says}");
        let unmet = left.stderr.rsplit_once("not as expected:").unwrap().1;
        assert_eq!(unmet.contains(says), as_expected == false, "{says}");
        assert!(!found["ours"].as_str().unwrap().contains("± 0"), "one run has no deviation: {found}");
    }
    let too_few = result["claims"]["source"]["too_few_runs"].as_u64().unwrap();
    assert!(
        too_few >= 4 && in_one_line(&left.stderr).contains(&format!(" {too_few} have too few runs to say; ")),
        "{}",
        left.stderr
    );
}

#[test]
fn our_own_claims_are_shown_and_counted_apart() {
    let text = two_ops("figure = \"attempts.total\"\nof = \"a\"\nprinted = \"6\"")
        + "\n[[claim]]\nours = true\nsays = \"We say\"\nexperiment = \"main\"\nfigure = \"attempts.total\"\nof = \
           \"b\"\nat_most = 1\nmeans = \"m\"\n";
    let (_dir, path) = written(text.as_bytes());
    let left = loadgen(&["reproduce", "--scenario", path.to_str().unwrap()]).exits(1);
    let apart = left.stdout.split_once("Claims of this project, which the source does not make:").unwrap().1;
    assert!(apart.contains("We say") && !apart.contains("Of two ops  "), "{}", left.stdout);
    for words in [
        "1 claim: 1 holds, 0 hold partly, 0 do not hold; all as expected 1 claim of this project, which no source makes: ",
        "0 hold, 0 hold partly, 1 does not hold; 0 as expected, 1 not not as expected: We say",
    ] {
        assert!(in_one_line(&left.stdout).contains(words), "{}", left.stdout);
    }
}

#[test]
fn the_figures_of_tailback_hold_in_virtual_time() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/tailback.toml");
    let result = loadgen(&["reproduce", "--scenario", file, "--json=-", "--quiet"]).exits(0).json();
    let tally = &result["claims"]["ours"];
    assert_eq!(tally["holds"], tally["claims"], "{tally}");
}
