//! What goes wrong on purpose: lost messages, outages, first attempts that are turned away; and the way back.

use mockserver_core::{Config, Input, Output, Request, RequestId, Server, Step, Verdict};
use vocabulary::{Distribution, Instant};

fn request(id: u32, op: u64, attempt: u32) -> Request {
    Request { id: RequestId(id), run: Some(7), seed: 1, op, attempt, step: Step::Work }
}

/// All answers until the server waits, as (milliseconds, id, verdict).
fn answers(server: &mut Server, now: Instant) -> Vec<(u64, u32, Verdict)> {
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
    server.handle(Instant::ORIGIN, Input::Arrive(request(0, 0, 1)));
    server.handle(Instant::from_millis(500), Input::Arrive(request(1, 1, 1)));
    assert_eq!(server.poll(Instant::from_millis(600)), Output::WaitUntil(Instant::from_millis(630)));
    assert_eq!(
        answers(&mut server, Instant::FAR_FUTURE),
        [(630, 0, Verdict::Accepted), (1130, 1, Verdict::Accepted)]
    );
}

#[test]
fn a_client_that_goes_hears_no_answer_that_is_on_its_way() {
    let mut server = Server::new(Config { return_delay: Distribution::millis(30), ..Config::default() });
    server.handle(Instant::ORIGIN, Input::Arrive(request(0, 0, 1)));
    server.handle(Instant::from_millis(610), Input::Cancel(RequestId(0)));
    server.handle(Instant::from_millis(620), Input::Arrive(request(0, 1, 1)));
    assert_eq!(answers(&mut server, Instant::FAR_FUTURE), [(1250, 0, Verdict::Accepted)]);
}

#[test]
fn messages_are_lost_on_both_ways_and_whoever_gives_up_frees_all() {
    let mut server = Server::new(Config { max_busy: 10_000, loss: 0.2, ..Config::default() });
    for op in 0..10_000 {
        server.handle(Instant::ORIGIN, Input::Arrive(request(u32::try_from(op).expect("small"), op, 1)));
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
    server.handle(Instant::from_millis(1000), Input::Arrive(request(0, 0, 2)));
    assert_eq!(answers(&mut server, Instant::from_millis(2000)), [(1600, 0, Verdict::Accepted)]);
}

#[test]
fn an_outage_turns_away_at_once_whatever_reaches_admission() {
    let outages = "1s..2s".parse().expect("an outage");
    let mut server = Server::new(Config { max_busy: 1, outages, ..Config::default() });
    for (id, sent) in [(0, 899), (1, 900), (2, 1899), (3, 1900)] {
        server.handle(Instant::from_millis(sent), Input::Arrive(request(id, id.into(), 1)));
    }
    // The first was in service already and goes on.
    assert_eq!(
        answers(&mut server, Instant::FAR_FUTURE),
        [
            (1000, 1, Verdict::Rejected),
            (1499, 0, Verdict::Accepted),
            (1999, 2, Verdict::Rejected),
            (2500, 3, Verdict::Accepted)
        ]
    );
    let stats = server.stats(Instant::FAR_FUTURE, Some(7));
    assert_eq!((stats.counts.received, stats.counts.accepted, stats.counts.rejected), (4, 2, 2));
    assert_eq!((stats.counts.max_busy_seen, stats.wasted_ms), (1, 0.0));
}

#[test]
fn first_attempts_are_turned_away_as_by_a_full_server() {
    let mut server = Server::new(Config { reject_first: 2, ..Config::default() });
    for attempt in 1..=3 {
        server.handle(Instant::ORIGIN, Input::Arrive(request(attempt, 0, attempt)));
    }
    assert_eq!(
        answers(&mut server, Instant::FAR_FUTURE),
        [(150, 1, Verdict::Rejected), (150, 2, Verdict::Rejected), (600, 3, Verdict::Accepted)]
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
        let before = server.free();
        server.handle(Instant::ORIGIN, Input::Arrive(request(0, 0, 1)));
        assert_eq!([before, server.free()], free);
    }
}
