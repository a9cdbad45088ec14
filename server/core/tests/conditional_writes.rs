//! Tests of optimistic concurrency control (seed 004): clients read, and then write if no other client has written in between.

use std::collections::BTreeMap;

use mockserver_core::{Config, Input, Output, Request, RequestId, Server, ServerDecision, Step};
use vocabulary::{Distribution, Instant};

/// Returns the milliseconds until the last success is known, and the number of writes, for clients that all start at once.
fn contend(clients: u32, backoff: impl Fn(u32) -> u64) -> (u64, u64) {
    let mut server = Server::new(Config {
        max_busy: 1,
        service_time: Distribution::ZERO,
        reject_time: Distribution::ZERO,
        network_delay: Distribution::millis(10),
        return_delay: Distribution::millis(10),
        ..Config::default()
    });
    let mut failures = vec![0; clients as usize];
    let mut steps = vec![Step::Read; clients as usize];
    let mut sends: BTreeMap<(u64, u64), u32> = (0..clients).map(|id| ((0, u64::from(id)), id)).collect();
    let (mut now, mut order, mut done, mut writes) = (0, u64::from(clients), 0, 0);
    while done < clients {
        while let Some(entry) = sends.first_entry().filter(|entry| entry.key().0 == now) {
            let id = entry.remove();
            let (attempt, step) = (failures[id as usize] + 1, steps[id as usize]);
            writes += u64::from(step != Step::Read);
            let request = Request { id: RequestId(id), run: None, seed: 1, op: id.into(), attempt, step };
            server.handle(Instant::from_millis(now), Input::Arrive { request, least: 0, details: None });
        }
        match server.poll(Instant::from_millis(now)) {
            Output::Answer(answer) => {
                let index = answer.id.0 as usize;
                let (step, wait) = match (steps[index], answer.verdict) {
                    (Step::Read, ServerDecision::Accepted) => (Step::Write { if_match: answer.version }, 0),
                    (Step::Write { if_match }, ServerDecision::Accepted) => {
                        assert_eq!(answer.version, if_match + 1);
                        done += 1;
                        continue;
                    }
                    (Step::Write { .. }, ServerDecision::Conflict) => {
                        failures[index] += 1;
                        (Step::Read, backoff(failures[index]))
                    }
                    other => panic!("{other:?}"),
                };
                steps[index] = step;
                sends.insert((now + wait, order), answer.id.0);
                order += 1;
            }
            Output::WaitUntil(at) => {
                let at = at.as_nanos() / 1_000_000;
                now = sends.first_key_value().map_or(at, |((due, _), _)| at.min(*due));
            }
            Output::Idle => now = sends.first_key_value().expect("somebody goes on").0.0,
        }
    }
    let counts = server.stats(Instant::from_millis(now), None).counts;
    assert_eq!((counts.received, counts.reads, counts.reads_rejected), (writes, writes, 0));
    assert_eq!((counts.accepted, counts.rejected), (clients.into(), writes - u64::from(clients)));
    (now, writes)
}

#[test]
fn without_backoff_every_round_has_one_winner() {
    for clients in [1, 2, 5, 10, 50, 100] {
        let n = u64::from(clients);
        assert_eq!(contend(clients, |_| 0), (40 * n, n * (n + 1) / 2));
    }
}

#[test]
fn without_jitter_exponential_backoff_changes_the_time_only() {
    for (clients, time) in [(1, 40), (2, 90), (5, 350), (10, 4950), (50, 86_550), (100, 188_550)] {
        let n = u64::from(clients);
        let backoff = |failures: u32| (5 << failures.min(9)).min(2000);
        assert_eq!(contend(clients, backoff), (time, n * (n + 1) / 2));
    }
}

/// Returns the nanoseconds until the answers to a read and to the write that follows it.
fn one_by_one(config: Config) -> [u64; 2] {
    let mut server = Server::new(config);
    let mut sent = Instant::ORIGIN;
    [Step::Read, Step::Write { if_match: 0 }].map(|step| {
        let request = Request { id: RequestId(0), run: None, seed: 1, op: 5, attempt: 1, step };
        server.handle(sent, Input::Arrive { request, least: 0, details: None });
        let Output::Answer(answer) = server.poll(Instant::FAR_FUTURE) else { panic!("no answer") };
        let took = answer.at.since(sent);
        sent = answer.at;
        u64::try_from(took.as_nanos()).expect("a short time")
    })
}

#[test]
fn the_four_hops_are_unrelated_draws() {
    let random: Distribution = "exp(10ms)".parse().expect("a distribution");
    let still = Config {
        network_delay: Distribution::ZERO,
        return_delay: Distribution::ZERO,
        service_time: Distribution::ZERO,
        ..Config::default()
    };
    let [read_out, write_out] = one_by_one(Config { network_delay: random, ..still.clone() });
    let [read_back, write_back] = one_by_one(Config { return_delay: random, ..still.clone() });
    let mut hops = [read_out, write_out, read_back, write_back];
    hops.sort_unstable();
    assert!(hops.windows(2).all(|pair| pair[0] < pair[1]), "{hops:?}");
    let both = one_by_one(Config { network_delay: random, return_delay: random, ..still.clone() });
    assert_eq!(both, [read_out + read_back, write_out + write_back]);
    let [read, write] = one_by_one(Config { service_time: random, ..still });
    assert_eq!(read, write);
}

#[test]
fn rejected_reads_count_apart_and_a_write_takes_a_slot() {
    let config = Config { max_busy: 1, network_delay: Distribution::ZERO, ..Config::default() };
    let mut server = Server::new(config);
    for (id, step) in [Step::Write { if_match: 0 }, Step::Read, Step::Write { if_match: 1 }, Step::Work]
        .into_iter()
        .enumerate()
    {
        let id = u32::try_from(id).expect("few");
        let request = Request { id: RequestId(id), run: None, seed: 1, op: id.into(), attempt: 1, step };
        server.handle(Instant::ORIGIN, Input::Arrive { request, least: 0, details: None });
    }
    let counts = server.stats(Instant::ORIGIN, None).counts;
    assert_eq!((counts.reads, counts.reads_rejected), (1, 1));
    assert_eq!((counts.received, counts.accepted, counts.rejected), (3, 1, 2));
}
