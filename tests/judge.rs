//! `loadgen judge`: clients with one fault each, presets, and commands that misbehave. The clients need only Python's standard library.

mod answers;
mod bad_commands;
mod presets;
mod protocols;
mod secrets;
mod serve;
mod situations;

use std::io::Write as _;

use serde_json::Value;

use crate::support::{Left, loadgen, skipped};

const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/judge/client.py");

/// Judges the client with this behaviour. `None` if there is no Python.
fn judged(flags: &[&str], behaviour: &str, more: &[&str]) -> Option<Left> {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        skipped("there is no python3");
        return None;
    }
    Some(loadgen(
        &[&["judge", "--quiet"], flags, &["--", "python3", CLIENT, behaviour, "{url}"], more].concat(),
    ))
}

fn document(flags: &[&str], behaviour: &str, more: &[&str]) -> Option<Value> {
    judged(&[flags, &["--json", "-"]].concat(), behaviour, more).map(|left| left.json())
}

/// Returns `RULE@SITUATION` for each finding of this severity.
fn findings(document: &Value, severity: &str) -> Vec<String> {
    let mut all = Vec::new();
    for situation in document["situations"].as_array().unwrap() {
        for finding in situation["findings"].as_array().unwrap() {
            if finding["severity"] == severity {
                all.push(format!(
                    "{}@{}",
                    finding["rule"].as_str().unwrap(),
                    situation["name"].as_str().unwrap()
                ));
            }
        }
    }
    all
}

fn verdict<'a>(document: &'a Value, situation: &str) -> (&'a str, &'a str) {
    let all = document["situations"].as_array().unwrap();
    let found = all.iter().find(|one| one["name"] == situation).unwrap();
    (found["verdict"].as_str().unwrap(), found["note"].as_str().unwrap())
}

#[test]
fn a_correct_client_has_no_failure() {
    let Some(read) = document(&[], "correct", &[]) else { return };
    assert_eq!(findings(&read, "fail"), [""; 0]);
    let (truncated, note) = verdict(&read, "truncated");
    assert!(truncated == "skipped" && note.contains("GET /v1/things"), "{truncated}: {note}");
    assert_eq!(findings(&read, "warn"), ["gave-up@long", "header-ignored@milliseconds"]);
    let write = document(&["--op", "write"], "correct", &["write", "key"]).unwrap();
    assert_eq!(findings(&write, "fail"), [""; 0]);
    for situation in ["503", "throttled", "date", "truncated", "hang", "lost"] {
        assert_eq!(verdict(&write, situation).0, "passed", "{situation}");
    }
}

#[test]
fn seconds_used_as_milliseconds_are_found_and_explained() {
    let only = ["--only", "unavailable,long"];
    let Some(document) = document(&only, "milliseconds", &[]) else { return };
    let early = ["early-retry@throttled", "early-retry@unavailable", "early-retry@long"];
    assert_eq!(findings(&document, "fail"), early);
    // On a busy machine they may have no clear cause, and are then repeated.
    assert!(document["early_retries"].as_u64().unwrap() >= 3);
    if is_clearly_a_thousandth(&document) {
        let cause = &document["causes"][0];
        assert_eq!(cause["situations"], serde_json::json!(["throttled", "unavailable", "long"]));
        assert!(cause["text"].as_str().unwrap().contains("1/1000 of the advice"), "{cause}");
    }
}

/// Whether a busy machine added little to the delays of a client that uses seconds as milliseconds, so that the cause is certain.
pub(crate) fn is_clearly_a_thousandth(document: &Value) -> bool {
    let is_clear = |name: &str| {
        let situations = document["situations"].as_array().unwrap();
        let situation = situations.iter().find(|situation| situation["name"] == name).unwrap();
        let attempts = &situation["runs"][0]["attempts"];
        let seconds = |attempt: usize, key: &str| attempts[attempt][key].as_f64().unwrap();
        seconds(1, "at_s") - seconds(0, "ended_s") < seconds(0, "advised_s") / 1000.0 + 0.015
    };
    ["throttled", "unavailable", "long"].into_iter().all(is_clear)
}

#[test]
fn ignored_advice_is_found() {
    let Some(document) = document(&["--only", "date,long"], "ignores", &[]) else { return };
    let early = ["early-retry@throttled", "early-retry@unavailable", "early-retry@date", "early-retry@long"];
    assert_eq!(findings(&document, "fail"), early);
}

#[test]
fn a_blind_retry_of_a_write_is_found() {
    let Some(document) = document(&["--only", "truncated,lost"], "retries-writes", &[]) else { return };
    assert_eq!(findings(&document, "fail"), ["write-repeated@truncated", "write-repeated@lost"]);
    assert!(findings(&document, "warn").contains(&"retry-without-key@503".to_owned()));
}

#[test]
fn a_new_key_on_the_retry_is_found() {
    let Some(document) = document(&["--only", "429,lost"], "new-key", &[]) else { return };
    let found = findings(&document, "fail");
    assert!(found.iter().all(|finding| finding.starts_with("key-changed@")), "{found:?}");
    assert!(found.contains(&"key-changed@lost".to_owned()));
}

#[test]
fn retries_without_a_pause_are_found() {
    let Some(document) = document(&["--only", "503,forever,throttled,closed"], "no-backoff", &[]) else {
        return;
    };
    let found = findings(&document, "fail");
    assert!(found.iter().all(|finding| finding == "no-backoff@forever"), "{found:?}");
    assert!(!found.is_empty() || !is_clearly_without_a_pause(&document, "forever"), "{document}");
}

/// Whether a busy machine added little to the delays of a client that does not pause: four retries took clearly less than 50 ms.
fn is_clearly_without_a_pause(document: &Value, situation: &str) -> bool {
    let situations = document["situations"].as_array().unwrap();
    let runs = situations.iter().find(|one| one["name"] == situation).unwrap()["runs"].as_array().unwrap();
    runs.iter().all(|run| {
        let attempts = run["attempts"].as_array().unwrap();
        let seconds = |attempt: &Value, key: &str| attempt[key].as_f64().unwrap();
        let delays: Vec<f64> = attempts
            .windows(2)
            .map(|pair| seconds(&pair[1], "at_s") - seconds(&pair[0], "ended_s"))
            .collect();
        delays.windows(4).any(|four| four.iter().sum::<f64>() < 0.045)
    })
}

#[test]
fn a_client_without_jitter_is_warned_of() {
    let Some(document) = document(&["--only", "429"], "no-jitter", &[]) else { return };
    assert_eq!(findings(&document, "fail"), [""; 0]);
    assert_eq!(findings(&document, "warn"), ["no-jitter@429"]);
}

#[test]
fn a_client_without_an_end_is_warned_of() {
    let Some(document) = document(&["--only", "forever,404"], "endless", &[]) else { return };
    assert_eq!(findings(&document, "fail"), [""; 0]);
    assert_eq!(findings(&document, "warn"), ["endless@forever"]);
    assert_eq!(document["situations"][0]["runs"][0]["end"], "too_many_attempts");
}

#[test]
fn a_client_without_a_timeout_is_not_judged_by_hang() {
    let flags = ["--only", "hang,closed", "--idle-timeout", "2s"];
    let Some(document) = document(&flags, "hangs", &[]) else { return };
    assert_eq!(verdict(&document, "hang"), ("skipped", "no timeout within 2 s"));
    assert_eq!(verdict(&document, "closed").0, "passed");
}

#[test]
fn findings_decide_the_exit_code_unless_they_are_allowed() {
    let only = ["--only", "429,throttled"];
    let exits = |more: &[&str], behaviour: &str, code: i32| {
        judged(&[&only, more].concat(), behaviour, &[]).map(|left| left.exits(code))
    };
    if exits(&[], "ignores", 99).is_none() {
        return;
    }
    exits(&["--allow", "early-retry@throttled"], "ignores", 0);
    exits(&["--strict"], "correct", 0);
    let warned = ["--only", "429,milliseconds", "--strict"];
    judged(&warned, "correct", &[]).unwrap().exits(99);
    judged(&[&warned[..], &["--allow", "header-ignored"]].concat(), "correct", &[]).unwrap().exits(0);
    exits(&["--allow", "early-retry", "--fail-if", "early_retries > 0"], "ignores", 99)
        .unwrap()
        .says(&["failed: `early_retries > 0`: "]);
    let refused = loadgen(&["judge", "--fail-if", "early > 0", "--", "true"]).exits(2);
    refused.says(&["`loadgen judge` has no figure `early`"]);
    let refused = loadgen(&["judge", "--allow", "early-retry@throtled", "--", "true"]).exits(2);
    refused.says(&["there is no situation `throtled` (did you mean `throttled`?)"]);
}

/// With both cores busy; about five minutes.
#[test]
#[ignore = "runs the correct client 20 times, in some five minutes"]
fn the_correct_client_passes_twenty_times_on_a_busy_machine() {
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        for run in 0..20 {
            let started = std::time::Instant::now();
            let Some(document) = document(&["--op", "write"], "correct", &["write", "key"]) else { break };
            let took = started.elapsed().as_secs_f64();
            let line = format!(
                "run {run}: {took:.1} s, {} failed, {} warned\n",
                document["failed"], document["warned"]
            );
            std::io::stderr().write_all(line.as_bytes()).unwrap();
            assert_eq!(findings(&document, "fail"), [""; 0], "run {run}");
            assert!(took < 40.0, "run {run} took {took} s");
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
