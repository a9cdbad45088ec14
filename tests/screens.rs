//! Screens of runs, of `loadgen reproduce` and of `loadgen strategies` in 80 columns, by the built program in virtual time.

use crate::support::loadgen;

fn screen(args: &[&str]) -> String {
    let text = loadgen(args).stdout;
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{args:?}:\n{text}");
    text
}

fn run(args: &str) -> String {
    let args: Vec<&str> = ["--simulate"].into_iter().chain(args.split_whitespace()).collect();
    screen(&args)
}

#[test]
fn a_run_prints_its_answer_first_then_one_line_per_fact() {
    let aimd = run("-s aimd");
    assert!(aimd.starts_with("aimd: all 2 000 ops done in 25.2 s (no client can be faster than 20.1 s)\n"));
    assert!(aimd.lines().count() <= 9, "{aimd}");
    insta::assert_snapshot!("run", aimd);
    insta::assert_snapshot!("run_explained", run("-s aimd --explain"));
}

#[test]
fn the_first_line_of_a_run_names_ops_that_were_not_done_and_why() {
    let openai = "-s preset:openai --preset openai --rate 12/s --duration 3m";
    let explained = format!("{openai} --explain");
    for (name, args) in [
        ("gave_up", openai),
        ("gave_up_explained", &explained),
        ("stalled", "-s immediate"),
        ("missed_deadline", "-s full-jitter --deadline 5s --within 3s --loss 5%"),
        ("unfinished", "-s full-jitter --rate 1000/s --duration 2s --drain 1s"),
        ("gave_up_for_two_reasons", "-s full-jitter --max-attempts 7 --deadline 3s --ops 500"),
    ] {
        insta::assert_snapshot!(format!("run_{name}"), run(args));
    }
}

#[test]
fn rows_of_a_run_fit_its_strategy_and_its_server() {
    for (name, args) in [
        ("paced", "-s tailback"),
        ("closed_loop", "-s aimd --in-flight 20 --ops 500"),
        ("changing_cap", "-s aimd --caps 5s=20"),
        ("rate_limit", "-s token-bucket:rate=80 --policy token-bucket:rate=100/s,burst=10 --clients 20"),
        ("hedged", "-s full-jitter+hedging --retry-after 2s"),
        ("never_throttled", "-s preset:openai --preset openai --rate 10/m --duration 5m"),
        ("large_window", "-s fixed-window:window=2000000 --ops 100 --explain"),
    ] {
        insta::assert_snapshot!(format!("run_{name}"), run(args));
    }
}

#[test]
fn several_runs_print_their_mean_then_the_table_over_seeds() {
    for (name, args) in [
        ("seeds", "-s aimd --repeats 30"),
        ("seeds_few", "-s aimd --repeats 2 --ops 200"),
        ("seeds_explained", "-s aimd --repeats 2 --ops 200 --explain"),
        ("seeds_gave_up", "-s preset:openai --preset openai --rate 12/s --duration 3m --repeats 5"),
        ("seeds_stalled", "-s immediate --max-busy 10 --ops 200 --repeats 3"),
    ] {
        insta::assert_snapshot!(format!("run_{name}"), run(args));
    }
}

/// `--explain` explains the claims that do not hold.
#[test]
fn several_documents_are_reproduced_in_twelve_lines() {
    let documents = ["reproduce", "retry-delays", "occ", "--repeats", "5"];
    let table = screen(&documents);
    assert!(table.lines().count() <= 12, "{table}");
    insta::assert_snapshot!("reproduce", table);
    insta::assert_snapshot!("reproduce_explained", screen(&[&documents[..], &["--explain"]].concat()));
}

#[test]
fn one_document_is_reproduced_claim_by_claim() {
    let one = loadgen(&["reproduce", "retry-delays", "--repeats", "2"]).exits(0).stdout;
    insta::assert_snapshot!("reproduce_one", one);
}

#[test]
fn strategies_are_listed_by_name_and_explained_on_demand() {
    for (name, args) in [
        ("strategies", &["strategies"][..]),
        ("strategies_explained", &["strategies", "--explain"]),
        ("strategies_aimd", &["strategies", "aimd"]),
        ("strategies_aimd_explained", &["strategies", "aimd", "--explain"]),
    ] {
        insta::assert_snapshot!(name, screen(args));
    }
}
