//! Production clients as presets: held against recordings of the real libraries, and told to users.

use crate::support::Folder;

/// The pairs that no preset reproduces, and what each would need.
const DIFFERING: [(&str, &str, &str); 6] = [
    // aiohttp itself sends a request again whose reused connection was closed: whether one was reused, no strategy knows.
    ("aiohttp-retry.json", "close", "RetryClient() default"),
    ("aiohttp-retry.json", "close-x1-then-200", "RetryClient() default"),
    ("aiohttp-retry.json", "close", "ExponentialRetry(attempts=4, retry_all_server_errors=False)"),
    // Its counter belongs to the retry object and is never set back: only a client's first op waits 2 s.
    ("aiohttp-retry.json", "503", "FibonacciRetry(attempts=8)"),
    // The throttling plugin sets the retry plugin's count back for its first round only: one wait of eleven is another.
    ("octokit.json", "429-secondary", "plugin-throttling + plugin-retry, callbacks say retry twice"),
    (
        "octokit.json",
        "429-primary-reset-epoch+5",
        "plugin-throttling + plugin-retry, callbacks say retry twice",
    ),
];

#[test]
fn the_recordings_of_real_clients_come_out_but_for_these() {
    let folder = Folder::new();
    let recordings = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/real_clients");
    let checked = folder.loadgen_words(&["strategies", "--check", recordings, "--json", "-"]).exits(1).json();
    let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
    let mut differing = Vec::new();
    for recording in list(&checked["recordings"]) {
        for pair in list(&recording["pairs"]).iter().filter(|pair| pair["verdict"] != "reproduced") {
            let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
            differing.push((word(&recording["file"]), word(&pair["scenario"]), word(&pair["config"])));
        }
    }
    differing.sort();
    let mut known =
        DIFFERING.map(|(file, scenario, config)| (file.to_owned(), scenario.to_owned(), config.to_owned()));
    known.sort();
    assert_eq!(differing, known);
    assert_eq!((&checked["reproduced"], &checked["without_preset"]), (&1349.into(), &0.into()));
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    assert!(readme.contains("reproduces 1349 of 1355 recorded pairs"), "the README says what comes out");
}

#[test]
fn a_check_that_checks_nothing_and_a_map_that_matches_nothing_are_told() {
    let folder = Folder::new();
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/real_clients/backoff.json");
    let text = std::fs::read_to_string(recording).unwrap();
    folder.write("renamed.json", &text);
    let nothing = folder.loadgen("strategies --check renamed.json").exits(1);
    nothing.says(&["nothing was checked", "`--map`"]);
    let (head, _) = text.split_once("\"scenarios\":").unwrap();
    folder.write("backoff.json", &format!("{head}\"scenarios\":[]}}"));
    folder.loadgen("strategies --check backoff.json").exits(1).says(&["the recordings have no scenarios"]);
    let entry = "[[recorded]]\nfile = \"backoff.json\"\nconfig = \"c\"\ntext = \"none\"\n";
    folder.write("map.toml", entry);
    let unmatched = folder.loadgen("strategies --check renamed.json --map map.toml").exits(2);
    unmatched.says(&["`--map map.toml`", "`c` of `backoff.json` matches nothing: no such file is checked"]);
    folder.write("map.toml", &entry.repeat(2));
    let twice = folder.loadgen("strategies --check renamed.json --map map.toml").exits(2);
    twice.says(&["`--map map.toml`", "`c` of `backoff.json` stands there twice"]);
}

#[test]
fn presets_are_listed_one_a_line_and_explained() {
    let folder = Folder::new();
    let list = folder.done("strategies --presets");
    let names: Vec<&str> = list
        .lines()
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(names.len() >= 60 && names.contains(&"aws-2026") && names.contains(&"urllib3"), "{list}");
    let openai = folder.done("strategies preset:openai,max-attempts=5");
    for words in ["openai/openai-python", "max-attempts=5", "advice-limit=2m"] {
        assert!(openai.contains(words), "`{words}` is not in {openai}");
    }
    let nothing = folder.loadgen("strategies aimd --json x.json").exits(2);
    nothing.says(&["`--json` is for the results of `--check`"]);
    assert!(!folder.path("x.json").exists());
    let unknown = folder.loadgen("--strategy preset:opnai --simulate").exits(2);
    unknown.says(&["unknown preset `opnai`", "did you mean `openai`?"]);
}

#[test]
fn what_is_sent_again_in_virtual_time_depends_on_the_method_too() {
    let folder = Folder::new();
    // Every op is rejected once, with advice.
    let attempts = |strategy: &str, method: &str| {
        let load = "--simulate --rate 10/s --ops 20 --reject-first 1 --retry-after 1s --json -";
        let run = folder.loadgen(&format!("--strategy {strategy} --method {method} {load}"));
        let result = run.json();
        assert_eq!(result["config"]["request"]["method"], method);
        result["attempts"]["total"].as_u64().unwrap_or_default()
    };
    for (strategy, method, all) in [
        ("preset:urllib3", "GET", 40),
        ("preset:urllib3", "POST", 20),
        ("preset:urllib3", "PUT", 40),
        ("preset:openai", "POST", 40),
        ("constant:delay=1s", "POST", 40),
    ] {
        assert_eq!(attempts(strategy, method), all, "{strategy} {method}");
    }
}
