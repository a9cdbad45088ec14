//! Tests of lockouts after rejections, through the whole server: advised waits, and the effect of early requests.

use mockserver_core::{Config, Input, Output, Request, RequestId, Server, ServerDecision, Step};
use vocabulary::{Distribution, Instant};

/// Returns the result of each request, which arrive at these milliseconds: `None` if accepted, otherwise the advised wait in milliseconds,
/// or `u64::MAX` without advice.
fn told(policy: &str, arrivals_ms: &[u64]) -> Vec<Option<u64>> {
    let config = Config {
        policy: policy.parse().expect("policies"),
        service_time: Distribution::ZERO,
        reject_time: Distribution::ZERO,
        network_delay: Distribution::ZERO,
        ..Config::default()
    };
    let mut server = Server::new(config);
    let told = arrivals_ms.iter().enumerate().map(|(op, at_ms)| {
        let (id, at) = (RequestId(0), Instant::from_millis(*at_ms));
        let request = Request { id, run: None, seed: 1, op: op as u64, attempt: 1, step: Step::Work };
        server.handle(at, Input::Arrive { request, least: 0, details: None });
        let Output::Answer(answer) = server.poll(at) else { panic!("everything takes no time") };
        let wait = answer.advice.map_or(u64::MAX, |wait| u64::try_from(wait.as_millis()).expect("short"));
        (answer.verdict != ServerDecision::Accepted).then_some(wait)
    });
    told.collect()
}

/// Variant of `told` in seconds, because vendors state their penalties in seconds.
fn told_in_seconds(policy: &str, arrivals_s: &[u64]) -> Vec<Option<u64>> {
    let arrivals: Vec<u64> = arrivals_s.iter().map(|at| at * 1000).collect();
    told(policy, &arrivals).into_iter().map(|wait| wait.map(|wait| wait / 1000)).collect()
}

const LIMIT: &str = "fixed-window:limit=1200,window=5min,align=first";

/// Returns the results of these requests, after 1200 requests at the start.
fn after_the_limit(penalty: &str, arrivals_s: &[u64]) -> Vec<Option<u64>> {
    let mut arrivals = vec![0; 1200];
    arrivals.extend(arrivals_s);
    let mut told = told_in_seconds(&format!("{penalty} then {LIMIT}"), &arrivals);
    assert!(told.drain(..1200).all(|wait| wait.is_none()));
    told
}

#[test]
fn cloudflare_blocks_for_five_minutes_after_the_limit() {
    let told = after_the_limit("penalty:lock=5min", &[10, 11, 250, 309, 310, 311]);
    assert_eq!(told, [Some(300), Some(299), Some(60), Some(1), None, None]);
}

#[test]
fn early_requests_may_begin_the_lock_anew() {
    let told = after_the_limit("penalty:lock=5min,early=prolong", &[10, 11, 250, 549, 849, 850, 900]);
    assert_eq!(told, [Some(300), Some(300), Some(300), Some(300), None, None, None]);
}

#[test]
fn waiting_as_advised_can_avoid_the_lock() {
    let only = "penalty:lock=100s,early=only";
    assert_eq!(after_the_limit(only, &[10, 300, 301]), [Some(290), None, None]);
    // At 250 s the remaining wait of 50 s is shorter than the lock of 100 s, so the lock is advised.
    assert_eq!(
        after_the_limit(only, &[10, 100, 250, 340, 440]),
        [Some(290), Some(200), Some(100), Some(100), None]
    );
}

#[test]
fn the_longer_wait_is_advised_and_the_shorter_lock_persists() {
    let told = after_the_limit("penalty:lock=20s", &[10, 15, 30, 300]);
    assert_eq!(told, [Some(290), Some(15), Some(270), None]);
}

#[test]
fn so_many_rejected_requests_bring_a_ban() {
    let ban = "penalty:lock=0s,ban-after=3,ban-window=1min,ban=1h";
    let window = "sliding-log:limit=1,window=10s";
    // The window of the count starts with the first rejection. The third rejection in it advises the ban.
    let arrivals = [0, 1, 2, 62, 63, 64, 65, 66, 3660, 3665];
    let expected = [None, Some(9), Some(8), None, Some(9), Some(8), Some(3600), Some(3599), Some(5), None];
    assert_eq!(told_in_seconds(&format!("{ban} then {window}"), &arrivals), expected);
    // Only early requests count here, and other rejections do not.
    let early = "penalty:lock=0s,early=only,ban-after=2,ban-window=1min,ban=1h";
    let arrivals = [0, 1, 10, 11, 20, 21, 22, 23, 24];
    let expected = [None, Some(9), None, Some(9), None, Some(9), Some(8), Some(3600), Some(3599)];
    assert_eq!(told_in_seconds(&format!("{early} then {window}"), &arrivals), expected);
}

#[test]
fn an_unknown_wait_is_replaced_by_that_of_the_lock() {
    let told = told("penalty:lock=50ms then script:steps=503|200", &[0, 10, 50]);
    assert_eq!(told, [Some(u64::MAX), Some(40), Some(u64::MAX)], "a script has its own words");
    let costly = "penalty:lock=50ms then gcra:rate=1/s,burst=2,cost=3";
    assert_eq!(self::told(costly, &[0, 10, 50]), [Some(50), Some(40), Some(50)]);
}
