//! `loadgen compare` by the built program: ranks, sentences, and refusals. In virtual time, except for one test.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::{full_or, interrupted_after, skipped};

fn compare(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loadgen"));
    command.arg("compare").args(args).env("NO_COLOR", "1").output().expect("loadgen starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("loadgen writes UTF-8")
}

fn json(args: &[&str]) -> Value {
    let output = compare(&[args, &["--json", "-", "--quiet"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("loadgen writes JSON")
}

fn read(file: &Path) -> Value {
    let bytes = std::fs::read(file).expect("the result was written");
    serde_json::from_slice(&bytes).expect("loadgen writes JSON")
}

fn refused(args: &[&str]) -> String {
    let output = compare(&[args, &["--simulate"]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    assert!(output.stdout.is_empty());
    text(&output.stderr).to_owned()
}

#[test]
fn a_preset_of_a_server_is_compared_and_recorded_by_one_command() {
    let strategies = "preset:openai,preset:urllib3,aimd";
    let args =
        ["--preset", "openai", "--scale", "0.5", "--strategies", strategies, "--simulate", "--repeats", "2"];
    let compared = json(&args);
    let server = &compared["runs"][0]["config"]["server_model"];
    assert_eq!((&server["preset"], &server["scale"]), (&"openai".into(), &0.5.into()), "{server}");
    let policy = server["policy"].as_str().expect("the policy is written");
    assert!(policy.starts_with("requests=token-bucket:rate=250/min,burst=250,"), "{policy}");
    assert_eq!(server["answers"]["reject"]["requests"]["status"], 429, "{server}");
    let refusal = refused(&["--preset", "openai", "--policy", "gcra", "--strategies", "aimd,none"]);
    assert!(refusal.contains("cannot be used with"), "{refusal}");
    let refusal = refused(&["--scale", "0.5", "--strategies", "aimd,none"]);
    assert!(refusal.contains("--preset"), "{refusal}");
}

/// `immediate` is incomplete.
#[test]
fn the_example_ranks_the_oracle_and_aimd_first() {
    let strategies = "exponential:jitter=0.5,full-jitter,aimd,immediate,oracle";
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    let file = directory.path().join("compared.json");
    let path = file.to_str().expect("its name is UTF-8");
    let (repeats, runs, snapshot) = full_or(("30", 150, "compare_five"), ("10", 50, "compare_five_few"));
    let args =
        ["--simulate", "--strategies", strategies, "--ops", "2000", "--repeats", repeats, "--json", path];
    let output = compare(&args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.lines().count() <= 16 && said.lines().all(|line| line.chars().count() < 80), "{said}");
    insta::assert_snapshot!(snapshot, said);

    let document = read(&file);
    assert_eq!(document["runs"].as_array().map(Vec::len), Some(runs));
    let comparison = &document["comparison"];
    let ranked: Vec<(&str, Option<u64>, bool, bool)> = comparison["strategies"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| {
            let is = |key: &str| one[key].as_bool().expect("true or false");
            let name = one["strategy"].as_str().expect("a name");
            (name, one["rank"].as_u64(), is("complete"), is("on_pareto_front"))
        })
        .collect();
    assert_eq!(
        ranked,
        [
            ("oracle", Some(1), true, false),
            ("aimd", Some(2), true, true),
            ("exponential:jitter=0.5", Some(3), true, false),
            ("full-jitter", Some(4), true, false),
            ("immediate", None, false, false),
        ]
    );
    let pairs = comparison["pairs"].as_array().expect("a list");
    // Six pairs of four complete strategies in makespan, and two pairs of aimd in attempts.
    assert_eq!(pairs.len(), 8);
    let aimd = pairs
        .iter()
        .find(|pair| pair["first"] == "aimd" && pair["second"] == "full-jitter")
        .expect("every pair is there");
    assert_eq!((&aimd["figure"], &aimd["verdict"]), (&"makespan_s".into(), &"lower".into()));
    let figure = |key: &str| aimd[key].as_f64().expect("a number");
    assert!(figure("low") < figure("ratio") && figure("ratio") < figure("high"), "{aimd}");
    assert!(figure("high") < 0.6 && figure("p") < 0.01 && figure("level") > 0.95, "{aimd}");

    // Three ranked strategies are three pairs in two figures, all at one level.
    let level = comparison["level"].as_f64().expect("these seeds are enough");
    assert!((level - (1.0 - 0.05 / 6.0)).abs() < 1e-12, "{level}");
    let place = |one: &Value| (one["strategy"].as_str().expect("a name").to_owned(), one["place"].as_u64());
    let places: Vec<_> = comparison["strategies"].as_array().expect("a list").iter().map(place).collect();
    assert_eq!(places[..2], [("oracle".to_owned(), None), ("aimd".to_owned(), Some(1))]);
    assert_eq!(comparison["strategies"][0]["times_best"]["low"], Value::Null);
    assert_eq!(comparison["strategies"][2]["times_best"]["figure"], "makespan_s");
}

fn screen(args: &[&str]) -> String {
    let output = compare(&[&["--simulate"], args].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let screen = text(&output.stdout).to_owned();
    assert!(screen.lines().all(|line| line.chars().count() < 80), "{screen}");
    screen
}

#[test]
fn every_kind_of_answer_comes_first() {
    for (name, args) in [
        ("some_gave_up", &["-s", "exponential:jitter=0.5,aimd,preset:urllib3,preset:openai"][..]),
        ("within", &["-s", "aimd,full-jitter", "--within", "10s"]),
        ("one_run", &["-s", "aimd,full-jitter", "--repeats", "1"]),
        ("few_seeds", &["-s", "aimd,full-jitter", "--repeats", "4"]),
        ("tie", &["-s", "aimd,aimd:ssthresh=60,new-reno", "--ops", "300"]),
        ("equivalent", &["-s", "aimd,aimd:ssthresh=600"]),
        (
            "all_stopped",
            &["-s", "immediate,immediate:max-attempts=1000000", "--repeats", "5", "--ops", "400"],
        ),
        ("oracle", &["-s", "aimd,oracle"]),
        ("by_p99", &["-s", "aimd,exponential:jitter=0.5", "--by", "p99"]),
        ("by_attempts", &["-s", "aimd,full-jitter,tailback", "--by", "attempts"]),
        ("sensitivity", &["-s", "aimd,full-jitter", "--sensitivity"]),
        ("own_limits", &["-s", "fixed-window:window=5,fixed-window:window=40"]),
    ] {
        insta::assert_snapshot!(format!("answer_{name}"), screen(args));
    }
}

#[test]
fn a_preset_says_its_load_and_that_nothing_was_rejected() {
    let openai = ["--preset", "openai", "--rate"];
    let strategies = "preset:openai,preset:urllib3-usual,aimd,token-bucket:rate=8,preset:openai,max-attempts=6,\
                      preset:openai,max-attempts=11,cap=60s";
    let stalled = [&openai[..], &["12/s", "--duration", "5m", "--strategies", strategies]].concat();
    insta::assert_snapshot!("answer_all_gave_up", screen(&stalled));
    let idle =
        [&openai[..], &["10/s", "--duration", "3m", "--repeats", "5", "-s", "aimd,full-jitter"]].concat();
    insta::assert_snapshot!("answer_nothing_to_compare", screen(&idle));
}

#[test]
fn everything_else_is_behind_explain() {
    insta::assert_snapshot!(
        "explained",
        screen(&["-s", "aimd,full-jitter,none", "--explain", "--sensitivity"])
    );
}

#[test]
fn results_do_not_depend_on_the_threads() {
    let args =
        ["--simulate", "--strategies", "aimd,full-jitter,none", "--ops", "300", "--sensitivity", "--threads"];
    let bytes = |threads: &str| compare(&[&args[..], &[threads, "--json", "-", "--quiet"]].concat()).stdout;
    let alone = bytes("1");
    assert!(alone.len() > 10_000 && alone == bytes("2"));
}

#[test]
fn strategies_of_a_block_share_their_seed_and_arrivals() {
    let document = json(&["--simulate", "-s", "aimd,full-jitter", "-s", "linear", "--ops", "200"]);
    let runs = document["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 3 * 10);
    for (block, seed) in (0..10).zip(1_u64..) {
        let bound = |strategy: usize| {
            let run = &runs[strategy * 10 + block];
            assert_eq!(run["seed"], seed);
            run["optimal_makespan_s"].as_f64().expect("a plain cap has one").to_bits()
        };
        assert!(bound(0) == bound(1) && bound(1) == bound(2));
    }
    assert_eq!(document["comparison"]["order"].as_array().map(Vec::len), Some(10));
}

#[test]
fn three_repeats_are_too_few_to_say() {
    let output = compare(&["--simulate", "-s", "aimd,full-jitter", "--ops", "200", "--repeats", "3"]);
    assert!(output.status.success());
    let said = text(&output.stdout);
    assert!(said.contains("intervals need 5.") && said.contains("\n–  aimd "), "{said}");
}

#[test]
fn a_strategy_that_gives_up_is_not_ranked() {
    let document = json(&["--simulate", "-s", "none,aimd,full-jitter", "--by", "attempts", "--ops", "500"]);
    let strategies = document["comparison"]["strategies"].as_array().expect("a list");
    let last = strategies.last().expect("three");
    assert_eq!((&last["strategy"], &last["complete"]), (&"none".into(), &false.into()));
    let why = last["incomplete_because"].as_str().expect("a reason");
    assert!(why.starts_with("gave ops up"), "{why}");
}

#[test]
fn running_out_of_time_is_not_giving_up() {
    let work = ["--simulate", "-s", "exponential:base=25s,aimd", "--duration", "1s", "--rate", "200/s"];
    let document = json(&[&work[..], &["--drain", "25s"]].concat());
    let strategies = document["comparison"]["strategies"].as_array().expect("a list");
    let last = strategies.last().expect("two");
    assert_eq!(last["complete"], false);
    let why = last["incomplete_because"].as_str().expect("a reason");
    assert!(why.starts_with("left ops unfinished when the time of `--drain` was over"), "{why}");
    assert!(!why.contains("gave"), "{why}");
    let document = json(&[&work[..], &["--drain", "25s", "--max-attempts", "2"]].concat());
    let why = document["comparison"]["strategies"].to_string();
    assert!(why.contains("gave ops up, and left others unfinished"), "{why}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    for (strategies, expected) in [
        ("aimd", "name at least two"),
        ("aimd,full-jitter,aimd", "two strategies equal to `aimd`"),
        ("aimd,aimd:beta=0.7+none,full-jitter,full-jitter:", "two strategies equal to"),
        ("aimd,ful-jitter", "unknown strategy `ful-jitter` (did you mean `full-jitter`?)"),
    ] {
        let said = refused(&["--strategies", strategies]);
        assert!(said.contains(expected), "{strategies}: {said}");
    }
    assert!(refused(&[]).contains("--strategies"));
    assert!(refused(&["-s", "aimd,oracle", "--loss", "0.1"]).contains("`oracle` supports only"));
    assert!(refused(&["-s", "aimd,none", "--time-scale", "0.2"]).contains("--time-scale"));
}

#[test]
fn an_interrupt_keeps_the_complete_blocks() {
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    let file = directory.path().join("compared.json");
    let path = file.to_str().expect("its name is UTF-8");
    // Far more repeats than could finish before the interrupt.
    let args = ["compare", "--simulate", "-s", "aimd,full-jitter", "--repeats", "1000000", "--json", path];
    // After four runs, one block of two strategies is complete, whatever the order of runs on two threads is.
    let (output, _) = interrupted_after(directory.path(), &args, 4);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("stopped by SIGINT: ") && said.contains("of 1 000 000 seeds"), "{said}");

    let document = read(&file);
    let blocks = document["comparison"]["blocks"].as_u64().expect("a number");
    let runs = document["runs"].as_array().expect("a list");
    assert!(blocks > 0 && runs.len() as u64 == 2 * blocks);
    assert!(runs.iter().all(|run| run["interrupted"].is_null()));
}

#[test]
fn over_http_every_run_has_a_server_of_its_own() {
    let args = ["-s", "aimd,fixed-window", "--ops", "60", "--max-busy", "10", "--time-scale", "0.2"];
    let document = json(&[&args[..], &["--repeats", "2", "--rate", "200/s"]].concat());
    let runs = document["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 4);
    for run in runs {
        assert_eq!(run["mode"], "http");
        assert_eq!(run["server"]["received"], run["attempts"]["total"], "it was not idle");
    }
    assert_eq!(document["comparison"]["strategies"].as_array().map(Vec::len), Some(2));
}

/// The strategy that gave ops up is not called complete.
#[test]
fn beside_a_stopped_strategy_giving_up_is_ranked_by_share() {
    let output = compare(&[
        "--simulate",
        "--preset",
        "openai",
        "--rate",
        "12/s",
        "--duration",
        "5m",
        "--repeats",
        "2",
        "--strategies",
        "preset:openai,preset:openai,max-attempts=11,cap=60s",
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.starts_with("preset:openai got most done: 47.4 % of the ops"), "{said}");
    assert!(said.contains("\n!  openai…,cap=60s    ≥ 43.4 %"), "{said}");
}

#[test]
fn of_many_strategies_ten_are_listed_and_all_with_explain() {
    let strategies = "oracle,aimd,none,immediate,exponential:jitter=0.5,full-jitter,equal-jitter,\
                      decorrelated-jitter,fixed-window,linear,cubic,new-reno,netflix-vegas,tailback";
    let args = ["--ops", "500", "--repeats", "5", "--strategies", strategies];
    let short = screen(&args);
    assert!(short.contains("… 2 more: --explain\n"), "{short}");
    assert!(short.lines().any(|line| line.starts_with("*   oracle")), "{short}");
    let long = compare(&[&["--simulate", "--explain"], &args[..]].concat());
    assert!(text(&long.stdout).lines().filter(|line| line.contains(" none ")).count() > 1);
}

#[test]
fn the_table_goes_into_pull_requests_as_markdown() {
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    let file = directory.path().join("table.md");
    let path = file.to_str().expect("its name is UTF-8");
    let args = ["--simulate", "-s", "aimd,full-jitter,none,oracle", "--ops", "300"];
    let output = compare(&[&args[..], &["--markdown", path]].concat());
    assert!(output.status.success() && !output.stdout.is_empty(), "{}", text(&output.stderr));
    let written = std::fs::read_to_string(&file).expect("the table was written");
    insta::assert_snapshot!("markdown", written);
    let output = compare(&[&args[..], &["--markdown", "-"]].concat());
    assert_eq!(text(&output.stdout), written);
    assert!(text(&output.stderr).contains("aimd finished first of the 2"), "{}", text(&output.stderr));
    let refusal = refused(&["-s", "aimd,none", "--markdown", "x", "--json", "x"]);
    assert!(refusal.contains("named for two outputs"), "{refusal}");
}

#[test]
fn intervals_are_those_of_scipy() {
    let has_scipy = Command::new("python3").args(["-c", "import scipy.stats"]).output();
    if !has_scipy.is_ok_and(|output| output.status.success()) {
        return skipped("python3 has no SciPy to recompute intervals with");
    }
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    let (document, printed) = (directory.path().join("compared.json"), directory.path().join("screen.txt"));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/intervals.py");
    let openai = ["--preset", "openai", "--rate", "12/s", "--duration", "5m", "--repeats", "6"];
    for args in [
        &["-s", "exponential:jitter=0.5,full-jitter,aimd,none,oracle", "--ops", "800", "--repeats", "12"][..],
        &[&openai[..], &["-s", "preset:openai,aimd,token-bucket:rate=8"]].concat(),
    ] {
        let path = document.to_str().expect("its name is UTF-8");
        let shown = screen(&[args, &["--json", path]].concat());
        std::fs::write(&printed, shown).expect("the screen can be written");
        let checked =
            Command::new("python3").arg(script).args([&document, &printed]).output().expect("python3 starts");
        assert!(checked.status.success(), "{}{}", text(&checked.stdout), text(&checked.stderr));
        assert!(text(&checked.stdout).contains("ratios and intervals agree"), "{}", text(&checked.stdout));
    }
}
