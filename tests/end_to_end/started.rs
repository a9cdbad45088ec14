//! The start time of a run is recorded over HTTP, and never in virtual time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::support::{loadgen, measure};

const SHORT: [&str; 8] = ["--time-scale", "0.05", "--ops", "5", "--max-busy", "10", "--service-time", "20ms"];

const SCENARIO: &str = r#"name = "mine"
title = "Mine"
repeats = 1
[workload]
ops = 5
[server]
max_busy = 50
service_time = "20ms"
[strategies]
a = "aimd"
[experiment.main]
strategies = ["a"]
columns = [{ title = "attempts", figure = "attempts.total" }]
[http]
experiments = ["main"]
time_scale = 0.05
repeats = 1
"#;

/// Whether a text is an RFC 3339 time of the last five minutes. The date itself is not compared.
fn is_now(text: &Value) -> bool {
    let text = text.as_str().unwrap_or_default();
    let second = |at: usize| text.get(at..at + 2).and_then(|two| two.parse::<u64>().ok());
    let (Some(hour), Some(minute), Some(second)) = (second(11), second(14), second(17)) else { return false };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs() % 86_400;
    let ago = (now + 86_400 - (hour * 3_600 + minute * 60 + second)) % 86_400;
    text.len() == 24 && text.starts_with("20") && text.ends_with('Z') && ago < 300
}

#[test]
fn runs_over_http_say_when_they_began_and_pages_show_it() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("a.html");
    let html = ["--html", page.to_str().unwrap()];
    let header = || {
        let page = std::fs::read_to_string(&page).unwrap();
        page.split("</header>").next().unwrap().to_owned()
    };
    let run = measure(&[&SHORT[..], &html].concat());
    assert!(is_now(&run["started_at"]), "{}", run["started_at"]);
    assert!(header().contains(run["started_at"].as_str().unwrap()), "{}", header());

    let several = ["--repeats", "1"];
    let compare = [&["compare", "--strategies", "aimd,full-jitter"][..], &SHORT, &several, &html].concat();
    let compared = measure(&compare);
    for run in compared["runs"].as_array().unwrap() {
        assert!(is_now(&run["started_at"]), "{}", run["started_at"]);
    }
    assert_eq!(header().matches("begun 20").count(), 1, "one setting, one line: {}", header());

    let sweep = ["sweep", "--vary", "ops=2,3", "--time-scale", "0.05", "--service-time", "20ms"];
    let swept = measure(&[&sweep[..], &several, &html].concat());
    assert!(is_now(&swept["sweep"]["started_at"]), "{}", swept["sweep"]["started_at"]);
    assert!(header().contains(swept["sweep"]["started_at"].as_str().unwrap()), "{}", header());

    let scenario = folder.path().join("mine.toml");
    std::fs::write(&scenario, SCENARIO).unwrap();
    let scenario = ["reproduce", "--scenario", scenario.to_str().unwrap(), "--http"];
    let reproduced = measure(&[&scenario[..], &html].concat());
    assert!(is_now(&reproduced["started_at"]), "{}", reproduced["started_at"]);
    assert!(header().contains(reproduced["started_at"].as_str().unwrap()), "{}", header());
}

#[test]
fn simulated_results_hold_no_time_of_day() {
    let run = measure(&["--simulate", "--ops", "5"]);
    let compared = measure(&["compare", "--simulate", "-s", "aimd,none", "--ops", "5", "--repeats", "1"]);
    let swept = measure(&["sweep", "--simulate", "--vary", "ops=2,3", "--repeats", "1"]);
    let left = loadgen(&["reproduce", "occ", "--repeats", "2", "--json", "-", "--quiet"]);
    let reproduced = left.json();
    for (document, started) in [
        (&run, &run["started_at"]),
        (&compared, &compared["runs"][0]["started_at"]),
        (&swept, &swept["sweep"]["started_at"]),
        (&reproduced, &reproduced["started_at"]),
    ] {
        assert!(started.is_null(), "{started}");
        assert!(!document.to_string().contains("\"started_at\":\""));
    }
}
