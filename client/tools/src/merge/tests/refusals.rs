//! Documents that cannot be merged, and flags that conflict with `--shard`.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use shell::Exit;

use crate::merge::tests::{Folder, loadgen, merge, merge_partly, shards, with, words};

const SMALL: &str = "--simulate --strategy aimd --ops 20 --repeats 5";

/// Returns the error for these files, after checking that no file is written.
fn refused(folder: &Folder, files: &[&str]) -> String {
    let before = folder.names();
    let files: Vec<_> = files.iter().map(|name| folder.path(name)).collect();
    let merged = folder.path("merged.json");
    let error = merge(&files, &[("--output", &merged)]).unwrap_err();
    assert_eq!(shell::exit::report(&error), Exit::Usage.into());
    assert_eq!(folder.names(), before, "nothing is written");
    format!("{error:#}").replace(&format!("{}/", folder.0.path().display()), "")
}

fn written(folder: &Folder, name: &str, typed: &str) {
    loadgen(&with(&words(typed), &[("--json", &folder.path(name))])).unwrap();
}

#[test]
fn strategies_keep_the_order_of_the_lowest_seed() {
    let folder = Folder::new();
    written(&folder, "low.json", "compare --simulate --strategies aimd,none --ops 20 --repeats 5");
    written(&folder, "high.json", "compare --simulate --strategies none,aimd --ops 20 --seed 6 --repeats 5");
    let merged = |names: [&str; 2]| {
        let merged = folder.path("merged.json");
        let files = names.map(|name| folder.path(name));
        assert_eq!(merge(&files, &[("--output", &merged)]).unwrap(), ExitCode::SUCCESS);
        folder.read("merged.json")
    };
    assert_eq!(merged(["low.json", "high.json"]), merged(["high.json", "low.json"]));
}

#[test]
fn stopped_runs_are_left_out_only_with_partial() {
    let folder = Folder::new();
    written(&folder, "whole.json", SMALL);
    folder.changed("whole.json", "stopped.json", "\"interrupted\":null", "\"interrupted\":\"SIGINT\"");
    assert_eq!(
        refused(&folder, &["stopped.json"]),
        "seed 1 of `stopped.json` was stopped; `--partial` merges the blocks that are complete"
    );
    let merged = folder.path("merged.json");
    let code = merge_partly(&[folder.path("stopped.json")], &[("--output", &merged)]).unwrap();
    assert_eq!(code, Exit::Unmet.into());
    assert!(folder.read("merged.json").contains("\"repeats\":4"));
}

#[test]
fn missing_duplicate_and_foreign_documents_are_refused_by_name() {
    let folder = Folder::new();
    shards(&words(SMALL), 3, &folder);
    assert_eq!(
        refused(&folder, &["0.json", "2.json"]),
        "no document has shard 1/3; `--partial` merges the blocks that are complete"
    );
    assert_eq!(
        refused(&folder, &["1.json"]),
        "no document has shards 0/3, 2/3; `--partial` merges the blocks that are complete"
    );
    fs::copy(folder.path("1.json"), folder.path("again.json")).unwrap();
    assert_eq!(
        refused(&folder, &["0.json", "1.json", "again.json", "2.json"]),
        "`again.json` and `1.json` are both shard 1 of 3; give each once"
    );
    written(&folder, "first.json", SMALL);
    written(&folder, "second.json", &format!("{SMALL} --seed 5"));
    assert_eq!(
        refused(&folder, &["first.json", "second.json"]),
        "`second.json` and `first.json` both have seed 5 of aimd; give each run once"
    );
    let sweep = "sweep --simulate --strategies aimd --vary ops=5,6 --repeats 2";
    written(&folder, "sweep.json", sweep);
    written(&folder, "sweep-2.json", &format!("{sweep} --seed 2"));
    let refusal = refused(&folder, &["sweep.json", "sweep-2.json"]);
    assert!(refusal.contains("both have seed 2 of aimd at ops=5"), "{refusal}");
    for (other, expected) in [
        ("--simulate --strategy none --ops 20 --repeats 5", "none is only in the "),
        ("--simulate --strategy aimd --ops 21 --repeats 5", "workload.ops is 21, there 20"),
        (
            "--simulate --strategy aimd --ops 20 --repeats 5 --max-busy 9",
            "server_model.max_busy is 9, there 50",
        ),
        (
            "compare --simulate --strategies aimd,none --ops 20 --repeats 5",
            "its command is `compare` in the first and `run` in the second",
        ),
    ] {
        written(&folder, "foreign.json", &format!("{other} --seed 6"));
        let refusal = refused(&folder, &["first.json", "foreign.json"]);
        let names_both = ["`foreign.json`", "`first.json`", " cannot be merged: "];
        assert!(names_both.iter().chain([&expected]).all(|words| refusal.contains(words)), "{refusal}");
    }
    for (one, other, expected) in [
        (
            "compare --simulate --strategies aimd,none --ops 9",
            "--by attempts",
            "`--by` is `attempts.total` in the first and `makespan_s`",
        ),
        (sweep, "--vary clients=1,2", "`--vary` is `ops=5,6 clients=1,2` in the first and `ops=5,6` in"),
    ] {
        written(&folder, "one.json", one);
        written(&folder, "other.json", &format!("{one} --seed 50 {other}"));
        let refusal = refused(&folder, &["one.json", "other.json"]);
        assert!(refusal.contains(expected), "{refusal}");
    }
    let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    folder.changed("1.json", "foreign.json", &version, "\"version\":\"9.9.9\"");
    let refusal = refused(&folder, &["0.json", "foreign.json", "2.json"]);
    assert!(refusal.starts_with("`foreign.json` was written by loadgen 9.9.9, and this is "), "{refusal}");
    let typed =
        with(&words(SMALL), &[("--shard", Path::new("1/4")), ("--json", &folder.path("foreign.json"))]);
    loadgen(&typed).unwrap();
    let refusal = refused(&folder, &["0.json", "foreign.json"]);
    assert!(refusal.contains("the number of shards is `4` in the first and `3` in the second"), "{refusal}");
    let refusal = refused(&folder, &["0.json", "first.json"]);
    assert!(refusal.contains("the number of shards is `none` in the first and `3`"), "{refusal}");
}

#[test]
fn documents_with_other_seeds_are_merged_with_a_gap() {
    let folder = Folder::new();
    written(&folder, "a.json", "--simulate --ops 20 --repeats 2");
    written(&folder, "b.json", "--simulate --ops 20 --seed 9");
    let merged = folder.path("merged.json");
    let files = ["b.json", "a.json"].map(|name| folder.path(name));
    assert_eq!(merge(&files, &[("--output", &merged)]).unwrap(), ExitCode::SUCCESS);
    let merged: serde_json::Value = serde_json::from_str(&folder.read("merged.json")).unwrap();
    let runs = merged["runs"].as_array().unwrap();
    let figures = |key: &str| runs.iter().map(|run| run["config"][key].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!((figures("seed"), figures("repeats")), (vec![1, 2, 9], vec![3; 3]));
    assert_eq!(merged["summary"]["makespan_s"]["count"], 3);
}

#[test]
fn a_shard_is_not_written_over() {
    let folder = Folder::new();
    let files = shards(&words(SMALL), 2, &folder);
    let before = folder.read("1.json");
    for flag in ["--output", "--csv"] {
        let error = merge(&files, &[(flag, &files[1])]).unwrap_err();
        assert_eq!(shell::exit::report(&error), Exit::Usage.into());
        assert!(error.to_string().contains(&format!("({flag}) is one of the documents")), "{error:#}");
    }
    assert_eq!(folder.read("1.json"), before);
}

#[test]
fn a_document_that_is_broken_or_none_is_refused_with_its_place() {
    let folder = Folder::new();
    shards(&words(SMALL), 2, &folder);
    let refusal = |name: &str| refused(&folder, &["0.json", name]);
    assert!(refusal("absent.json").starts_with("`absent.json` cannot be read"), "{}", refusal("absent.json"));
    let good = folder.read("1.json");
    let cut = &good[..good.len() / 2];
    let deep = format!("{{\"runs\":[],\"deep\":{}{}}}", "[".repeat(9_999), "]".repeat(9_999));
    for (text, words) in [
        ("", "line 1, column 0: it is empty"),
        ("hello", "it is not JSON"),
        (cut, "the document is incomplete, because the file was cut off"),
        (deep.as_str(), "recursion limit exceeded"),
        ("{\"shard\": {\"kind\": \"tasks\"}, \"plan\": {}}", "the document is a shard of a former version"),
        ("{\"scenarios\": []}", "the document has no runs"),
    ] {
        fs::write(folder.path("broken.json"), text).unwrap();
        let refusal = refusal("broken.json");
        assert!(
            refusal.starts_with("`broken.json` cannot be merged: ") && refusal.contains(words),
            "{refusal}"
        );
    }
    fs::write(folder.path("broken.json"), [b'"', 0xff, b'"']).unwrap();
    assert!(refusal("broken.json").contains("UTF-8"));
    for (what, by, words) in [
        ("\"index\":1", "\"index\":2", "`shard.index`: 2 is not below 2"),
        ("\"index\":1", "\"index\":-1", "`shard.index`: integer `-1` is not a whole number"),
        ("\"of\":2", "\"of\":0", "`shard.index`: 1 is not below 0"),
        ("\"blocks\":5", "\"blocks\":0", "the number of blocks is `0` in the first"),
        ("\"repeats\":5,", "\"repeats\":6,", "`config.repeats` of a run contradicts `shard.blocks`"),
        ("\"seed\":2,", "\"seed\":1e300,", "1e300 is too large"),
        ("\"seed\":2,", "\"seed\":3,", "`runs[0].config.seed`: is 2, and the run's is 3"),
        ("\"schema_version\":1", "\"schema_version\":7", "`runs[0].schema_version`: 7 is newer"),
        ("\"warnings\":[]", "\"warnings\":[\"\\u001b[2J\"]", "contains characters that cannot be shown"),
        ("\"runs\":[", "\"jogs\":[", "the document has no runs"),
        ("\"succeeded\":20,", "\"succeeded\":19,", "`runs[0].ops.total`: is 20, but 19 ops succeeded"),
        (
            "\"rejected\":0,",
            "\"rejected\":18446744073709551615,",
            "`runs[0].attempts`: 18446744073709551615 is larger",
        ),
        ("\"makespan_s\":", "\"makespan_s\":-", "`runs[0].makespan_s`: -"),
        ("\"succeeded\":20,", "\"succeeded\":21,", "`runs[0].ops.succeeded`: 21 is more than all"),
        (
            "\"mode\":\"simulated\",\"strategy\"",
            "\"mode\":\"http\",\"strategy\"",
            "mode is \"http\", there \"simulated\"",
        ),
    ] {
        folder.changed("1.json", "broken.json", what, by);
        let refusal = refusal("broken.json");
        assert!(refusal.contains(words), "{words}: {refusal}");
    }
}

#[test]
fn a_configuration_that_no_command_writes_is_refused() {
    let folder = Folder::new();
    written(&folder, "0.json", "--simulate --strategy aimd --ops 20");
    for (what, by, words) in [
        ("\"timeout\":\"30s\"", "\"timeout\":\"long\"", "`timeout` is `long`"),
        ("\"strategy\":\"aimd\"", "\"strategy\":\"amid\"", "`amid` is not a strategy"),
        ("\"strategy\":\"aimd\"", "\"strategy\":\"none\"", "`config.strategy` is "),
        ("\"max_busy\":50", "\"max_busy\":0", "the server cannot be configured"),
    ] {
        folder.changed("0.json", "changed.json", what, by);
        let refusal = refused(&folder, &["changed.json"]);
        assert!(refusal.contains(words), "{words}: {refusal}");
    }
}

#[test]
fn partial_merges_are_marked_incomplete() {
    let folder = Folder::new();
    let incomplete = |typed: &str, of, kept: &[usize]| {
        let files = shards(&words(typed), of, &folder);
        let files: Vec<_> = kept.iter().map(|index| files[*index].clone()).collect();
        let [merged, page] = ["merged.json", "merged.html"].map(|name| folder.path(name));
        let code = merge_partly(&files, &[("--output", &merged), ("--html", &page)]);
        assert_eq!(code.unwrap(), ExitCode::from(1));
        serde_json::from_str::<serde_json::Value>(&folder.read("merged.json")).unwrap()
    };
    let run = incomplete(SMALL, 3, &[2, 0]);
    let mark = serde_json::json!({"shards": 3, "missing_shards": [1], "tasks": 5, "missing_tasks": 2});
    assert_eq!(run["incomplete"], mark);
    assert!(folder.read("merged.html").contains("Incomplete: 2 of 5 runs are missing"));
    let seeds: Vec<u64> =
        run["runs"].as_array().unwrap().iter().filter_map(|run| run["seed"].as_u64()).collect();
    assert_eq!(seeds, [1, 3, 4]);
    assert_eq!(run["summary"]["makespan_s"]["count"], 3);
    let compared = incomplete(
        "compare --simulate --strategies aimd,none,immediate --ops 20 --repeats 8 --sensitivity",
        4,
        &[0, 1, 3],
    );
    assert_eq!(compared["comparison"]["incomplete"]["missing_shards"], serde_json::json!([2]));
    assert_eq!(compared["comparison"]["blocks"], 6, "blocks 2 and 6 lack all of their runs");
    let swept =
        incomplete("sweep --simulate --strategies aimd,none --vary ops=10,20 --repeats 6", 4, &[0, 1, 2]);
    assert_eq!(swept["sweep"]["incomplete"]["missing_tasks"], 6);
    assert_eq!(swept["sweep"]["cells"][0]["figures"]["makespan_s"]["count"], 5, "block 3 is missing");
    assert_eq!(swept["runs"].as_array().unwrap().len(), 18);
}

#[test]
fn what_is_of_all_runs_does_not_go_with_a_shard() {
    let folder = Folder::new();
    let json = folder.path("0.json").display().to_string();
    for (typed, expected) in [
        ("", "add `--json FILE`"),
        ("--json J --csv c.csv", "`--csv` needs all runs"),
        ("--json J --html h.html", "`--html` needs all runs"),
        ("--json J --hdr h.hdr", "`--hdr` needs the latency of every op"),
        ("--json J --samples s.ndjson", "`--samples` needs the attempts of all runs"),
        ("--json J --fail-if amplification>2", "`--fail-if` checks all runs"),
        ("--json J --save-baseline main", "`--save-baseline` checks all runs"),
    ] {
        let typed = format!("{SMALL} --shard 0/2 {typed}").replace('J', &json);
        let error = loadgen(&words(&typed)).unwrap_err();
        assert!(error.to_string().contains(expected), "{error:#}");
        assert_eq!(shell::exit::report(&error), Exit::Usage.into());
    }
    assert!(folder.names().is_empty());
    shards(&words("sweep --simulate --vary ops=10,20 --repeats 2"), 1, &folder);
    let error = merge(&[folder.path("0.json")], &[("--fail-if", Path::new("amplification>2"))]).unwrap_err();
    assert!(error.to_string().contains("these are documents of a sweep"), "{error:#}");
}

#[test]
fn checks_are_judged_when_all_runs_are_there() {
    let folder = Folder::new();
    let files = shards(&words(SMALL), 2, &folder);
    let judged = |condition: &str| merge(&files, &[("--fail-if", Path::new(condition))]).unwrap();
    assert_eq!(judged("ops.total < 1"), ExitCode::SUCCESS);
    assert_eq!(judged("ops.total > 1"), Exit::Failed.into());
    let baseline = folder.path("baseline.json");
    assert_eq!(merge(&files, &[("--save-baseline", &baseline)]).unwrap(), ExitCode::SUCCESS);
    let same = with(&words(SMALL), &[("--baseline", &baseline)]);
    assert_eq!(loadgen(&same).unwrap(), ExitCode::SUCCESS, "the baseline is that of the whole");
    assert_eq!(merge(&files, &[("--baseline", &baseline)]).unwrap(), ExitCode::SUCCESS);
}
