//! Recordings of real clients that come with the project: all of them are parsed, and some are reproduced by plain strategies.

use std::path::{Path, PathBuf};

use recordings::{CheckOutcome, Map, check, read};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/real_clients")
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).expect("it comes with the project")
}

#[test]
fn every_recording_is_read() {
    let mut pairs = 0;
    for entry in std::fs::read_dir(folder()).expect("it comes with the project") {
        let path = entry.expect("it can be listed").path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let recorded = read(&text(&path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            pairs += recorded.pairs.len();
        }
    }
    assert_eq!(pairs, 1847);
}

/// Recorded configurations with the plain strategies that reproduce them, and one with a strategy that differs.
const MAP: &str = r#"
    [[recorded]]
    file = "tenacity.json"
    config = "stop_after_attempt(4), wait_fixed(2)"
    text = "constant:delay=2s,max-attempts=4"
    [[recorded]]
    file = "tenacity.json"
    config = "stop_after_attempt(4), wait_random(1, 3)"
    text = "uniform:min=1s,max=3s,max-attempts=4"
    [[recorded]]
    file = "tenacity.json"
    config = "stop_after_attempt(7), wait_random_exponential(multiplier=1, max=60)"
    text = "full-jitter:base=1s,cap=1m,max-attempts=7"
    [[recorded]]
    file = "tenacity.json"
    config = "stop_after_attempt(6), wait_incrementing(1, 2)"
    text = "linear:base=1s,max-attempts=6"
    [[recorded]]
    file = "backoff.json"
    config = "on_exception(expo, max_tries=8)"
    text = "full-jitter:base=1s,cap=1day,max-attempts=8"
    [[recorded]]
    file = "p-retry.json"
    config = "retries 3"
    text = "exponential:base=1s,max-attempts=4,retry-after=ignore"
    [[recorded]]
    file = "reqwest-retry.json"
    config = "build_with_max_retries(3), Jitter::None"
    text = "exponential:base=1s,cap=30m,max-attempts=4"
"#;

/// A wrong strategy is detected.
#[test]
fn plain_strategies_reproduce_plain_clients() {
    let mut map = Map::default();
    map.add_toml(MAP).expect("it is a map");
    let mut reproduced = 0;
    for file in ["tenacity.json", "backoff.json", "p-retry.json", "reqwest-retry.json"] {
        let recording = read(&text(&folder().join(file))).expect("it is a recording");
        for pair in &recording.pairs {
            let mapped = map.strategy(file, &recording, pair);
            match check(pair, mapped.as_ref().map(|mapped| &mapped.strategy)).expect("they start") {
                CheckOutcome::Reproduced => reproduced += 1,
                CheckOutcome::NoPreset => {}
                CheckOutcome::Skipped(why) => panic!("{}: {why}", pair.config),
                CheckOutcome::Differs(difference) => {
                    assert_eq!(pair.config, "stop_after_attempt(6), wait_incrementing(1, 2)", "{difference}");
                    assert_eq!(difference.to_string(), "delay 2: recorded 3 s, here always 2 s");
                }
            }
        }
    }
    assert_eq!(reproduced, 6);
}
