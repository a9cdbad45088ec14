//! Tests of the tick model of seed 002 against vectors on which two other programs and a calculation by hand agree, to the tick.

use std::collections::BTreeMap;

use mockserver_core::{Config, Input, Output, Request, RequestId, Server, ServerDecision, Step};
use vocabulary::{Distribution, Instant};

/// Results of all clients; times in ticks of a millisecond.
#[derive(Debug, PartialEq)]
struct Outcome {
    /// Time from the first request to the success, by client.
    latencies: Vec<u64>,
    /// By client.
    failures: Vec<u32>,
    requests: u64,
    /// The tick after the last.
    end: u64,
}

/// Simulates clients that arrive at these ticks and retry after `delay(failures)` ticks.
fn run(policy: &str, seed: u64, firsts: &[u64], delay: impl Fn(u32) -> u64) -> Outcome {
    let policy = policy.parse().expect("a policy");
    let mut server =
        Server::new(Config { policy, seed, network_delay: Distribution::ZERO, ..Config::default() });
    let mut outcome =
        Outcome { latencies: vec![0; firsts.len()], failures: vec![0; firsts.len()], requests: 0, end: 0 };
    // Within a tick, first requests come before retries, otherwise in the order of scheduling.
    let mut sends: BTreeMap<(u64, bool, usize), usize> =
        firsts.iter().enumerate().map(|(client, first)| ((*first, false, client), client)).collect();
    let (mut scheduled, mut unfinished, mut tick) = (0, firsts.len(), 0);
    while unfinished > 0 {
        let now = Instant::from_millis(tick);
        while let Output::Answer(answer) = server.poll(now) {
            assert_eq!(answer.at, now);
            let client = answer.id.0 as usize;
            if answer.verdict == ServerDecision::Accepted {
                outcome.latencies[client] = tick - firsts[client];
                unfinished -= 1;
            } else {
                outcome.failures[client] += 1;
                sends.insert((tick + delay(outcome.failures[client]), true, scheduled), client);
                scheduled += 1;
            }
        }
        while let Some(entry) = sends.first_entry().filter(|entry| entry.key().0 == tick) {
            let client = entry.remove();
            outcome.requests += 1;
            let request = Request {
                id: RequestId(u32::try_from(client).expect("few clients")),
                run: None,
                seed: 1,
                op: client as u64,
                attempt: outcome.failures[client] + 1,
                step: Step::Work,
            };
            server.handle(now, Input::Arrive { request, least: 0, details: None });
        }
        tick += 1;
    }
    outcome.end = tick;
    let counts = server.stats(Instant::from_millis(tick), None).counts;
    assert_eq!(counts.received, outcome.requests);
    assert_eq!(counts.accepted, firsts.len() as u64);
    assert_eq!(server.poll(Instant::from_millis(tick)), Output::Idle);
    outcome
}

fn no_backoff(_: u32) -> u64 {
    0
}

fn one_tick(_: u32) -> u64 {
    1
}

fn constant(_: u32) -> u64 {
    5
}

fn exponential(failures: u32) -> u64 {
    (1 << failures.min(5)).min(30)
}

type Delay = fn(u32) -> u64;

/// Returns the arrivals of 800 clients: 160 within 28 ticks, the rest evenly over 1000.
fn spike() -> Vec<u64> {
    (0..800).map(|i| if i < 160 { 10 + 11 * i % 28 } else { 389 * (i - 160) % 1000 }).collect()
}

/// Interpolates linearly between the two nearest ranks.
fn percentile(sorted: &[u64], share: f64) -> f64 {
    let rank = share * (sorted.len() - 1) as f64;
    let below = sorted.iter().zip(0..).filter(|(_, index)| f64::from(*index) <= rank).count() - 1;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] as f64 + (rank - below as f64) * (sorted[above] - sorted[below]) as f64
}

#[test]
fn three_clients_and_one_place() {
    for (delay, latencies, requests, failures) in [
        (no_backoff as Delay, [2, 4, 6], 9, [0, 2, 4]),
        (constant, [2, 8, 14], 6, [0, 1, 2]),
        (exponential, [2, 5, 10], 6, [0, 1, 2]),
    ] {
        let outcome = run("overwhelmed-queue:tick=1ms,capacity=1,service=2", 1, &[0; 3], delay);
        assert_eq!(outcome.latencies, latencies);
        assert_eq!((outcome.requests, &outcome.failures[..]), (requests, &failures[..]));
    }
}

#[test]
fn ten_clients_overwhelm_two_places() {
    for (delay, latencies, requests, failures) in [
        (no_backoff as Delay, [3, 6, 12, 21, 24, 15, 24, 18, 9, 21], 61, [0, 0, 3, 7, 12, 4, 11, 5, 1, 8]),
        (constant, [3, 6, 9, 9, 15, 16, 22, 23, 29, 12], 27, [0, 0, 1, 1, 2, 2, 3, 3, 4, 1]),
        (exponential, [3, 6, 9, 20, 12, 12, 22, 39, 23, 9], 29, [0, 0, 1, 3, 2, 2, 3, 4, 3, 1]),
    ] {
        let outcome = run("overwhelmed-queue:tick=1ms,capacity=2,service=3,limit=4", 1, &[0; 10], delay);
        assert_eq!(outcome.latencies, latencies);
        assert_eq!((outcome.requests, &outcome.failures[..]), (requests, &failures[..]));
    }
}

#[test]
fn a_request_alone_takes_five_ticks() {
    let outcome = run("overwhelmed-queue:tick=1ms", 1, &[3], no_backoff);
    assert_eq!(outcome, Outcome { latencies: vec![5], failures: vec![0], requests: 1, end: 9 });
}

/// Percentiles 50, 75, 95 and 99; longest latency, sum of latencies, requests, end, most failures of a client.
type Row = ([f64; 4], u64, u64, u64, u64, u32);

#[test]
fn the_spike_of_seed_002_comes_out_to_the_tick() {
    let text = "overwhelmed-queue:tick=1ms";
    let figures = "overwhelmed-queue:tick=1ms,capacity=6";
    let rows: [(&str, Delay, Row); 6] = [
        (text, no_backoff, ([1518.0, 2522.75, 3389.15, 3682.01], 3730, 1_233_765, 89_407, 3743, 418)),
        (text, constant, ([1373.5, 2284.5, 2949.55, 3089.06], 3125, 1_072_331, 73_172, 3152, 252)),
        (text, exponential, ([5.0, 22.0, 287.0, 411.0], 535, 39_672, 2583, 1005, 20)),
        (figures, one_tick, ([1537.5, 2459.75, 3295.3, 3508.0], 3545, 1_202_275, 84_942, 3576, 339)),
        (figures, constant, ([958.0, 1793.5, 2534.3, 2670.06], 2700, 813_514, 62_513, 2728, 241)),
        (figures, exponential, ([5.0, 5.0, 195.0, 287.0], 318, 26_568, 2016, 1005, 13)),
    ];
    let firsts = spike();
    assert_eq!(firsts.iter().sum::<u64>(), 320_480);
    for (policy, delay, (percentiles, longest, sum, requests, end, failures)) in rows {
        let outcome = run(policy, 1, &firsts, delay);
        let mut sorted = outcome.latencies.clone();
        sorted.sort_unstable();
        for (share, expected) in [0.5, 0.75, 0.95, 0.99].into_iter().zip(percentiles) {
            assert!((percentile(&sorted, share) - expected).abs() < 0.006, "{policy}: {share} {expected}");
        }
        assert_eq!(sorted.last(), Some(&longest));
        assert_eq!((sorted.iter().sum::<u64>(), outcome.requests, outcome.end), (sum, requests, end));
        assert_eq!(outcome.failures.iter().max(), Some(&failures));
    }
}

#[test]
fn a_random_subset_starves_the_queue_and_depends_on_the_seed() {
    let policy = "overwhelmed-queue:tick=1ms,subset=random";
    let outcome = run(policy, 1, &spike(), no_backoff);
    // Reference, mean and deviation over seeds: 11 427 ± 231 ticks, 281 885 ± 5782 requests; 151 ± 6 clients are served by tick 3000.
    assert!((10_500..12_400).contains(&outcome.end), "{}", outcome.end);
    assert!((258_000..306_000).contains(&outcome.requests), "{}", outcome.requests);
    let ends = spike().into_iter().zip(&outcome.latencies).map(|(first, latency)| first + latency);
    let early = ends.filter(|end| *end < 3000).count();
    assert!((120..182).contains(&early), "{early}");
    assert_eq!(run(policy, 7, &spike(), exponential), run(policy, 7, &spike(), exponential));
    assert_ne!(run(policy, 7, &spike(), exponential), run(policy, 8, &spike(), exponential));
}
