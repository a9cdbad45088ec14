//! Tests of limits in the headers of presets. The instant of a reset does not depend on the duration of a request's service, and the
//! remaining amount already accounts for the request itself.

#[path = "support/drain.rs"]
mod drain;

use std::sync::Arc;
use std::time::Duration;

use mockserver_core::{
    Config, Expanded, HeaderWriter, Input, Request, RequestFields, RequestId, Server, ServerDecision, Step,
    expand,
};
use vocabulary::{Distribution, Instant, WallTime};

use drain::drain;

/// Start of the server, 20 s before a full hour of the clock.
const STARTED: WallTime = WallTime::from_unix(Duration::from_secs(1_800_000_000 + 3580));

/// Creates a preset's configuration without network delay and with this service time.
fn preset(name: &str, service_ms: u64) -> Config {
    let Expanded { policy, answers, .. } = expand(name, None).expect("a preset");
    Config {
        policy,
        answers,
        service_time: Distribution::millis(service_ms),
        reject_time: Distribution::ZERO,
        network_delay: Distribution::ZERO,
        ..Config::default()
    }
}

/// Returns verdict and headers of each answer, in the order of the requests, which arrive a millisecond apart.
fn answers(config: Config, requests: &[&str]) -> Vec<(ServerDecision, Vec<(String, String)>)> {
    let set = config.answer_set().unwrap().expect("presets have words of their own");
    let mut server = Server::starting(config, STARTED);
    for (number, line) in (0..).zip(requests) {
        let (method, path) = line.split_once(' ').expect("METHOD PATH");
        let details = RequestFields { method: method.into(), path: path.into(), ..RequestFields::default() };
        let request = Request {
            id: RequestId(number),
            run: None,
            seed: 1,
            op: number.into(),
            attempt: 1,
            step: Step::Work,
        };
        let at = Instant::from_millis(number.into());
        server.handle(at, Input::Arrive { request, least: 0, details: Some(Arc::new(details)) });
    }
    let teller = HeaderWriter::experiment(STARTED);
    let mut answers = Vec::new();
    drain(&mut server, Instant::FAR_FUTURE, |answer| {
        let told = answer.response_context(answer.facts().expect("a stack has facts"));
        let rendered = set.render(&told, &teller);
        let headers = rendered.headers.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        answers.push((answer.id, answer.verdict, headers.collect()));
    });
    answers.sort_by_key(|(id, ..)| id.0);
    answers.into_iter().map(|(_, verdict, headers)| (verdict, headers)).collect()
}

/// Returns the value of the header whose name ends in `name`, for each answer.
fn values(answers: &[(ServerDecision, Vec<(String, String)>)], name: &str) -> Vec<String> {
    let of_one = |(_, headers): &(ServerDecision, Vec<(String, String)>)| {
        let found = headers.iter().find(|(there, _)| there.ends_with(name));
        found.map_or_else(|| panic!("no `{name}` in {headers:?}"), |(_, value)| value.clone())
    };
    answers.iter().map(of_one).collect()
}

#[test]
fn a_reset_instant_does_not_depend_on_service_or_return_time() {
    for (name, header) in
        [("github", "x-ratelimit-reset"), ("discord", "x-ratelimit-reset"), ("anthropic", "-requests-reset")]
    {
        let at_once = values(&answers(preset(name, 0), &["GET /"; 3]), header);
        for slow in
            [preset(name, 4000), Config { return_delay: Distribution::millis(4000), ..preset(name, 0) }]
        {
            let slow = answers(slow, &["GET /"; 3]);
            assert!(slow.iter().all(|(verdict, _)| *verdict == ServerDecision::Accepted), "{name}");
            assert_eq!(values(&slow, header), at_once, "{name}");
        }
    }
    let hour = values(&answers(preset("github", 5000), &["GET /"]), "x-ratelimit-reset");
    assert_eq!(hour, ["1800007180"], "an hour after the first request");
}

#[test]
fn the_time_until_a_reset_counts_from_the_answer_and_ends_at_0() {
    let after = |service_ms| values(&answers(preset("discord", service_ms), &["GET /"]), "reset-after");
    assert_eq!([0, 2000, 5000, 60_000].map(after), [["5.000"], ["3.000"], ["0.000"], ["0.000"]]);
}

/// This also holds for requests that arrive before earlier ones are counted.
#[test]
fn kong_reports_the_remainder_after_the_request_itself() {
    let six = preset("kong:minute.limit=6", 0);
    let one_by_one = answers(six.clone(), &["GET /"; 8]);
    assert_eq!(values(&one_by_one, "x-ratelimit-remaining-minute"), ["5", "4", "3", "2", "1", "0", "0", "0"]);
    assert_eq!(one_by_one.iter().filter(|(verdict, _)| *verdict == ServerDecision::Accepted).count(), 6);
    // All requests arrive before the first is answered, and so before any is counted.
    let at_once = answers(Config { service_time: Distribution::millis(1000), ..six }, &["GET /"; 8]);
    assert_eq!(values(&at_once, "x-ratelimit-remaining-minute"), ["5"; 8]);
}

#[test]
fn github_reports_the_remainder_for_free_even_when_exhausted() {
    let requests = [
        "GET /rate_limit",
        "GET /repos",
        "GET /rate_limit",
        "POST /rate_limit",
        "GET /user",
        "GET /rate_limit",
    ];
    let answers = answers(preset("github:primary.limit=2", 0), &requests);
    assert_eq!(values(&answers, "x-ratelimit-remaining"), ["2", "1", "1", "0", "0", "0"]);
    let rejected = answers.iter().map(|(verdict, _)| *verdict == ServerDecision::Rejected);
    assert_eq!(rejected.collect::<Vec<_>>(), [false, false, false, false, true, false]);
}
