//! Documents that cannot be merged, and flags that conflict with `--shard`.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use super::{Folder, loadgen, merge, merge_partly, shards, with, words};
use crate::exit::Exit;

const SMALL: &str = "--simulate --strategy aimd --ops 20 --repeats 5";

/// Returns the error for these files, after checking that no file is written.
fn refused(folder: &Folder, files: &[&str]) -> String {
    let before = folder.names();
    let files: Vec<_> = files.iter().map(|name| folder.path(name)).collect();
    let merged = folder.path("merged.json");
    let error = merge(&files, &[("--output", &merged)]).unwrap_err();
    assert_eq!(crate::exit::report(&error), Exit::Usage.into());
    assert_eq!(folder.names(), before, "nothing is written");
    format!("{error:#}").replace(&format!("{}/", folder.0.path().display()), "")
}

/// Nothing is written.
#[test]
fn missing_duplicate_and_foreign_shards_are_refused_by_name() {
    let folder = Folder::new();
    shards(&words(SMALL), 3, &folder);
    assert_eq!(
        refused(&folder, &["0.json", "2.json"]),
        "shard 1/3 is missing (2 of 5 runs); `--partial` merges the runs that exist"
    );
    assert_eq!(
        refused(&folder, &["1.json"]),
        "shards 0/3, 2/3 are missing (3 of 5 runs); `--partial` merges the runs that exist"
    );
    fs::copy(folder.path("1.json"), folder.path("again.json")).unwrap();
    assert_eq!(
        refused(&folder, &["0.json", "1.json", "again.json", "2.json"]),
        "`again.json` and `1.json` are both shard 1 of 3; give each once"
    );
    for (other, told) in [
        (
            "--simulate --strategy aimd --ops 20 --repeats 5 --seed 2",
            "its seed is `2` in the first and `1` in the second",
        ),
        (
            "--simulate --strategy none --ops 20 --repeats 5",
            "its strategy is `none` in the first and `aimd` in the second",
        ),
        (
            "--simulate --strategy aimd --ops 20 --repeats 4",
            "`--repeats` is `4` in the first and `5` in the second",
        ),
        ("--simulate --strategy aimd --ops 21 --repeats 5", "its workload is "),
        ("--simulate --strategy aimd --ops 20 --repeats 5 --max-busy 9", "its server is "),
        (
            "compare --simulate --strategies aimd,none --ops 20 --repeats 5",
            "its command is `compare` in the first and `run` in the second",
        ),
    ] {
        let path = folder.path("foreign.json");
        let typed = with(&words(other), &[("--shard", Path::new("1/3")), ("--json", &path)]);
        loadgen(&typed).unwrap();
        let told_of = refused(&folder, &["0.json", "foreign.json", "2.json"]);
        assert!(told_of.starts_with("`foreign.json` and `0.json` are shards of different runs"), "{told_of}");
        assert!(told_of.contains(told), "{told_of}");
    }
    let version = format!("\"version\":\"{}\",\"command\"", env!("CARGO_PKG_VERSION"));
    folder.changed("1.json", "foreign.json", &version, "\"version\":\"9.9.9\",\"command\"");
    let told = refused(&folder, &["0.json", "foreign.json", "2.json"]);
    assert!(told.starts_with("`foreign.json` was written by loadgen 9.9.9, and this is "), "{told}");
    let typed =
        with(&words(SMALL), &[("--shard", Path::new("1/4")), ("--json", &folder.path("foreign.json"))]);
    loadgen(&typed).unwrap();
    assert_eq!(
        refused(&folder, &["0.json", "foreign.json"]),
        "`foreign.json` is one of 4 shards, and `0.json` one of 3"
    );
}

#[test]
fn a_shard_is_not_written_over() {
    let folder = Folder::new();
    let files = shards(&words(SMALL), 2, &folder);
    let before = folder.read("1.json");
    for flag in ["--output", "--csv"] {
        let error = merge(&files, &[(flag, &files[1])]).unwrap_err();
        assert_eq!(crate::exit::report(&error), Exit::Usage.into());
        assert!(error.to_string().contains(&format!("({flag}) is one of the shards")), "{error:#}");
    }
    assert_eq!(folder.read("1.json"), before);
}

#[test]
fn a_document_that_is_broken_or_none_is_refused_with_its_place() {
    let folder = Folder::new();
    shards(&words(SMALL), 2, &folder);
    loadgen(&with(&words(SMALL), &[("--json", &folder.path("whole.json"))])).unwrap();
    let told = |name: &str| refused(&folder, &["0.json", name]);
    assert!(
        told("whole.json").contains("`whole.json` cannot be merged: the document is not a shard"),
        "{}",
        told("whole.json")
    );
    assert!(told("absent.json").starts_with("`absent.json` cannot be read"), "{}", told("absent.json"));
    let good = folder.read("1.json");
    let cut = good.rsplit_once("\"run\":{").unwrap().0;
    let deep =
        format!("{{\"shard\":{{\"kind\":\"tasks\"}},\"deep\":{}{}}}", "[".repeat(9_999), "]".repeat(9_999));
    for (text, words) in [
        ("", "line 1, column 0: it is empty"),
        ("hello", "it is not JSON"),
        (cut, "the document is incomplete, because the file was cut off"),
        (deep.as_str(), "recursion limit exceeded"),
        ("{\"shard\": {\"kind\": \"tasks\"}}", "`shard.index`: is missing"),
    ] {
        fs::write(folder.path("broken.json"), text).unwrap();
        let told = told("broken.json");
        assert!(told.starts_with("`broken.json` cannot be merged: ") && told.contains(words), "{told}");
    }
    fs::write(folder.path("broken.json"), [b'"', 0xff, b'"']).unwrap();
    assert!(told("broken.json").contains("UTF-8"));
    for (what, by, words) in [
        ("\"index\":1", "\"index\":2", "`shard.index`: 2 is not below 2"),
        ("\"index\":1", "\"index\":-1", "`shard.index`: integer `-1` is not a whole number"),
        ("\"of\":2", "\"of\":0", "`shard.index`: 1 is not below 0"),
        ("\"task\":1,", "\"task\":3,", "`tasks[1].task`: 3 is not later than the previous entry"),
        ("\"task\":3,", "\"task\":4,", "`tasks[1].task`: 4 is not a task of shard 1 of 2"),
        ("\"task\":3,", "\"task\":99,", "`tasks[1].task`: 99 is not below 5"),
        ("\"task\":1,", "\"task\":1e300,", "1e300 is too large"),
        ("\"schema_version\":1,\"shard\"", "\"schema_version\":7,\"shard\"", "`schema_version`: 7 is newer"),
        ("\"at\":[],", "\"at\":[\"\\u001b[2J\"],", "contains characters that cannot be shown"),
        ("\"tasks\":[\n", "\"jobs\":[\n", "`tasks`: is missing"),
        ("\"answered\":true", "\"answered\":3", "`tasks[0].answered`"),
        ("\"succeeded\":20,", "\"succeeded\":19,", "`tasks[0].run.ops.total`: is 20, but 19 ops succeeded"),
        (
            "\"rejected\":0,",
            "\"rejected\":18446744073709551615,",
            "`tasks[0].run.attempts`: 18446744073709551615 is larger",
        ),
        ("\"makespan_s\":", "\"makespan_s\":-", "`tasks[0].run.makespan_s`: -"),
        ("\"succeeded\":20,", "\"succeeded\":21,", "`tasks[0].run.ops.succeeded`: 21 is more than all"),
        ("\"mode\":\"simulated\",\"strategy\"", "\"mode\":\"http\",\"strategy\"", "`tasks[0].run.mode`"),
    ] {
        folder.changed("1.json", "broken.json", what, by);
        let told = told("broken.json");
        assert!(told.contains(words), "{words}: {told}");
    }
}

#[test]
fn documents_that_agree_on_an_invalid_plan_are_refused() {
    let folder = Folder::new();
    let one = "--simulate --strategy aimd --ops 20 --repeats 3";
    shards(&words(one), 1, &folder);
    for (what, by, words) in [
        ("\"tasks\":3,", "\"tasks\":4,", "was cut off and lacks 1 run"),
        ("\"repeats\":\"3\"", "\"repeats\":\"2\"", "`plan.tasks` is 3, and the plan has 2 runs"),
        ("\"repeats\":\"3\"", "\"repeats\":\"three\"", "`plan.points[0]`: `repeats` is `three`"),
        (
            "\"strategies\":[\"aimd\"],\"workload\"",
            "\"strategies\":[\"amid\"],\"workload\"",
            "`amid` is not a strategy",
        ),
        (
            "\"strategies\":[\"aimd\"],\"workload\"",
            "\"strategies\":[\"none\"],\"workload\"",
            "task 0 is a run of aimd with seed 1, but the plan has none",
        ),
        ("\"strategies\":[\"aimd\"],\"workload\"", "\"strategies\":[],\"workload\"", "no strategy is named"),
        (
            "\"seed\":\"1\"",
            "\"seed\":\"2\"",
            "task 0 is a run of aimd with seed 1, but the plan has aimd with seed 2",
        ),
        ("\"command\":\"run\"", "\"command\":\"compare\"", "`plan.by`: strategies cannot be ranked by ``"),
        ("\"command\":\"run\"", "\"command\":\"jog\"", "`plan.command`: `jog` is not"),
    ] {
        folder.changed("0.json", "changed.json", what, by);
        let told = refused(&folder, &["changed.json"]);
        assert!(told.contains(words), "{words}: {told}");
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
    assert_eq!(swept["sweep"]["cells"][0]["figures"]["makespan_s"]["count"], 3);
    assert_eq!(swept["runs"].as_array().unwrap().len(), 12, "half a block is none");
}

#[test]
fn what_is_of_all_runs_does_not_go_with_a_shard() {
    let folder = Folder::new();
    let json = folder.path("0.json").display().to_string();
    for (typed, told) in [
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
        assert!(error.to_string().contains(told), "{error:#}");
        assert_eq!(crate::exit::report(&error), Exit::Usage.into());
    }
    assert!(folder.names().is_empty());
    shards(&words("sweep --simulate --vary ops=10,20 --repeats 2"), 1, &folder);
    let error = merge(&[folder.path("0.json")], &[("--fail-if", Path::new("amplification>2"))]).unwrap_err();
    assert!(error.to_string().contains("these are shards of a sweep"), "{error:#}");
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
