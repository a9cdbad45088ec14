//! Requests that a client sends although the server has asked it to wait, and the part `hold`, which sends none.

use std::num::NonZero;
use std::time::Duration;

use tailback::{Advice, Outcome, Status};

use super::{Bench, burst, ms};
use crate::requests::Requests;
use crate::run::{Input, Output};
use crate::workload::{ArrivalProcess, RunConfig, Workload};

const HALF_A_SECOND: Option<Duration> = Some(Duration::from_millis(500));
const HOUR: Duration = Duration::from_hours(1);

fn early(bench: &Bench) -> u64 {
    bench.run.measurements().advice_figures().early_shared
}

/// Answers the attempt in flight at this place with a rejection that advises half a second.
fn advise(bench: &mut Bench, place: usize, at_ms: u64) {
    let launched = bench.sent.remove(place);
    bench.advise(launched, ms(at_ms), Status::Rejected, HALF_A_SECOND);
}

#[test]
fn attempts_of_any_op_before_the_latest_advised_instant_are_early() {
    let mut bench = Bench::new("fixed-window:window=3", burst(10));
    bench.poll(ms(0));
    assert_eq!(early(&bench), 0);
    advise(&mut bench, 0, 100);
    assert_eq!(early(&bench), 1, "the next op took the freed place");
    let launched = bench.sent.remove(0);
    bench.advise(launched, ms(200), Status::Rejected, Some(Duration::from_millis(100)));
    assert_eq!(early(&bench), 2, "shorter advice does not shorten the wait");
    bench.answer(ms(599), Status::Succeeded);
    assert_eq!(early(&bench), 3);
    bench.answer(ms(600), Status::Succeeded);
    assert_eq!(early(&bench), 3, "the wait is over at its instant");
}

#[test]
fn only_the_advised_client_or_api_key_is_asked_to_wait() {
    let clients = |share_strategy| RunConfig { clients: 2, share_strategy, ..burst(8) };
    for (config, expected) in [(clients(false), 0), (clients(true), 1)] {
        let mut bench = Bench::new("fixed-window:window=4", config);
        bench.poll(ms(0));
        // Ops 0 and 1 are of different clients. The answer to op 0 advises, and then op 1 frees a place of the other client.
        let [first, second] = [0, 1].map(|op| bench.sent.iter().position(|sent| sent.op == op).unwrap());
        let second = bench.sent.remove(second);
        advise(&mut bench, first, 100);
        let before = early(&bench);
        bench.answer_to(second, ms(200), Status::Succeeded);
        assert_eq!(early(&bench) - before, expected);
    }
    let requests = Requests { api_keys: NonZero::new(1000), ..Requests::default() };
    let mut bench = Bench::new("fixed-window:window=1", RunConfig { requests, ..burst(8) });
    bench.poll(ms(0));
    advise(&mut bench, 0, 100);
    bench.answer(ms(200), Status::Succeeded);
    assert_eq!(early(&bench), 0, "the next ops have other keys");
}

#[test]
fn an_attempt_that_waits_for_a_connection_is_early_if_it_is_sent_early() {
    for (connected_at, expected) in [(300, 1), (600, 0)] {
        let mut bench = Bench::new("fixed-window:window=2", burst(4));
        bench.poll(ms(0));
        advise(&mut bench, 0, 100);
        let waiting = bench.sent[1].attempt;
        bench.run.handle_input(ms(100), Input::Waiting(waiting));
        assert_eq!(early(&bench), 0);
        bench.run.handle_input(ms(connected_at), Input::Connected(waiting));
        assert_eq!(early(&bench), expected);
    }
}

/// Answers the first attempt in flight with a rejection whose advice the strategy reads, too.
fn hold(bench: &mut Bench, at_ms: u64, wait: Duration) -> Output {
    let launched = bench.sent.remove(0);
    bench.end(launched, ms(at_ms), Outcome::advised(Status::Rejected, Advice::After(wait)), Some(wait))
}

#[test]
fn a_hold_stops_all_ops_until_the_advised_instant() {
    let mut bench = Bench::new("hold+fixed-window:window=3", burst(10));
    bench.poll(ms(0));
    hold(&mut bench, 100, Duration::from_millis(500));
    assert_eq!(bench.answer(ms(200), Status::Succeeded), Output::WaitUntil(ms(600)));
    bench.answer(ms(300), Status::Succeeded);
    assert!(bench.sent.is_empty());
    bench.poll(ms(600));
    assert_eq!((bench.sent.len(), early(&bench)), (3, 0));
}

/// Otherwise, requests that passed the gate before the advice would be sent during the hold.
#[test]
fn a_hold_takes_back_attempts_that_wait_for_a_connection() {
    for strategy in
        ["hold+full-jitter:retry-after=ignore", "hold+full-jitter:retry-after=ignore+hedging:delay=1h"]
    {
        let mut bench = Bench::new(strategy, burst(3));
        bench.poll(ms(0));
        let waiting = [1, 2].map(|place: usize| bench.sent[place].attempt);
        for attempt in waiting {
            bench.run.handle_input(ms(0), Input::Waiting(attempt));
        }
        hold(&mut bench, 100, Duration::from_millis(500));
        for attempt in waiting {
            bench.run.handle_input(ms(200), Input::Connected(attempt));
            assert!(!bench.run.is_in_flight(attempt), "{strategy}");
        }
        bench.sent.clear();
        bench.poll(ms(599));
        assert!(bench.sent.is_empty(), "{strategy}");
        let mut now = 600;
        while bench.poll(ms(now)) != Output::Done {
            while !bench.sent.is_empty() {
                bench.answer(ms(now), Status::Succeeded);
            }
            now += 100;
        }
        let measured = bench.run.measurements();
        assert_eq!((measured.attempts.total, measured.attempts.unsent), (4, 2), "{strategy}");
        assert_eq!((measured.ops.succeeded, early(&bench)), (3, 0));
        bench.assert_conserved();
    }
}

/// Each op is rejected once, with advice. Ops that wait behind the gate have no advice of their own.
#[test]
fn time_in_which_the_gate_is_closed_is_no_stall() {
    let mut bench = Bench::new("hold+full-jitter", burst(50));
    let mut next = bench.poll(ms(0));
    let mut rejected = std::collections::BTreeSet::new();
    let mut now = ms(0);
    while next != Output::Done {
        if bench.sent.is_empty() {
            let Output::WaitUntil(at) = next else { panic!("{next:?}") };
            now = now.max(at);
            next = bench.poll(now);
        } else if rejected.insert(bench.sent[0].op) {
            let (launched, wait) = (bench.sent.remove(0), Duration::from_secs(5));
            let outcome = Outcome::advised(Status::Rejected, Advice::After(wait));
            next = bench.end(launched, now, outcome, Some(wait));
        } else {
            next = bench.answer(now, Status::Succeeded);
        }
    }
    assert_eq!(bench.run.measurements().ops.succeeded, 50);
}

#[test]
fn a_run_whose_ops_all_wait_for_a_hold_of_an_hour_is_not_stalled() {
    for drain in [None, Some(Duration::from_secs(5))] {
        let arrivals = ArrivalProcess::Uniform { rate_per_s: 10.0 };
        let workload = Workload { arrivals, ops: None, duration: Some(Duration::from_secs(1)) };
        let mut bench = Bench::new("hold+aimd", RunConfig { workload, drain, ..RunConfig::default() });
        bench.poll(ms(0));
        let mut next = hold(&mut bench, 100, HOUR);
        while let Output::WaitUntil(at) = next
            && bench.sent.is_empty()
        {
            next = bench.poll(at);
        }
        assert_eq!(bench.run.stalled_at(), None);
        match drain {
            None => assert_eq!(bench.sent[0].due, ms(3_600_100)),
            Some(_) => assert_eq!((next, bench.sent.len()), (Output::Done, 0)),
        }
    }
}
