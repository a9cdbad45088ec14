//! Very long advised waits: every screen names the reason, and the parameters that give up instead.

use rustix::process::Signal;
use serde_json::Value;

use super::foreign_server::{ForeignServer, reply};
use crate::support::{count, eventually, loadgen, start_loadgen};

/// A server that sends a point in time instead of seconds, in its first response only.
fn epoch_by_mistake() -> ForeignServer {
    ForeignServer::start(|number, connection| match number {
        0 => reply(connection, "429 Too Many Requests\r\nretry-after: 1795831626", ""),
        _ => reply(connection, "200 OK", ""),
    })
}

const LOAD: &[&str] = &["--ops", "20", "--rate", "1000/s", "--no-tui", "--json", "-"];
const REASON: &str = "the server advised 20 785 days, cut to 24 h (`advice-limit`)";
const REMEDY: &str = "advice-limit=10m,advice-beyond=give-up";

fn long_wait(result: &Value) -> String {
    let warnings = result["warnings"].as_array().unwrap().iter().map(|warning| warning.as_str().unwrap());
    warnings.filter(|warning| warning.contains("advised")).collect::<Vec<_>>().join("\n")
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_run_that_waits_for_a_long_advice_says_so_and_names_a_remedy() {
    let server = epoch_by_mistake();
    let run = start_loadgen(&[&["--target", &server.url(), "-s", "full-jitter"][..], LOAD].concat());
    let line = format!("19/20 ops (95 %)  1 op waits until 24.0 h: {REASON}");
    eventually("the progress line has the reason", || run.said().contains(&line).then_some(()));
    run.signal(Signal::INT);
    let left = run.finish().exits(130);
    let warning = format!("1 op waits until 24.0 h: {REASON}; `{REMEDY}` gives up at once instead");
    assert_eq!(long_wait(&left.json()), warning);
    let summary = joined(&left.stderr);
    assert!(summary.contains(&format!("! {warning}")), "{summary}");
}

#[test]
fn the_remedy_gives_the_op_up_at_once() {
    let server = epoch_by_mistake();
    let strategy = format!("full-jitter:{REMEDY}");
    let left = loadgen(&[&["--target", &server.url(), "-s", &strategy][..], LOAD].concat()).exits(0);
    let result = left.json();
    assert_eq!((count(&result, "/ops/succeeded"), count(&result, "/ops/given_up")), (19, 1));
    assert_eq!(long_wait(&result), "");
}

#[test]
fn in_virtual_time_the_result_names_the_advice_of_any_header() {
    for (strategy, header, reason) in [
        ("full-jitter", "retry-after:1795831626", REASON),
        (
            "full-jitter:advice-limit=15m",
            "retry-after:7200",
            "the server advised 2 h, cut to 900 s (`advice-limit`)",
        ),
        ("full-jitter:advice=ratelimit-reset.whole", "ratelimit-reset:1795831626", REASON),
        ("constant:delay=1s", "retry-after:3600", "the server advised 60.0 min"),
    ] {
        let policy = format!("script:steps=429 {header}|200");
        let server = ["--simulate", "--policy", &policy, "--network-delay", "0", "--service-time", "10ms"];
        let load = ["-s", strategy, "--ops", "3", "--json", "-"];
        let left = loadgen(&[&server[..], &load].concat()).exits(0);
        let warning = long_wait(&left.json());
        assert!(warning.starts_with("an op waited until "), "{strategy}: {warning}");
        assert!(warning.contains(&format!(": {reason}; `{REMEDY}`")), "{strategy}: {warning}");
        assert!(joined(&left.stderr).contains(REMEDY), "{}", left.stderr);

        let compared =
            ["compare", "--simulate", "--repeats", "2", "-s", strategy, "-s", "immediate:retry-after=ignore"];
        let left = loadgen(&[&compared[..], &server[1..], &["--ops", "3"]].concat()).exits(0);
        let text = joined(&left.stdout);
        assert!(text.contains(&format!("{strategy}: an op waited until")), "{text}");
    }
    let ignores = [
        "--simulate",
        "--policy",
        "script:steps=429 retry-after:7200|200",
        "-s",
        "full-jitter:retry-after=ignore",
    ];
    assert_eq!(
        long_wait(&loadgen(&[&ignores[..], &["--ops", "3", "--json", "-"]].concat()).exits(0).json()),
        ""
    );
}
