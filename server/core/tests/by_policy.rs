//! Tests of the counts per policy of a stack, through the whole server.

#[path = "support/config.rs"]
mod config;
#[path = "support/drain.rs"]
mod drain;

use mockserver_core::{Config, Input, Request, RequestId, Server, ServerDecision, Step};
use vocabulary::Instant;
use wire::{PolicyCounts, RunId};

use config::config;
use drain::drain;

/// Sends requests of a run at these milliseconds, after taking all answers that are due by then.
fn arrive(server: &mut Server, run: RunId, at_ms: &[u64]) {
    for (op, at) in (0..).zip(at_ms) {
        let at = Instant::from_millis(*at);
        drain(server, at, |_| {});
        let id = RequestId(u32::try_from(op).expect("few"));
        server.handle(
            at,
            Input::Arrive {
                request: Request { id, run: Some(run), seed: 1, op, attempt: 1, step: Step::Work },
                least: 0,
                details: None,
            },
        );
    }
}

fn counted(server: &mut Server, run: Option<RunId>) -> Vec<(String, u64, u64)> {
    told(server.stats(Instant::FAR_FUTURE, run).counts.by_policy)
}

fn told(counts: Vec<PolicyCounts>) -> Vec<(String, u64, u64)> {
    counts.into_iter().map(|counts| (counts.name, counts.accepted, counts.rejected)).collect()
}

fn expected(counts: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
    counts.iter().map(|(name, accepted, rejected)| ((*name).to_owned(), *accepted, *rejected)).collect()
}

const STACK: &str = "primary=fixed-window:limit=4,window=1s,later=keep then concurrency:cap=1,queue=1,queue-timeout=50ms then token-bucket:rate=1/h,burst=1";

/// The first request is served. The second waits for 50 ms and is rejected. The third finds the queue full. The fourth finds an empty
/// bucket, and the fifth an exhausted window.
#[test]
fn each_policy_counts_its_passed_and_rejected_requests() {
    let mut server = Server::new(config(STACK));
    arrive(&mut server, 1, &[0, 0, 0, 200, 200]);
    let golden = expected(&[("primary", 4, 1), ("concurrency", 2, 2), ("token-bucket", 1, 1)]);
    assert_eq!(counted(&mut server, Some(1)), golden);
    assert_eq!(counted(&mut server, None), golden);
    assert_eq!(
        counted(&mut server, Some(2)),
        golden.iter().map(|(name, ..)| (name.clone(), 0, 0)).collect::<Vec<_>>()
    );
}

#[test]
fn a_request_that_no_policy_evaluated_counts_with_none() {
    let mut server = Server::new(Config { reject_first: 1, ..config(STACK) });
    arrive(&mut server, 1, &[0, 0]);
    assert_eq!(
        counted(&mut server, Some(1)),
        expected(&[("primary", 0, 0), ("concurrency", 0, 0), ("token-bucket", 0, 0)])
    );
}

#[test]
fn what_serves_itself_counts_as_the_last() {
    let mut server = Server::new(config("fixed-window:limit=3,window=1h then script:steps=429|200"));
    for attempt in [1, 2, 3, 4] {
        let request = Request { id: RequestId(0), run: Some(1), seed: 1, op: 0, attempt, step: Step::Work };
        server.handle(Instant::ORIGIN, Input::Arrive { request, least: 0, details: None });
        drain(&mut server, Instant::ORIGIN, |_| {});
    }
    // Requests that the script rejects are refunded to the window.
    assert_eq!(counted(&mut server, Some(1)), expected(&[("fixed-window", 4, 0), ("script", 3, 1)]));
}

#[test]
fn a_reset_keeps_lifetime_counts_and_a_new_stack_adds_by_name() {
    let mut server = Server::new(config("a=fixed-window:limit=1,window=1h then b=concurrency:cap=5"));
    arrive(&mut server, 1, &[0, 0]);
    server.handle(Instant::from_millis(1), Input::Reset);
    assert_eq!(counted(&mut server, None), expected(&[("a", 0, 0), ("b", 0, 0)]));
    assert_eq!(
        told(server.lifetime(Instant::FAR_FUTURE).counts.by_policy),
        expected(&[("a", 1, 1), ("b", 1, 0)])
    );

    let other = config("b=concurrency:cap=5 then c=fixed-window:limit=1,window=1h");
    server.handle(Instant::from_millis(300), Input::Configure(Box::new(other)));
    arrive(&mut server, 2, &[300, 300]);
    let now = expected(&[("b", 2, 0), ("c", 1, 1)]);
    assert_eq!(counted(&mut server, Some(2)), now);
    let all = expected(&[("a", 1, 1), ("b", 3, 0), ("c", 1, 1)]);
    assert_eq!(told(server.lifetime(Instant::FAR_FUTURE).counts.by_policy), all);

    server.handle(Instant::from_millis(900), Input::Configure(Box::new(config("c=gcra"))));
    arrive(&mut server, 3, &[900]);
    assert_eq!(counted(&mut server, Some(3)), [], "one policy counts with the server");
    assert_eq!(told(server.lifetime(Instant::FAR_FUTURE).counts.by_policy), all);
}

#[test]
fn requests_queued_during_a_policy_change_count_with_none() {
    let mut server = Server::new(config("concurrency:cap=1,queue=5 then gcra:rate=1/h,burst=1"));
    arrive(&mut server, 1, &[0, 0]);
    let mut verdicts = Vec::new();
    server.handle(
        Instant::from_millis(10),
        Input::Configure(Box::new(config("gcra:burst=9 then concurrency:cap=9"))),
    );
    drain(&mut server, Instant::from_millis(10), |answer| verdicts.push(answer.verdict));
    assert_eq!(verdicts, [ServerDecision::Rejected; 2]);
    assert_eq!(counted(&mut server, Some(1)), expected(&[("concurrency", 1, 0), ("gcra", 1, 0)]));
}
