//! Tests of injected faults before and after the work: slots held, counts, and due times of answers.

use mockserver_core::{Config, Fault, Input, Output, Request, RequestId, Server, ServerDecision, Step};
use vocabulary::Instant;

fn server(fault: &str) -> Server {
    Server::new(Config { max_busy: 1, fault: fault.parse().expect("faults"), ..Config::default() })
}

fn arrive(server: &mut Server, at_ms: u64, id: u32, step: Step) {
    let request = Request { id: RequestId(id), run: None, seed: 1, op: id.into(), attempt: 1, step };
    server.handle(Instant::from_millis(at_ms), Input::Arrive { request, least: 0, details: None });
}

/// Returns all answers that are due by `until_ms`, as (milliseconds, id, verdict, fault).
fn answers(server: &mut Server, until_ms: u64) -> Vec<(u64, u32, ServerDecision, Option<Fault>)> {
    let mut seen = Vec::new();
    while let Output::Answer(answer) = server.poll(Instant::from_millis(until_ms)) {
        seen.push((answer.at.as_nanos() / 1_000_000, answer.id.0, answer.verdict, answer.fault()));
    }
    seen
}

/// Returns (received, accepted, rejected, failed), and the milliseconds of slots served and wasted.
fn counts(server: &mut Server) -> ([u64; 4], f64, f64) {
    let stats = server.stats(Instant::FAR_FUTURE, None);
    let counts = stats.counts;
    let each = [counts.received, counts.accepted, counts.rejected, counts.failed];
    (each, stats.served_ms.unwrap_or_default(), stats.wasted_ms)
}

#[test]
fn a_fault_before_the_work_charges_nothing_and_is_immediate() {
    for (text, fault) in [("500", Fault::Status(500)), ("reset", Fault::Reset), ("truncate", Fault::Truncate)]
    {
        let mut server = server(&format!("{text}:100%"));
        arrive(&mut server, 0, 0, Step::Work);
        arrive(&mut server, 0, 1, Step::Work);
        let failed = |id| (100, id, ServerDecision::Failed, Some(fault));
        assert_eq!(answers(&mut server, 10_000), [failed(0), failed(1)]);
        assert_eq!(counts(&mut server), ([2, 0, 0, 2], 0.0, 0.0));
    }
}

/// A rejected request still receives its rejection.
#[test]
fn a_fault_after_the_work_is_charged() {
    let mut server = server("close:100%:after");
    arrive(&mut server, 0, 0, Step::Work);
    arrive(&mut server, 0, 1, Step::Work);
    let expected =
        [(150, 1, ServerDecision::Rejected, None), (600, 0, ServerDecision::Accepted, Some(Fault::Close))];
    assert_eq!(answers(&mut server, 10_000), expected);
    assert_eq!(counts(&mut server), ([2, 1, 1, 0], 0.0, 550.0), "what is lost was done in vain");
    assert_eq!(server.lifetime(Instant::FAR_FUTURE).spoiled, 1);
}

/// This holds whatever their verdict.
#[test]
fn slow_answers_are_delayed_and_hold_no_slot_meanwhile() {
    let mut slow = server("slow-headers(2s):100%");
    arrive(&mut slow, 0, 0, Step::Work);
    arrive(&mut slow, 0, 1, Step::Work);
    arrive(&mut slow, 600, 2, Step::Work);
    let expected = [
        (2150, 1, ServerDecision::Rejected, None),
        (2600, 0, ServerDecision::Accepted, None),
        (3200, 2, ServerDecision::Accepted, None),
    ];
    assert_eq!(answers(&mut slow, 10_000), expected);
    assert_eq!(counts(&mut slow), ([3, 2, 1, 0], 1000.0, 50.0));
    assert_eq!(slow.lifetime(Instant::FAR_FUTURE).slowed, 3);
    // With a slow body, the answer is due at its normal time.
    let mut dripping = server("slow-body(2s):100%");
    arrive(&mut dripping, 0, 0, Step::Work);
    let fault = Some(Fault::SlowBody(std::time::Duration::from_secs(2)));
    assert_eq!(answers(&mut dripping, 10_000), [(600, 0, ServerDecision::Accepted, fault)]);
}

/// It can be cancelled at any time.
#[test]
fn a_hanging_request_gets_no_answer_for_an_hour() {
    let mut server = server("hang:100%");
    arrive(&mut server, 0, 0, Step::Work);
    arrive(&mut server, 0, 1, Step::Work);
    assert_eq!(answers(&mut server, 3_600_099), []);
    server.handle(Instant::from_millis(3_600_099), Input::Cancel(RequestId(1)));
    let expected = [(3_600_100, 0, ServerDecision::Failed, Some(Fault::Close))];
    assert_eq!(answers(&mut server, 4_000_000), expected);
    assert_eq!(server.poll(Instant::FAR_FUTURE), Output::Idle);
    assert_eq!(counts(&mut server), ([2, 0, 0, 2], 0.0, 0.0));
}

/// Only a write that was done makes a new version.
#[test]
fn faults_strike_the_read_or_the_write_of_a_conditional_write() {
    let mut failing = server("500:100%");
    arrive(&mut failing, 0, 0, Step::Read);
    assert_eq!(answers(&mut failing, 1000), [(100, 0, ServerDecision::Failed, Some(Fault::Status(500)))]);
    let counts = failing.stats(Instant::FAR_FUTURE, None).counts;
    assert_eq!((counts.reads, counts.reads_rejected, counts.received), (1, 1, 0));

    let mut spoiling = server("500:100%:after");
    arrive(&mut spoiling, 0, 0, Step::Write { if_match: 0 });
    let answer = spoiling.poll(Instant::from_millis(1000));
    let Output::Answer(answer) = answer else { panic!("{answer:?}") };
    assert_eq!((answer.verdict, answer.version), (ServerDecision::Accepted, 1), "it was written");
}

#[test]
fn an_outage_comes_before_any_fault() {
    let outages = "0s..1s".parse().expect("an outage");
    let fault = "reset:100%".parse().expect("a fault");
    let mut server = Server::new(Config { outages, fault, ..Config::default() });
    arrive(&mut server, 0, 0, Step::Work);
    arrive(&mut server, 1000, 1, Step::Work);
    let expected =
        [(100, 0, ServerDecision::Rejected, None), (1100, 1, ServerDecision::Failed, Some(Fault::Reset))];
    assert_eq!(answers(&mut server, 10_000), expected);
}
