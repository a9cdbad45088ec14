//! The `openai` package for Python, configured only by `OPENAI_BASE_URL`, against the preset `openai`.

use std::process::{Command, Stdio};

use crate::support::{MockServer, Program, count, figure, loadgen, skipped};

/// Makes 14 consecutive calls, and prints the duration of the longest in seconds.
const CALLS: &str = r#"
import time
from openai import OpenAI

client = OpenAI(api_key="any")
slowest = 0.0
for _ in range(14):
    began = time.monotonic()
    client.chat.completions.create(model="any", messages=[{"role": "user", "content": "hi"}], max_tokens=1)
    slowest = max(slowest, time.monotonic() - began)
print(slowest)
"#;

const README: &str = include_str!("../../README.md");

/// A fiftieth of the preset: 10 requests a minute after a burst of 10.
const PRESET: [&str; 4] = ["--preset", "openai", "--scale", "0.02"];

#[test]
fn readme_shows_the_calls() {
    for line in CALLS.lines().filter(|line| line.contains("OpenAI") || line.contains("create(")) {
        assert!(README.contains(line), "README lacks `{line}`");
    }
}

#[test]
fn it_is_throttled_over_http_as_in_virtual_time() {
    let client = ["--strategy", "preset:openai", "--ops", "14", "--in-flight", "1", "--json", "-"];
    let simulated = loadgen(&[&["--simulate"], &PRESET[..], &client].concat()).exits(0).json();
    assert_eq!((count(&simulated, "/attempts/total"), count(&simulated, "/server/rejected")), (17, 3));
    let expected_s = figure(&simulated, "/op_latency_ms/max") / 1e3;
    assert!((6.65..6.75).contains(&expected_s), "{expected_s} s");

    assert!(
        README.contains("| `preset:openai` in virtual time | 17 | 3 | 6.70 s |"),
        "README has another result"
    );

    let has_package = Command::new("python3").args(["-c", "import openai"]).stderr(Stdio::null()).status();
    if !has_package.is_ok_and(|status| status.success()) {
        skipped("python3 has no package openai");
        return;
    }
    let server = MockServer::start(&PRESET);
    let base_url = format!("OPENAI_BASE_URL={}v1", server.url());
    let program = Program::start("env", &[&base_url, "python3", "-c", CALLS], Stdio::piped());
    let slowest_s: f64 = program.finish().exits(0).stdout.trim().parse().unwrap();
    let stats = server.stats();
    assert_eq!((count(&stats, "/received"), count(&stats, "/rejected")), (17, 3), "{stats}");
    // The package waits as `retry-after-ms` advises.
    assert_eq!(count(&stats, "/retried_too_early"), 0, "{stats}");
    assert!(README.contains("| the package over HTTP | 17 | 3 | 6.7 s |"), "README has another result");
    assert!((expected_s - 0.2..expected_s + 2.0).contains(&slowest_s), "{slowest_s} s, not {expected_s} s");
}
