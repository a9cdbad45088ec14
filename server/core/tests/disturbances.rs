//! Tests of disturbances: lost messages, outages and rejected first attempts. Also of the delay from server to client.

use mockserver_core::{Config, Input, Output, Request, RequestId, Server, ServerDecision, Step};
use vocabulary::{Distribution, Instant};

fn request(id: u32, op: u64, attempt: u32) -> Request {
    Request { id: RequestId(id), run: Some(7), seed: 1, op, attempt, step: Step::Work }
}

/// Returns all answers until the server waits, as (milliseconds, id, verdict).
fn answers(server: &mut Server, now: Instant) -> Vec<(u64, u32, ServerDecision)> {
    let mut seen = Vec::new();
    while let Output::Answer(answer) = server.poll(now) {
        seen.push((answer.at.as_nanos() / 1_000_000, answer.id.0, answer.verdict));
    }
    seen
}

#[test]
fn an_answer_needs_its_time_but_the_slot_is_free() {
    let mut server =
        Server::new(Config { max_busy: 1, return_delay: Distribution::millis(30), ..Config::default() });
    server.handle(Instant::ORIGIN, Input::Arrive { request: request(0, 0, 1), least: 0, details: None });
    server.handle(
        Instant::from_millis(500),
        Input::Arrive { request: request(1, 1, 1), least: 0, details: None },
    );
    assert_eq!(server.poll(Instant::from_millis(600)), Output::WaitUntil(Instant::from_millis(630)));
    assert_eq!(
        answers(&mut server, Instant::FAR_FUTURE),
        [(630, 0, ServerDecision::Accepted), (1130, 1, ServerDecision::Accepted)]
    );
}

#[test]
fn a_cancelled_request_receives_no_answer_in_flight() {
    let mut server = Server::new(Config { return_delay: Distribution::millis(30), ..Config::default() });
    server.handle(Instant::ORIGIN, Input::Arrive { request: request(0, 0, 1), least: 0, details: None });
    server.handle(Instant::from_millis(610), Input::Cancel(RequestId(0)));
    server.handle(
        Instant::from_millis(620),
        Input::Arrive { request: request(0, 1, 1), least: 0, details: None },
    );
    assert_eq!(answers(&mut server, Instant::FAR_FUTURE), [(1250, 0, ServerDecision::Accepted)]);
}

#[test]
fn messages_are_lost_both_ways_and_giving_up_frees_all_slots() {
    let mut server = Server::new(Config { max_busy: 10_000, loss: 0.2, ..Config::default() });
    for op in 0..10_000 {
        server.handle(
            Instant::ORIGIN,
            Input::Arrive {
                request: request(u32::try_from(op).expect("small"), op, 1),
                least: 0,
                details: None,
            },
        );
    }
    let answered = answers(&mut server, Instant::from_millis(1000));
    assert_eq!(server.poll(Instant::from_millis(1000)), Output::Idle);
    let counts = server.stats(Instant::from_millis(1000), Some(7)).counts;
    // Four standard deviations of 10 000 draws: 160 and 192.
    assert!((7840..8160).contains(&counts.received), "{}", counts.received);
    assert!((6208..6592).contains(&answered.len()), "{}", answered.len());
    for id in 0..10_000 {
        server.handle(Instant::from_millis(1000), Input::Cancel(RequestId(id)));
    }
    server.handle(Instant::from_millis(1000), Input::Configure(Config::default().into()));
    server.handle(
        Instant::from_millis(1000),
        Input::Arrive { request: request(0, 0, 2), least: 0, details: None },
    );
    assert_eq!(answers(&mut server, Instant::from_millis(2000)), [(1600, 0, ServerDecision::Accepted)]);
}

#[test]
fn an_outage_turns_away_at_once_whatever_reaches_admission() {
    let outages = "1s..2s".parse().expect("an outage");
    let mut server = Server::new(Config { max_busy: 1, outages, ..Config::default() });
    for (id, sent) in [(0, 899), (1, 900), (2, 1899), (3, 1900)] {
        server.handle(
            Instant::from_millis(sent),
            Input::Arrive { request: request(id, id.into(), 1), least: 0, details: None },
        );
    }
    // The first request was in service already and continues.
    assert_eq!(
        answers(&mut server, Instant::FAR_FUTURE),
        [
            (1000, 1, ServerDecision::Rejected),
            (1499, 0, ServerDecision::Accepted),
            (1999, 2, ServerDecision::Rejected),
            (2500, 3, ServerDecision::Accepted)
        ]
    );
    let stats = server.stats(Instant::FAR_FUTURE, Some(7));
    assert_eq!((stats.counts.received, stats.counts.accepted, stats.counts.rejected), (4, 2, 2));
    assert_eq!((stats.counts.max_busy_seen, stats.wasted_ms), (1, 0.0));
}

#[test]
fn first_attempts_are_rejected_as_by_a_full_server() {
    let mut server = Server::new(Config { reject_first: 2, ..Config::default() });
    for attempt in 1..=3 {
        server.handle(
            Instant::ORIGIN,
            Input::Arrive { request: request(attempt, 0, attempt), least: 0, details: None },
        );
    }
    assert_eq!(
        answers(&mut server, Instant::FAR_FUTURE),
        [
            (150, 1, ServerDecision::Rejected),
            (150, 2, ServerDecision::Rejected),
            (600, 3, ServerDecision::Accepted)
        ]
    );
    let stats = server.stats(Instant::FAR_FUTURE, None);
    assert_eq!((stats.counts.rejected, stats.wasted_ms), (2, 100.0));
}

#[test]
fn a_carrier_sense_reads_what_is_free() {
    for (policy, free) in
        [("concurrency-cap", [50, 49]), ("overwhelmed-queue", [5, 4]), ("descriptor-pool", [7600, 7581])]
    {
        let policy = policy.parse().expect("a policy");
        let mut server =
            Server::new(Config { policy, network_delay: Distribution::ZERO, ..Config::default() });
        let before = server.free(Instant::ORIGIN);
        server.handle(Instant::ORIGIN, Input::Arrive { request: request(0, 0, 1), least: 0, details: None });
        assert_eq!([before, server.free(Instant::ORIGIN)], free);
    }
}

#[test]
fn a_cap_changes_at_its_instant_until_a_patch_overrides_it() {
    let config = Config {
        max_busy: 1,
        caps: "1s=2".parse().expect("a list of caps"),
        network_delay: Distribution::ZERO,
        ..Config::default()
    };
    let accepted = |server: &mut Server, at: Instant| {
        let before = server.stats(at, None).counts.accepted;
        for op in 0..4 {
            server.handle(at, Input::Arrive { request: request(op, op.into(), 1), least: 0, details: None });
        }
        server.stats(at, None).counts.accepted - before
    };
    let mut server = Server::new(config.clone());
    assert_eq!(accepted(&mut server, Instant::ORIGIN), 1);
    assert_eq!(server.capacity(Instant::from_millis(999)), Some(1));
    assert_eq!(accepted(&mut server, Instant::from_millis(1000)), 2);

    let patch = serde_json::json!({ "max_busy": 1 });
    let patched = config.patched(patch.as_object().expect("an object")).expect("a good patch");
    server.handle(Instant::from_millis(2000), Input::Configure(Box::new(patched)));
    assert_eq!(accepted(&mut server, Instant::from_millis(2000)), 1);
}

#[test]
fn a_carrier_is_looked_at_and_taken_in_one_step() {
    let policy = "descriptor-pool:descriptors=100,per-process=19".parse().expect("a policy");
    let mut server = Server::new(Config { policy, network_delay: Distribution::ZERO, ..Config::default() });
    let verdicts: Vec<_> = (0..4)
        .map(|id| {
            let input = Input::Arrive { request: request(id, id.into(), 1), least: 62, details: None };
            server.handle(Instant::ORIGIN, input);
            match server.poll(Instant::ORIGIN) {
                Output::Answer(answer) => Some((answer.id.0, answer.verdict)),
                _ => None,
            }
        })
        .collect();
    // 100, 81 and 62 are enough, 43 is not.
    assert_eq!(verdicts, [None, None, None, Some((3, ServerDecision::Deferred))]);
    assert_eq!(server.free(Instant::ORIGIN), 43);
    let counts = server.stats(Instant::ORIGIN, None).counts;
    assert_eq!((counts.received, counts.rejected), (3, 0), "who was not started is counted nowhere");
}

#[test]
fn the_start_comes_a_network_delay_after_the_look() {
    let policy = "descriptor-pool:descriptors=100".parse().expect("a policy");
    let mut server = Server::new(Config { policy, ..Config::default() });
    for id in 0..2 {
        let input = Input::Arrive { request: request(id, id.into(), 1), least: 100, details: None };
        server.handle(Instant::ORIGIN, input);
    }
    assert_eq!(server.poll(Instant::ORIGIN), Output::WaitUntil(Instant::from_millis(100)));
    server.poll(Instant::from_millis(100));
    assert_eq!(server.free(Instant::from_millis(100)), 62, "both had seen all free");
}
