//! Tests of the descriptor pool of seed 003 against computed values, and against a reference program for the same model.

use mockserver_core::{Config, Input, Output, Request, RequestId, Server, ServerDecision, Step};
use vocabulary::{Distribution, Instant};

/// Returns the jobs done and the crashes within 300 s, for this many clients that retry at once and forever.
fn closed_loop(clients: u32, seed: u64) -> (u64, u64) {
    let policy = "descriptor-pool".parse().expect("a policy");
    let mut server = Server::new(Config { policy, network_delay: Distribution::ZERO, ..Config::default() });
    let mut sent = vec![0; clients as usize];
    let mut submit = |server: &mut Server, now, id: RequestId| {
        sent[id.0 as usize] += 1;
        let attempt = sent[id.0 as usize];
        let request = Request { id, run: None, seed, op: u64::from(id.0), attempt, step: Step::Work };
        server.handle(now, Input::Arrive { request, least: 0, details: None });
    };
    let (mut now, mut jobs) = (Instant::ORIGIN, 0);
    for id in 0..clients {
        submit(&mut server, now, RequestId(id));
    }
    loop {
        match server.poll(now) {
            Output::Answer(answer) => {
                jobs += u64::from(answer.verdict == ServerDecision::Accepted);
                submit(&mut server, now, answer.id);
            }
            Output::WaitUntil(at) if at <= Instant::from_millis(300_000) => now = at,
            Output::WaitUntil(_) => break,
            Output::Idle => panic!("clients without an answer"),
        }
    }
    let counts = server.stats(now, None).counts;
    assert_eq!(counts.accepted, jobs);
    assert_eq!(counts.received, counts.accepted + counts.rejected + u64::from(clients));
    assert!(counts.max_busy_seen <= 7600, "{}", counts.max_busy_seen);
    (jobs, counts.crashes)
}

#[test]
fn the_service_never_crashes_while_everybody_fits() {
    // 253 · (19 + 11) ≤ 7600. A few more clients fit, because some are always starting and hold no connection.
    assert_eq!(closed_loop(253, 1).1, 0);
    assert!(closed_loop(280, 1).1 > 0);
}

#[test]
fn nothing_is_served_if_starting_clients_use_all_descriptors() {
    // 400 · 19 = 7600. With 398 clients there are just enough descriptors for one connection after another.
    assert_eq!((closed_loop(400, 1).0, closed_loop(500, 1).0), (0, 0));
    assert!(closed_loop(398, 1).0 > 0);
}

#[test]
fn without_crashes_the_rate_of_service_is_the_limit() {
    for (clients, expected) in [(25, 799.8), (100, 737.0), (200, 667.4), (250, 637.0)] {
        let (jobs, crashes) = closed_loop(clients, 1);
        assert!((jobs as f64 - expected).abs() <= 2.5, "{clients}: {jobs}");
        assert_eq!(crashes, 0);
    }
}

#[test]
fn with_crashes_jobs_are_those_of_the_reference() {
    // Means and standard deviations of the reference over 20 seeds. Ours are over 10.
    for (clients, expected, deviation, crashes) in
        [(300, 358.0, 1.0, 8.0), (350, 245.0, 7.0, 11.8), (375, 152.0, 7.0, 14.9)]
    {
        let runs: Vec<_> = (1..=10).map(|seed| closed_loop(clients, seed)).collect();
        let mean = runs.iter().map(|(jobs, _)| *jobs as f64).sum::<f64>() / 10.0;
        let error = deviation * f64::sqrt(1.0 / 10.0 + 1.0 / 20.0);
        assert!((mean - expected).abs() < 4.0 * error + 0.5, "{clients}: {mean} instead of {expected}");
        let mean = runs.iter().map(|(_, crashes)| *crashes as f64).sum::<f64>() / 10.0;
        assert!((mean - crashes).abs() < 0.5, "{clients}: {mean} crashes");
    }
}

#[test]
fn a_request_rejected_before_the_pool_counts_once() {
    let policy = "descriptor-pool".parse().expect("a policy");
    let mut server = Server::new(Config { policy, reject_first: 1, ..Config::default() });
    let request = Request { id: RequestId(0), run: None, seed: 1, op: 0, attempt: 1, step: Step::Work };
    server.handle(Instant::ORIGIN, Input::Arrive { request, least: 0, details: None });
    let Output::Answer(answer) = server.poll(Instant::from_millis(100)) else { panic!("no answer") };
    assert_eq!(answer.verdict, ServerDecision::Rejected);
    let counts = server.stats(Instant::from_millis(100), None).counts;
    assert_eq!((counts.received, counts.rejected), (1, 1));
}

#[test]
fn of_two_writes_of_one_version_the_pool_serves_one() {
    let policy = "descriptor-pool".parse().expect("a policy");
    let mut server = Server::new(Config { policy, ..Config::default() });
    for id in 0..2 {
        let step = Step::Write { if_match: 0 };
        let request = Request { id: RequestId(id), run: None, seed: 1, op: id.into(), attempt: 1, step };
        server.handle(Instant::ORIGIN, Input::Arrive { request, least: 0, details: None });
    }
    let verdicts = [(); 2].map(|()| match server.poll(Instant::from_millis(60_000)) {
        Output::Answer(answer) => (answer.verdict, answer.version),
        other => panic!("{other:?}"),
    });
    assert_eq!(verdicts, [(ServerDecision::Accepted, 1), (ServerDecision::Conflict, 1)]);
}
