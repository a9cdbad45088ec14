//! Invalid results, and reports that cannot be written.

use crate::support::Folder;

#[test]
fn invalid_results_are_refused_with_file_and_place() {
    let folder = Folder::new();
    folder.done("--simulate --quiet --ops 20 --json good.json");
    let good = folder.read("good.json");
    let newer = good.replacen("\"schema_version\":1", "\"schema_version\":2", 1);
    assert_ne!(good, newer);
    let replaced = |key: &str, with: &str| {
        let mut result: serde_json::Value = serde_json::from_str(&good).unwrap();
        result[key] = serde_json::from_str(with).unwrap();
        result.to_string()
    };
    let cases: &[(&str, &str, &str)] = &[
        ("cut.json", &good[..good.len() / 2], "`cut.json`, line 1, column"),
        ("empty.json", "", "`empty.json`, line 1, column 0: it is empty"),
        ("text.json", "hello", "`text.json`, line 1, column 1: it is not JSON"),
        ("foreign.json", "{\"name\": \"left-pad\"}", "`foreign.json`: it holds no result"),
        ("list.json", "[1, 2]", "`list.json`: it holds no result"),
        ("newer.json", &newer, "`newer.json`, `schema_version`: 2 is newer than this program"),
        ("none.json", "{\"runs\": []}", "`none.json`, `runs`: is empty"),
        ("item.json", "{\"runs\": [7]}", "`item.json`, `runs[0]`: integer `7` is not an object"),
        (
            "cell.json",
            "{\"scenarios\": [{\"name\": \"a\", \"cells\": [{}]}]}",
            "`cell.json`, `scenarios[0].cells[0].experiment`: is missing",
        ),
        (
            "samples.json",
            "{\"a\": 1}\n{\"a\": 2}\n",
            "`samples.json`, line 2, column 1: the file contains a second value",
        ),
        (
            "huge.json",
            "{\"schema_version\": 1, \"makespan_complete\": true, \"makespan_s\": 1e999}",
            "`huge.json`, line 1",
        ),
        ("blank.json", " \n\n ", "`blank.json`, line 1, column 0: it is empty"),
        ("config.json", &replaced("config", "7"), "`config.json`, `config`: integer `7` is not an object"),
        (
            "latency.json",
            &replaced("op_latency_ms", "7"),
            "`latency.json`, `op_latency_ms`: integer `7` is not an object",
        ),
        (
            "more.json",
            &good.replacen("\"succeeded\":20", "\"succeeded\":21", 1),
            "`more.json`, `ops.succeeded`: 21 is more than all 20 ops",
        ),
        (
            "later.json",
            "{\"schema_version\": 2, \"scenarios\": []}",
            "`later.json`, `schema_version`: 2 is newer",
        ),
        ("deep.json", &"[".repeat(100_000), "`deep.json`, line 1"),
    ];
    folder.write("report.html", "what was there");
    for (name, content, told) in cases {
        folder.write(name, content);
        for command in ["report good.json {} -o report.html", "plot {} good.json --figure rate"] {
            let ended = folder.loadgen(&command.replace("{}", name));
            assert_eq!(ended.code, Some(2), "{name}: {ended:?}");
            assert!(ended.stderr.contains(told) && ended.stdout.is_empty(), "{name}: {}", ended.stderr);
            assert!(ended.stderr.lines().count() == 1 && ended.stderr.len() < 400, "{}", ended.stderr);
        }
    }
    assert_eq!(folder.read("report.html"), "what was there");
}

#[test]
fn files_that_are_missing_or_no_text_are_named() {
    let folder = Folder::new();
    let ended = folder.loadgen("report nowhere.json -o a.html");
    assert!(ended.code == Some(2) && ended.stderr.contains("`nowhere.json` cannot be read"), "{ended:?}");
    std::fs::write(folder.path("binary.json"), [b'{', 0xff, 0xfe]).unwrap();
    let ended = folder.loadgen("report binary.json -o a.html");
    assert!(ended.code == Some(2) && ended.stderr.contains("`binary.json`, byte 1"), "{ended:?}");
    assert_eq!(folder.files(), ["binary.json"]);
}

#[test]
fn a_page_that_cannot_be_written_leaves_nothing_behind() {
    let folder = Folder::new();
    folder.done("--simulate --quiet --ops 20 --json a.json");
    std::fs::create_dir(folder.path("there")).unwrap();
    for (command, output) in [
        ("report a.json -o", "there"),
        ("report a.json -o", "nowhere/a.html"),
        ("plot a.json --figure rate -o", "there"),
        ("plot a.json --figure rate -o", "nowhere/a.svg"),
    ] {
        let ended = folder.loadgen(&format!("{command} {output}"));
        assert_eq!(ended.code, Some(74), "{ended:?}");
        let words = format!("`{output}` (--output) cannot be written");
        assert!(ended.stderr.contains(&words), "{}", ended.stderr);
    }
    assert_eq!(folder.files(), ["a.json", "there"]);
}

#[test]
fn a_figure_that_lacks_its_data_says_what_it_needs() {
    let folder = Folder::new();
    folder.done("--simulate --quiet --ops 20 --json a.json");
    let ended = folder.loadgen("plot a.json --figure clients");
    assert!(ended.code == Some(2) && ended.stderr.contains("several values of `--clients`"), "{ended:?}");
    let ended = folder.loadgen("plot a.json --figure rat");
    assert!(ended.code == Some(2) && ended.stderr.contains("rate"), "{ended:?}");
}
