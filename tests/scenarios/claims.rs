//! A claim is judged as its sentence reads: open where it says nothing, by rounding where it prints a number, and by single
//! runs where its source had one.

use serde_json::Value;

use crate::program::{Left, loadgen, written};

/// The claim of a scenario's result that begins so.
fn claim(result: &Value, says: &str) -> Value {
    let claims = result["scenarios"][0]["claims"].as_array().unwrap();
    let found = claims.iter().find(|claim| claim["says"].as_str().unwrap().starts_with(says));
    found.unwrap_or_else(|| panic!("nothing says `{says}`")).clone()
}

/// Runs a scenario of one's own.
fn run(text: &str, code: i32, more: &[&str]) -> Left {
    let (_dir, path) = written(text.as_bytes());
    let args = [&["reproduce", "--scenario", path.to_str().unwrap(), "--json=-"], more].concat();
    loadgen(&args).exits(code)
}

/// Two ops one after the other, each 3 attempts in all, and a claim about them.
fn two_ops(claim: &str) -> String {
    format!(
        "name = \"two\"\ntitle = \"Two ops\"\nrepeats = 2\n[workload]\nat = [\"0s\", \"1s\"]\n[server]\nreject_first = \
         2\n[strategies]\na = \"immediate\"\nb = \"none\"\n[experiment.main]\n[experiment.other]\nserver = {{ reject_first = \
         0 }}\n[[claim]]\nsays = \"Of two ops\"\nexperiment = \"main\"\n{claim}"
    )
}

#[test]
fn one_sided_sentences_hold_however_far_the_figure_lies() {
    // Calls are fewer by 84 % there: that is more than half.
    let left = loadgen(&[
        "reproduce",
        "occ",
        "--json=-",
        "-q",
        "--repeats=10",
        "--set=server.network_delay=\"10ms\"",
        "--set=server.return_delay=\"10ms\"",
        "--set=experiment.contention.vary={clients=[10,20,30,50,80,100,120,150,170,200]}",
    ]);
    assert!(matches!(left.code, Some(0 | 1)), "{left:?}");
    let half = claim(&left.json(), "Full jitter reduces the calls of 100 clients by more than half");
    assert!(half["values"][0]["value"].as_f64().unwrap() < 0.3, "{half}");
    assert_eq!(half["verdict"], "holds");
    assert_eq!(half["accept"], serde_json::json!([null, 0.5]));

    // 24.6 s is within 25 s, and so would be 1 s.
    let left = loadgen(&[
        "reproduce",
        "sync-musings",
        "--json=-",
        "-q",
        "--repeats=3",
        "--set=strategies.aimd=aimd:beta=0.95",
        "--set=experiment.growth.vary={ops=[50,100,5000,10000]}",
        "--set=experiment.worse.workload.duration=20s",
    ]);
    let within = claim(&left.json(), "It completes all requests within 25 s");
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
        // Twice the slots take far fewer attempts, but without jitter it is still more.
        ("It would be even worse without jitter: more attempts", "holds", Value::Bool(true)),
        ("It completes all requests within 25 s", "holds", Value::Bool(true)),
        ("Attempts grow superlinearly", "holds", Value::Bool(true)),
        ("In the first few seconds essentially no", "does not hold", Value::Bool(false)),
        // One run lies outside of nothing.
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
        too_few >= 4 && left.stderr.contains(&format!(" {too_few} have too few runs to say; ")),
        "{}",
        left.stderr
    );
}

#[test]
fn verdicts_follow_sentences_and_expectations() {
    for (claim, value, verdict, code) in [
        ("figure = \"attempts.total\"\nof = \"a\"\nprinted = \"6\"", 6.0, "holds", 0),
        ("figure = \"attempts.total\"\nof = \"a\"\nabove = \"6\"", 6.0, "does not hold", 1),
        ("figure = \"attempts.total\"\nof = \"a\"\nat_least = \"6\"", 6.0, "holds", 0),
        (
            "figure = \"attempts.total\"\nof = \"a\"\nabove = 6\nmeans = \"m\"\nexpect = \"does-not-hold\"",
            6.0,
            "does not hold",
            0,
        ),
        (
            "figure = \"attempts.total\"\nof = \"a\"\nprinted = \"6\"\nexpect = \"does-not-hold\"",
            6.0,
            "holds",
            1,
        ),
        (
            "figure = \"attempts.total\"\nof = \"a\"\nprinted = \"6\"\nexpect = \"holds-partly\"",
            6.0,
            "holds",
            1,
        ),
        ("figure = \"attempts.total\"\nof = \"a\"\nagainst = \"b\"\nabove = 1", 3.0, "holds", 0),
        ("figure = \"attempts.total\"\nof = \"a\"\nagainst = \"b\"\nprinted = \"3.00\"", 3.0, "holds", 0),
        (
            "figure = \"attempts.total\"\nof = \"a\"\nagainst = { experiment = \"other\" }\nprinted = \"3\"",
            3.0,
            "holds",
            0,
        ),
        (
            "figure = \"attempts.total\"\nof = \"a\"\nagainst = { figure = \"ops.succeeded\" }\nprinted = \"3\"",
            3.0,
            "holds",
            0,
        ),
        (
            "figure = \"attempts.total\"\nof = [\"a\", \"b\"]\nabove = \"2\"\nexpect = \"holds-partly\"",
            6.0,
            "holds partly",
            0,
        ),
        ("figure = \"ops.given_up\"\nof = \"b\"\nminus = 1\ntimes = 10\nprinted = \"10\"", 10.0, "holds", 0),
        ("figure = \"attempts.total\"\nof = \"a\"\nstat = \"max\"\nprinted = \"6\"", 6.0, "holds", 0),
        ("figure = \"attempts.total\"\nof = \"a\"\nstat = \"deviation\"\nprinted = \"0\"", 0.0, "holds", 0),
        ("figure = \"attempts.total\"\nof = \"a\"\none_run = true\nabove = \"5\"", 6.0, "holds", 0),
        ("figure = \"attempts.total\"\nof = \"a\"\none_run = true\nprinted = \"6\"", 6.0, "too few runs", 0),
        ("figure = \"attempts.total\"\nof = \"a\"\none_run = true\nprinted = \"9\"", 6.0, "too few runs", 0),
    ] {
        let left = run(&two_ops(claim), code, &["-q"]);
        let found = left.json()["scenarios"][0]["claims"][0].clone();
        assert_eq!(found["verdict"], verdict, "{claim}: {found}");
        assert_eq!(found["values"][0]["value"].as_f64(), Some(value), "{claim}: {found}");
    }
}

#[test]
fn a_claim_may_hold_at_some_points_only() {
    let text = "name = \"points\"\ntitle = \"Points\"\nrepeats = 1\n[workload]\nat = [\"0s\"]\n[strategies]\na = \
                \"immediate\"\n[experiment.main]\nvary = { reject_first = [1, 2, 3] }\n[[claim]]\nsays = \"Three at \
                most\"\nfigure = \"attempts.total\"\nof = \"a\"\nover = [1, 2, 3]\nat_most = \"3\"\nexpect = \
                \"holds-partly\"\n[[claim]]\nsays = \"It grows slower than what is rejected\"\nfigure = \
                \"attempts.total\"\nof = \"a\"\ngrowth = [1, 3]\nbelow = 1\n[[claim]]\nsays = \"More than with one\"\nfigure = \
                \"attempts.total\"\nof = \"a\"\nagainst = { at = 1 }\nover = [2, 3]\nabove = 1\n";
    let result = run(text, 0, &["-q"]).json();
    let claims = &result["scenarios"][0]["claims"];
    assert_eq!(claims[0]["verdict"], "holds partly");
    let of = |claim: &Value, key: &str| -> Vec<Value> {
        claim["values"].as_array().unwrap().iter().map(|one| one[key].clone()).collect()
    };
    assert_eq!(of(&claims[0], "value"), [2.0, 3.0, 4.0]);
    assert_eq!(of(&claims[0], "verdict"), ["holds", "holds", "does not hold"]);
    assert!(claims[0]["ours"].as_str().unwrap().ends_with("not: 3"), "{}", claims[0]);
    // log(4 / 2) / log(3 / 1)
    let exponent = claims[1]["values"][0]["value"].as_f64().unwrap();
    assert!((exponent - 0.6309).abs() < 1e-4 && claims[1]["verdict"] == "holds", "{exponent}");
    assert_eq!(of(&claims[2], "value"), [1.5, 2.0]);
}

/// One op whose attempts are lost at random, and claims about one run of it.
fn by_chance(repeats: u32, loss: f64, claim: &str) -> Value {
    let text = format!(
        "name = \"chance\"\ntitle = \"Chance\"\nrepeats = {repeats}\none_run = true\n[workload]\nat = [\"0s\"]\ntimeout = \
         \"1s\"\n[server]\nloss = {loss}\n[strategies]\na = \"none\"\n[experiment.main]\n[[claim]]\nsays = \"It \
         succeeds\"\nfigure = \"ops.succeeded\"\nof = \"a\"\n{claim}\n"
    );
    let (_dir, path) = written(text.as_bytes());
    let left = loadgen(&["reproduce", "--scenario", path.to_str().unwrap(), "--json=-", "-q"]);
    left.json()["scenarios"][0]["claims"][0].take()
}

#[test]
fn a_sentence_about_one_run_is_judged_by_the_share_of_runs() {
    for (loss, verdict) in [(0.1_f64, "holds"), (0.6, "holds partly"), (0.95, "does not hold")] {
        let found = by_chance(200, loss, "at_least = \"1\"");
        let so = found["values"][0]["so_in"].as_f64().unwrap();
        // Requests are lost, and so are answers.
        assert!((so / 200.0 - (1.0 - loss) * (1.0 - loss)).abs() < 0.12, "{found}");
        assert_eq!(found["verdict"], verdict, "{found}");
        assert!(found["ours"].as_str().unwrap().contains(&format!("so in {so} of 200 runs")), "{found}");
        assert_eq!(found["judged_by"], "the share of runs");
    }
}

#[test]
fn a_printed_number_of_one_run_lies_in_the_middle_of_ours() {
    // From 39 runs on: 38 may all lie on one side by chance.
    for (repeats, loss, verdict) in
        [(38, 0.0, "too few runs"), (39, 0.0, "does not hold"), (39, 0.5, "holds"), (200, 0.99, "holds")]
    {
        let found = by_chance(repeats, loss, "printed = \"0\"");
        assert_eq!(found["verdict"], verdict, "{found}");
        assert_eq!(found["judged_by"], "the middle 95 % of runs");
        assert_eq!(found["values"][0]["middle"].is_null(), repeats == 38, "{found}");
    }
}

#[test]
fn what_no_source_says_is_shown_and_counted_apart() {
    let text = two_ops("figure = \"attempts.total\"\nof = \"a\"\nprinted = \"6\"")
        + "\n[[claim]]\nours = true\nsays = \"We say\"\nexperiment = \"main\"\nfigure = \"attempts.total\"\nof = \
           \"b\"\nat_most = 1\nmeans = \"m\"\n";
    let (_dir, path) = written(text.as_bytes());
    let left = loadgen(&["reproduce", "--scenario", path.to_str().unwrap()]).exits(1);
    let apart = left.stdout.split_once("Ours, which the source does not say:").unwrap().1;
    assert!(apart.contains("We say") && !apart.contains("Of two ops  "), "{}", left.stdout);
    for words in [
        "\n1 claim: 1 holds, 0 hold partly, 0 do not hold; all as expected\n",
        "\n1 claim of ours, which no source makes: 0 hold, 0 hold partly, 1 does not hold; 0 as expected, 1 not\n",
        "\nnot as expected:\n  We say\n",
    ] {
        assert!(left.stdout.contains(words), "{}", left.stdout);
    }
}

#[test]
fn every_bound_that_is_not_the_sources_own_says_why() {
    // The programs refuse others; here that no reason is a mere word, and that none speaks of what came out.
    let left = loadgen(&["reproduce", "--repeats=1", "--quiet", "--json=-"]);
    let result = left.json();
    let mut readings = 0;
    for claim in
        result["scenarios"].as_array().unwrap().iter().flat_map(|one| one["claims"].as_array().unwrap())
    {
        let means = claim["means"].as_str().unwrap();
        readings += usize::from(!means.is_empty());
        assert!(!means.contains(" here ") && !means.contains("measured"), "{claim}");
        assert!(!claim["published"].as_str().unwrap().is_empty() || claim["ours_alone"] == true, "{claim}");
    }
    assert!(readings > 20, "{readings}");
}
