//! Load relative to capacity, the warning that a load is too low, and rates in the unit in which they were given.

use serde_json::Value;

use crate::support::{Left, loadgen, loadgen_in};

fn words(left: &Left) -> String {
    left.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn succeeds(args: &[&str]) -> Left {
    let left = loadgen(args);
    assert_eq!(left.code, Some(0), "{args:?}: {}", left.stderr);
    left
}

fn result(args: &[&str]) -> Value {
    serde_json::from_str(&succeeds(&[args, &["--json", "-", "--quiet"]].concat()).stdout).expect("JSON")
}

#[test]
fn every_output_reports_the_load_factor() {
    let default = ["--simulate", "--strategy", "aimd"];
    let run = result(&default);
    assert_eq!(run["load_factor"].as_f64(), Some(10.0));
    let sentence = run["load"].as_str().expect("a sentence");
    let screen = words(&succeeds(&default));
    assert!(screen.ends_with(&format!("{sentence}. seed 1, simulated")), "{screen}");

    let openai = ["--simulate", "--preset", "openai", "--rate", "12/s", "--duration", "5m"];
    let folder = tempfile::tempdir().expect("a temporary directory");
    let compare = ["compare", "--repeats", "2", "--strategies", "preset:openai,none"];
    let outputs = ["--html", "page.html", "--json", "compared.json"];
    let compared = loadgen_in(folder.path(), &[&compare[..], &outputs, &openai].concat());
    let text = String::from_utf8_lossy(&compared.stdout);
    let document = std::fs::read_to_string(folder.path().join("compared.json")).expect("a document");
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let sentence = document["runs"][0]["load"].as_str().expect("a sentence");
    assert!(sentence.starts_with("12/s is 1.44 ×"), "{sentence}");
    assert!(text.contains(&format!("\n{sentence}.\n")), "{text}");
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("a page");
    assert!(page.replace('\u{a0}', " ").contains(sentence));

    for closed in [&["--in-flight", "20"][..], &["--arrivals", "burst"], &["--policy", "growing-rate"]] {
        let run = result(&[&default[..], &["--ops", "100"], closed].concat());
        assert!(run["load_factor"].is_null() && run["load"].is_null(), "{closed:?}: {}", run["load"]);
    }
}

#[test]
fn over_http_the_load_is_that_of_the_embedded_server() {
    let run = result(&["--strategy", "none", "--ops", "20", "--service-time", "5ms", "--max-busy", "10"]);
    assert_eq!(run["load_factor"].as_f64(), Some(0.5), "{}", run["load"]);
}

/// The suggested loads reach the limit.
#[test]
fn a_comparison_without_rejections_suggests_a_higher_load() {
    let openai = ["compare", "--simulate", "--preset", "openai", "--strategies", "preset:openai,aimd"];
    let compared = words(&succeeds(&[&openai[..], &["--rate", "10/s", "--duration", "3m"]].concat()));
    assert!(compared.contains("Nothing to compare: not one of 36 196 attempts was rejected."), "{compared}");
    assert!(!compared.contains("equivalent"), "{compared}");
    assert!(compared.contains("10/s for 3 min stays within the limit"), "{compared}");
    let (_, suggested) = compared.split_once("Try ").expect("a suggestion");
    let (flags, scale) = suggested.split_once(", or ").expect("two suggestions");
    let (scale, _) = scale.split_once(". ").expect("a full stop");
    let same = format!("--rate 10/s --duration 3m {scale}");
    for flags in [flags, &same] {
        let flags: Vec<&str> = flags.split(' ').collect();
        let compared = words(&succeeds(&[&openai[..], &flags].concat()));
        assert!(!compared.contains("Nothing to compare"), "{flags:?}: {compared}");
    }
}

#[test]
fn differences_without_a_rejection_are_those_of_the_clients() {
    let windows = "fixed-window:window=5,fixed-window:window=40";
    let compared = words(&succeeds(&[
        "compare",
        "--simulate",
        "--ops",
        "600",
        "--repeats",
        "2",
        "--strategies",
        windows,
    ]));
    let sentence =
        "Not one of 2 400 attempts was rejected: the differences come from the clients' own limits.";
    assert!(compared.contains(sentence), "{compared}");
}

/// Under the default load only.
#[test]
fn if_all_clients_give_up_a_more_suitable_load_is_suggested() {
    let strategies = "preset:aws-2026,preset:openai,none";
    let compare = ["compare", "--simulate", "--repeats", "2", "--strategies"];
    let compared = succeeds(&[&compare[..], &[strategies]].concat()).stdout;
    assert!(compared.contains("this load needs clients that wait"), "{compared}");
    let (_, flags) = compared.split_once(" try ").expect("flags to try");
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let again = succeeds(&[&compare[..], &[strategies], &flags].concat()).stdout;
    assert!(!again.contains("this load suits") && again.contains("90."), "{again}");
    let waiting = succeeds(&[&compare[..], &["none,aimd"]].concat()).stdout;
    assert!(!waiting.contains("this load suits"), "{waiting}");
    let chosen = succeeds(&[&compare[..], &[strategies, "--rate", "1000/s"]].concat()).stdout;
    assert!(!chosen.contains("this load suits"), "{chosen}");
}

/// They are printed as given.
#[test]
fn rates_are_accepted_with_and_without_a_unit() {
    let of = |strategy: &str, policy: &str| {
        let run =
            ["--simulate", "--ops", "60", "--rate", "420/m", "--strategy", strategy, "--policy", policy];
        result(&run)["makespan_s"].as_f64()
    };
    let given = of("token-bucket:rate=8", "token-bucket:rate=10");
    assert_eq!(given, of("token-bucket:rate=8/s", "token-bucket:rate=10/s"));
    assert_eq!(given, of("token-bucket:rate=480/min", "token-bucket:rate=600/m"));

    let run = ["--simulate", "--strategy", "token-bucket:rate=10/min", "--ops", "10", "--rate", "10/m"];
    let text = words(&succeeds(&run));
    assert!(text.starts_with("token-bucket:rate=10/min: all 10 ops done"), "{text}");
    assert!(text.contains("10/m is 0.0017 × capacity"), "{text}");
    let config: Value =
        serde_json::from_str(&succeeds(&[&run[..], &["--print-config"]].concat()).stdout).expect("JSON");
    assert_eq!(config["workload"]["rate"], "10/m");
    assert_eq!(config["strategy"][0]["parameters"]["rate"], "10/min");
}

#[test]
fn a_number_of_retries_is_answered_with_the_number_of_attempts() {
    for (strategy, key) in [
        ("preset:openai,max-retries=5", "max-retries"),
        ("preset:urllib3,total=5", "total"),
        ("full-jitter:retries=5", "retries"),
    ] {
        let refused = loadgen(&["--simulate", "--strategy", strategy]);
        assert_eq!(refused.code, Some(2));
        let words =
            format!("has no parameter `{key}`; did you mean max-attempts=6? (attempts = retries + 1)");
        assert!(refused.stderr.contains(&words), "{}", refused.stderr);
    }
}
