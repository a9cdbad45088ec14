//! Tests of rate limits through the whole server: admitted requests are served concurrently without a cap, and rejections advise the exact
//! wait.

#[path = "support/drain.rs"]
mod drain;

use std::time::Duration;

use mockserver_core::{Answer, Config, Input, Request, RequestId, Server, ServerDecision, Step};
use vocabulary::{Distribution, Instant};

use drain::drain;

/// Sends a request at each of these milliseconds. Returns the answers in order.
fn answers(policy: &str, reject_ms: u64, arrivals_ms: &[u64]) -> Vec<Answer> {
    let config = Config {
        policy: policy.parse().expect("a policy"),
        service_time: Distribution::millis(500),
        reject_time: Distribution::millis(reject_ms),
        network_delay: Distribution::ZERO,
        ..Config::default()
    };
    let mut server = Server::new(config);
    let mut answers = Vec::new();
    for (op, at_ms) in arrivals_ms.iter().enumerate() {
        let at = Instant::from_millis(*at_ms);
        drain(&mut server, at, |answer| answers.push(answer));
        let id = RequestId(u32::try_from(op).expect("few"));
        let request = Request { id, run: Some(1), seed: 1, op: op as u64, attempt: 1, step: Step::Work };
        server.handle(at, Input::Arrive { request, least: 0, details: None });
    }
    drain(&mut server, Instant::FAR_FUTURE, |answer| answers.push(answer));
    answers
}

fn rejections_ms(answers: &[Answer]) -> Vec<(u64, Option<Duration>)> {
    let rejected = answers.iter().filter(|answer| answer.verdict == ServerDecision::Rejected);
    rejected.map(|answer| (answer.at.as_nanos() / 1_000_000, answer.advice)).collect()
}

#[test]
fn a_rejection_advises_the_wait_left_when_it_is_sent() {
    let policy = "token-bucket:rate=1/s,burst=2";
    let at_once = rejections_ms(&answers(policy, 0, &[0, 0, 0, 400]));
    assert_eq!(at_once, [(0, Some(Duration::from_secs(1))), (400, Some(Duration::from_millis(600)))]);
    let later = rejections_ms(&answers(policy, 50, &[0, 0, 0, 980]));
    assert_eq!(later, [(50, Some(Duration::from_millis(950))), (1030, Some(Duration::ZERO))]);
}

#[test]
fn what_passes_is_served_beside_all_else_and_nothing_is_a_cap() {
    for policy in [
        "token-bucket:rate=1/s,burst=200",
        "gcra:rate=1/s,burst=200",
        "fixed-window:limit=200",
        "sliding-log:limit=200",
    ] {
        let answers = answers(policy, 50, &[0; 200]);
        assert!(
            answers.iter().all(|answer| answer.verdict == ServerDecision::Accepted && answer.cap.is_none()),
            "{policy}"
        );
        assert!(answers.iter().all(|answer| answer.at == Instant::from_millis(500)), "{policy}");
        assert_eq!(answers.first().map(|answer| answer.busy), Some(200), "{policy}");
    }
}

#[test]
fn windows_can_be_aligned_to_the_first_request_of_a_run() {
    let config = Config {
        policy: "fixed-window:limit=2,window=1s,align=run".parse().expect("a policy"),
        service_time: Distribution::ZERO,
        reject_time: Distribution::ZERO,
        network_delay: Distribution::ZERO,
        ..Config::default()
    };
    let mut server = Server::new(config);
    let mut told = Vec::new();
    // The windows of the first run end at 1700 and 2700 ms, that of the second at 3100 ms.
    let arrivals = [
        (700, 1),
        (1600, 1),
        (1699, 1),
        (1700, 1),
        (2000, 1),
        (2050, 1),
        (2100, 2),
        (2100, 2),
        (2699, 2),
        (3100, 2),
    ];
    for (op, (at_ms, run)) in (0..).zip(arrivals) {
        let at = Instant::from_millis(at_ms);
        let id = RequestId(0);
        server.handle(
            at,
            Input::Arrive {
                request: Request { id, run: Some(run), seed: 1, op, attempt: 1, step: Step::Work },
                least: 0,
                details: None,
            },
        );
        drain(&mut server, at, |answer| told.push(answer.advice.map(|wait| wait.as_millis())));
    }
    let (ok, wait) = (None, Some);
    assert_eq!(told, [ok, ok, wait(1), ok, ok, wait(650), ok, ok, wait(401), ok]);
}
