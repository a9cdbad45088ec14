//! Production clients as presets: compared with recordings of the real libraries, and their output for users.

use crate::support::{Folder, Left};

/// Pairs that no preset reproduces, with the reason.
const DIFFERING: [(&str, &str, &str); 6] = [
    // aiohttp itself repeats a request whose reused connection was closed. Strategies do not know whether a connection was reused.
    ("aiohttp-retry.json", "close", "RetryClient() default"),
    ("aiohttp-retry.json", "close-x1-then-200", "RetryClient() default"),
    ("aiohttp-retry.json", "close", "ExponentialRetry(attempts=4, retry_all_server_errors=False)"),
    // The counter belongs to the retry object and is never reset, so only a client's first op waits 2 s.
    ("aiohttp-retry.json", "503", "FibonacciRetry(attempts=8)"),
    // The throttling plugin resets the retry plugin's count only in its first round, so one wait of eleven differs.
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
    assert_eq!((&checked["reproduced"], &checked["without_preset"]), (&1841.into(), &0.into()));
    for page in ["README.md", "docs/recordings.md"] {
        let text = std::fs::read_to_string(format!("{}/{page}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("reproduces 1841 of 1847 recorded pairs"), "{page} has another result");
    }
}

#[test]
fn empty_checks_and_unmatched_maps_are_reported() {
    let folder = Folder::new();
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/real_clients/backoff.json");
    let text = std::fs::read_to_string(recording).unwrap();
    folder.write("renamed.json", &text.replace("\"backoff\"", "\"unheard-of\""));
    let nothing = folder.loadgen("strategies --check renamed.json").exits(1);
    nothing.says(&["nothing was checked", "no preset has a rule for these libraries", "`--map`"]);
    let (head, _) = text.split_once("\"scenarios\":").unwrap();
    folder.write("backoff.json", &format!("{head}\"scenarios\":[]}}"));
    folder.loadgen("strategies --check backoff.json").exits(1).says(&["the recordings have no scenarios"]);
    let entry = "[[recorded]]\nfile = \"backoff.json\"\nconfig = \"c\"\ntext = \"none\"\n";
    folder.write("map.toml", entry);
    let unmatched = folder.loadgen("strategies --check renamed.json --map map.toml").exits(2);
    unmatched.says(&[
        "`--map map.toml`",
        "`c` of `backoff.json` matches no recording: that file is not among the recordings",
    ]);
    folder.write("map.toml", &entry.repeat(2));
    let twice = folder.loadgen("strategies --check renamed.json --map map.toml").exits(2);
    twice.says(&["`--map map.toml`", "`c` of `backoff.json` has two entries"]);
}

fn prints(left: &Left, words: &[&str]) {
    for word in words {
        assert!(left.stdout.contains(word), "no `{word}` in: {}", left.stdout);
    }
}

/// A series of an unknown kind, and an op without a request at the server, as in independent recordings.
const SKIPPED: &str = r#"{"library": "botocore", "version": "1.44.5", "language": "python", "interception": "time.sleep replaced",
    "scenarios": [
        {"id": "series-SlowDown-10-then-ok", "config": "s3 GetObject, mode=adaptive", "kind": "series", "ops": 2,
         "attempts_per_op": [1, 1]},
        {"id": "connection-refused", "config": "s3 GetObject, default", "n": 1, "attempts": 0, "samples": [[]],
         "outcome": {"type": "EndpointConnectionError"}},
        {"id": "404", "config": "s3 GetObject, default", "method": "GET", "steps": [{"status": 404}], "n": 6, "attempts": 1,
         "samples": [[]], "outcome": {"type": "ClientError", "status": 404}}]}"#;

/// The others are checked.
#[test]
fn unreplayable_scenarios_are_skipped_counted_and_listed() {
    let folder = Folder::new();
    folder.write("mine.json", SKIPPED);
    let told = folder.loadgen("strategies --check mine.json").exits(0);
    prints(
        &told,
        &[
            "skipped     series-SlowDown-10-then-ok",
            "`id` names a series whose script is not known; describe it in the file's `series`",
            "skipped     connection-refused",
            "`attempts`",
            "3 pairs: 1 reproduced (33.3 %), 0 differ, 0 without a preset, 2 skipped",
        ],
    );
    let checked = folder.loadgen("strategies --check mine.json --json -").exits(0).json();
    assert_eq!((&checked["skipped"], &checked["reproduced"]), (&2.into(), &1.into()));
    let series = &checked["recordings"][0]["pairs"][0];
    assert_eq!(series["verdict"], "skipped");
    assert!(series["skipped_because"].as_str().is_some_and(|why| why.contains("series")), "{series}");
    // With a description in the file, the series is checked.
    let described = r#""series": {"series-SlowDown-10-then-ok": {"ops": [{"steps": [{"status": 200}]}]}}, "scenarios": ["#;
    folder.write("mine.json", &SKIPPED.replace("\"scenarios\": [", described));
    let told = folder.loadgen("strategies --check mine.json").exits(0);
    prints(&told, &["reproduced  series-SlowDown-10-then-ok", "0 without a preset, 1 skipped"]);
}

#[test]
fn the_recording_of_the_documentation_is_read() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/recordings.md")).unwrap();
    let (_, after) = page.split_once("```json\n").unwrap();
    let (recording, _) = after.split_once("```").unwrap();
    let (_, map) = page.rsplit_once("```toml\n").unwrap();
    let folder = Folder::new();
    folder.write("mine.json", recording);
    folder.write("mine.toml", map.split_once("```").unwrap().0);
    let told = folder.loadgen("strategies --check mine.json --map mine.toml").exits(0);
    prints(&told, &["2 pairs: 2 reproduced (100.0 %), 0 differ, 0 without a preset"]);
}

#[test]
fn settings_that_would_lose_a_limiter_are_refused() {
    let folder = Folder::new();
    let refused = folder.loadgen("strategies aimd --print-settings urllib3").exits(2);
    refused.says(&[
        "urllib3 has no limiter like `aimd`",
        "`loadgen strategies 'preset:urllib3-usual' --print-settings urllib3`",
    ]);
    assert!(
        folder
            .done("strategies preset:urllib3-usual --print-settings urllib3")
            .contains("backoff_factor=0.5")
    );
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
    nothing.says(&["`--json` needs `--check`"]);
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
