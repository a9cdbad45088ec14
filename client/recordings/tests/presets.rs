//! Checks of presets against recordings of options and answers that the recordings of `tests/real_clients` do not have. Made on
//! 2026-11-23 in the same way: a scripted server on the loopback interface, sleeps replaced (curl: real time).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use recordings::{CheckOutcome, Map, Recording, check, read};
use tailback::{StrategySpec, presets};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded")
}

fn recording(file: &str) -> Recording {
    let text = std::fs::read_to_string(folder().join(file)).expect("it comes with the project");
    read(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Checks every pair of a file with the strategy that the presets' rules map it to, and returns these strategies by configuration.
fn reproduced(file: &str) -> BTreeMap<String, String> {
    let (map, recording) = (Map::of_presets(presets()), recording(file));
    let mut texts = BTreeMap::new();
    let mut wrong = Vec::new();
    for pair in &recording.pairs {
        let mapped = map.strategy(file, &recording, pair);
        let verdict = check(pair, mapped.as_ref().map(|mapped| &mapped.strategy)).expect("it starts");
        if verdict != CheckOutcome::Reproduced {
            wrong.push(format!("{} · {}: {verdict:?}", pair.id, pair.config));
        }
        texts.insert(
            format!("{} · {}", pair.id, pair.config),
            mapped.map_or_else(String::new, |mapped| mapped.text),
        );
    }
    assert!(wrong.is_empty(), "{file}:\n{}", wrong.join("\n"));
    texts
}

#[test]
fn pygithub_retries_what_has_a_date_in_retry_after() {
    let texts = reproduced("PyGithub.json");
    assert!(texts.contains_key("429-ra-date+3 · Github() default (GithubRetry, total=10)"), "{texts:?}");
    let own = &texts["403-secondary · Github(retry=GithubRetry(total=4, secondary_rate_wait=30))"];
    assert_eq!(own, "preset:pygithub,max-attempts=5,throttled-base=30s,cap=30s");
}

#[test]
fn kubernetes_client_go_leaves_lost_connections_to_urllib3() {
    let texts = reproduced("kubernetes.json");
    assert_eq!(
        texts["close · client_go_retries=True, list_namespace"],
        "preset:kubernetes-python,retries=client-go"
    );
}

/// It treats answers as errors only with `--fail`.
#[test]
fn curl_checks_its_time_limit_before_waiting() {
    let texts = reproduced("curl.json");
    for (pair, text) in [
        ("503 · --retry 10 --retry-max-time 10", "preset:curl-7,max-attempts=11,max-time=10s"),
        ("404 · --retry 3 --retry-all-errors", "preset:curl-7,errors=all,max-attempts=4"),
        ("404 · --retry 2 --retry-all-errors --fail", "preset:curl-7,errors=failing,max-attempts=3"),
    ] {
        assert_eq!(texts[pair], text, "{pair}");
    }
}

#[test]
fn httplib2_retries_closed_connections_but_not_reset_ones() {
    let texts = reproduced("google-api-python-client.json");
    assert_eq!(texts["close · execute() default"], "preset:google-api-client");
    assert_eq!(
        texts["reset · execute(num_retries=4)"],
        "preset:google-api-client,outer.max-attempts=5,closed=reset"
    );
    reproduced("httplib2.json");
}

/// The retry specification 2.1: with an empty quota, a long-polling operation still waits for its back-off before it returns the
/// error.
#[test]
fn a_long_poll_of_the_aws_sdk_for_rust_waits_before_giving_up() {
    // A quota of 500 pays 14 for each of 35 retries, and 10 is left: 17 ops with two retries, and one with one retry.
    let file = |wait: f64, config: &str| {
        let attempts: Vec<u32> =
            (0..30).map(|op| if op < 17 { 3 } else { 1 + u32::from(op == 17) }).collect();
        let waits: Vec<Vec<f64>> = attempts
            .iter()
            .enumerate()
            .map(|(op, attempts)| {
                let drawn = |most: f64, retry: usize| most * ((op * 7 + retry * 3) % 20) as f64 / 20.0;
                let mut waits = vec![0.0];
                waits.extend((1..*attempts as usize).map(|retry| drawn(0.05 * retry as f64, retry)));
                // With an empty quota, the back-off comes after the last attempt.
                let after = if *attempts < 3 { drawn(wait * f64::from(*attempts), 1) } else { 0.0 };
                waits.push(after);
                waits
            })
            .collect();
        serde_json::json!({
            "library": "aws-sdk-rust-sqs", "version": "1.119.0", "language": "rust", "interception": "sleeps",
            "scenarios": [{"id": "series-503", "config": config, "kind": "series", "ops": 30,
                           "attempts_per_op": attempts, "waits_per_op": waits}],
        })
        .to_string()
    };
    let map = Map::of_presets(presets());
    let checked = |wait: f64, config: &str| {
        let recording = read(&file(wait, config)).expect("it is a recording");
        let mapped = map.strategy("x.json", &recording, &recording.pairs[0]).expect("there is a rule");
        let verdict = check(&recording.pairs[0], Some(&mapped.strategy)).expect("it starts");
        (mapped.text, verdict)
    };
    let receive = "RetryConfig::standard().with_retry_spec(v2_1), ReceiveMessage, one client";
    let (text, verdict) = checked(0.05, receive);
    assert_eq!((text.as_str(), verdict), ("preset:aws-2026,operation=long-poll", CheckOutcome::Reproduced));
    let send = "RetryConfig::standard().with_retry_spec(v2_1), SendMessage, one client";
    let (text, verdict) = checked(0.0, send);
    assert_eq!((text.as_str(), verdict), ("preset:aws-2026", CheckOutcome::Reproduced));
    assert!(matches!(checked(0.05, send).1, CheckOutcome::Differs(_)), "other operations do not wait");
}

/// Recorded with the AWS SDK for JavaScript (S3 3.1175.0). A client whose first answer comes in a later half second than its
/// creation starts with a higher rate, which happens in half of the runs.
#[test]
fn a_new_adaptive_client_of_aws_starts_in_one_of_two_ways() {
    let map = Map::of_presets(presets());
    let verdict = |first: [f64; 2], second: f64, later: f64| {
        let mut waits = vec![vec![later; 3]; 20];
        waits[0] = vec![0.0, first[0], first[1]];
        waits[1][0] = second;
        let text = serde_json::json!({
            "library": "aws-sdk-js-s3", "version": "3.1175.0", "language": "javascript", "interception": "virtual clock",
            "scenarios": [{"id": "series-SlowDown", "config": "S3Client retryMode adaptive", "kind": "series", "ops": 20,
                           "attempts_per_op": vec![3; 20], "waits_per_op": waits}],
        });
        let recording = read(&text.to_string()).expect("it is a recording");
        let mapped = map.strategy("x.json", &recording, &recording.pairs[0]).expect("there is a rule");
        check(&recording.pairs[0], Some(&mapped.strategy)).expect("it starts")
    };
    assert_eq!(verdict([2.0, 2.0], 2.0, 2.0), CheckOutcome::Reproduced);
    assert_eq!(verdict([0.893, 1.276], 1.823, 2.0), CheckOutcome::Reproduced);
    assert!(matches!(verdict([0.5, 1.276], 1.823, 2.0), CheckOutcome::Differs(_)));
    assert!(matches!(verdict([2.0, 2.0], 2.0, 1.0), CheckOutcome::Differs(_)));
}

/// Options of known libraries that no recording contains.
#[test]
fn recordings_with_other_options_find_parameterized_presets() {
    let map = Map::of_presets(presets());
    let text = |library: &str, version: &str, config: &str| {
        let text = serde_json::json!({
            "library": library, "version": version, "language": "python", "interception": "sleeps",
            "scenarios": [{"id": "503", "config": config, "n": 1, "samples": [[]]}],
        });
        let recording = read(&text.to_string()).expect("it is a recording");
        map.strategy("x.json", &recording, &recording.pairs[0]).map(|mapped| mapped.text)
    };
    for (library, version, config, expected) in [
        ("openai", "3.60.0", "OpenAI(max_retries=5)", "preset:openai,max-attempts=6"),
        ("openai-node", "6.1.0", "maxRetries: 4", "preset:openai-node-6,max-attempts=5"),
        ("openai-node-7", "7.99.0", "maxRetries: 4", "preset:openai-node-7,max-attempts=5"),
        (
            "botocore",
            "1.50.0",
            "sqs ReceiveMessage, mode=standard",
            "preset:aws-2026-botocore,service=sqs,operation=long-poll",
        ),
        (
            "botocore",
            "1.44.5",
            "dynamodb PutItem, mode=legacy max_attempts=4",
            "preset:aws-legacy,service=dynamodb,max-attempts=5",
        ),
        ("aws-sdk-js-lambda", "3.1170.0", "LambdaClient maxAttempts 7", "preset:aws-2026-js,max-attempts=7"),
        ("urllib3", "2.8.0", "Retry(total=2)", "preset:urllib3,max-attempts=3"),
        ("requests", "2.34.2", "HTTPAdapter(max_retries=7)", "preset:urllib3,max-attempts=8"),
        (
            "urllib3",
            "2.8.0",
            "Retry(total=8, backoff_factor=0.25, status_forcelist=[502, 503])",
            "preset:urllib3-usual,max-attempts=9,base=250ms,retry-on=502&idempotent|503&idempotent|413&told&idempotent|\
             429&told&idempotent|503&told&idempotent|refused|closed&idempotent|timeout&idempotent|unreadable&idempotent",
        ),
        (
            "tenacity",
            "9.2.1",
            "stop_after_attempt(9), wait_random(0.5, 2)",
            "preset:tenacity,max-attempts=9,base=2s,growth=constant,spread=from|500ms",
        ),
        (
            "got",
            "14.6.6",
            "retry.limit 5, timeout.request 3 s",
            "preset:got-14,max-attempts=6,advice-limit=3s,advice-beyond=give-up",
        ),
        ("p-retry", "9.0.0", "retries 2, minTimeout 50", "preset:node-retry,max-attempts=3,base=50ms"),
        (
            "curl",
            "8.16.9",
            "--retry 7 --retry-delay 3",
            "preset:curl-7,max-attempts=8,growth=constant,base=3s",
        ),
        ("curl", "8.17.0", "--retry 7 --retry-delay 3", "preset:curl,max-attempts=8,growth=constant,base=3s"),
        (
            "wget",
            "1.21.3",
            "--tries=9 --retry-on-http-error=502",
            "preset:wget,max-attempts=9,retry-on=502|closed|unreadable|timeout",
        ),
        (
            "google-api-core",
            "2.44.0",
            "Retry(initial=0.5, multiplier=2, deadline=30)",
            "preset:google-api-core,base=500ms,factor=2,max-time=30s",
        ),
    ] {
        assert_eq!(
            text(library, version, config).as_deref(),
            Some(expected),
            "{library} {version}: {config}"
        );
    }
    for (library, version, config) in [
        ("openai", "3.60.0", "OpenAI(max_retries=5, timeout=3)"),
        ("curl", "8.5.0", "--retry 3 --proxy x"),
        ("urllib3", "2.8.0", "Retry(total=2, allowed_methods=None)"),
        ("somebody-else", "1", "default"),
    ] {
        assert_eq!(text(library, version, config), None, "{library} {version}: {config}");
    }
}

/// Fills a value into each placeholder of an option's strategy parameters.
fn filled(puts_in: &str) -> String {
    let (mut text, mut left) = (String::new(), puts_in);
    while let Some((before, after)) = left.split_once('{') {
        let (place, after) = after.split_once('}').expect("it is closed");
        text += before;
        text += match place.chars().next() {
            Some('n') => "3",
            Some('x') => "1",
            Some('s' | 'm') => "2s",
            Some('l') => "503",
            other => panic!("`{puts_in}` has a place of no known kind: {other:?}"),
        };
        left = after;
    }
    text + left
}

#[test]
fn every_option_of_every_rule_leads_to_a_strategy() {
    let (mut wrong, mut options) = (Vec::new(), 0);
    let rules = presets().iter().flat_map(|preset| &preset.rules);
    for rule in rules.filter(|rule| rule.text.starts_with("preset:")) {
        let preset = rule.text.split(',').next().unwrap_or_default();
        for puts_in in rule.options.values().chain(rule.scenarios.values()).filter(|text| !text.is_empty()) {
            let comma = if puts_in.starts_with('+') { "" } else { "," };
            let text = format!("{preset}{comma}{}", filled(puts_in));
            options += 1;
            if let Err(error) = text.parse::<StrategySpec>() {
                wrong.push(format!("{text}: {error}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(options > 150, "{options}");
}
