//! Tests of the server with literal inputs and with arbitrary ones.

use std::time::Duration;

use proptest::prelude::*;
use vocabulary::{Distribution, Instant};

use super::*;
use crate::policies::{Admission, Arrived, Stages};
use crate::{ServerDecision, Step};

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn request(id: u32) -> Request {
    Request { id: RequestId(id), run: Some(7), seed: 1, op: u64::from(id), attempt: 1, step: Step::Work }
}

fn arrive(server: &mut Server, at: u64, id: u32) {
    server.handle(ms(at), Input::Arrive { request: request(id), least: 0, details: None });
}

/// Returns all answers until the server waits, as (milliseconds, id, verdict, busy).
fn answers(server: &mut Server, now: u64) -> Vec<(u64, u32, ServerDecision, u32)> {
    let mut seen = Vec::new();
    while let Output::Answer(answer) = server.poll(ms(now)) {
        seen.push((answer.at.as_nanos() / 1_000_000, answer.id.0, answer.verdict, answer.busy));
    }
    seen
}

fn cap(max_busy: u32) -> Server {
    Server::new(Config { max_busy, ..Config::default() })
}

#[test]
fn a_success_takes_600_ms_and_an_error_150() {
    let mut server = cap(1);
    arrive(&mut server, 0, 0);
    arrive(&mut server, 1, 1);
    assert_eq!(server.poll(ms(1)), Output::WaitUntil(ms(100)));
    assert_eq!(
        answers(&mut server, 1000),
        [(151, 1, ServerDecision::Rejected, 2), (600, 0, ServerDecision::Accepted, 1),]
    );
    assert_eq!(server.poll(ms(1000)), Output::Idle);
}

#[test]
fn advertised_limits_are_the_true_ones() {
    let preset = Config::default().with_preset("github:creations=off", Some(0.02)).unwrap();
    let config = Config { network_delay: Distribution::ZERO, ..preset };
    let mut server = Server::new(config.clone());
    let mut told = Vec::new();
    for id in 0..40 {
        arrive(&mut server, u64::from(id) * 300, id);
        while let Output::Answer(answer) = server.poll(ms(u64::from(id) * 300)) {
            told.push((answer.verdict, answer.limits()));
        }
    }
    // The limits are 100 requests per hour, 2 at once, and 18 points per minute, of which a request without details costs 5.
    let accepted: Vec<_> = told.iter().filter(|(verdict, _)| *verdict == ServerDecision::Accepted).collect();
    assert_eq!(accepted.len(), 3);
    for ((_, limits), remaining) in accepted.into_iter().zip([13, 8, 3]) {
        let rate = limits.rate().unwrap();
        assert_eq!((rate.stage, rate.limit, rate.remaining), (2, 18, remaining));
        assert_eq!((rate.window, limits.places().unwrap().cap), (Duration::from_mins(1), 2));
    }
    // A limit that is changed manually or by a schedule takes effect at once.
    let moved = config.with_setting("points.limit=30").unwrap();
    server.handle(ms(12_000), Input::Configure(Box::new(moved)));
    arrive(&mut server, 12_000, 40);
    let Output::Answer(answer) = ({
        server.poll(ms(12_600));
        server.poll(ms(12_600))
    }) else {
        panic!("an answer")
    };
    let rate = answer.limits().rate().unwrap();
    assert_eq!((rate.stage, rate.limit, rate.remaining), (2, 30, 10));
}

#[test]
fn a_rejection_holds_a_slot_only_if_configured() {
    for (rejects_occupy, verdict) in [(true, ServerDecision::Rejected), (false, ServerDecision::Accepted)] {
        let mut server = Server::new(Config { max_busy: 1, rejects_occupy, ..Config::default() });
        arrive(&mut server, 0, 0);
        // Rejected at 590 ms, it holds its slot (or not) until 640 ms, while the first request is done at 600 ms.
        arrive(&mut server, 490, 1);
        arrive(&mut server, 510, 2);
        let last = answers(&mut server, 2000).into_iter().find(|(_, id, ..)| *id == 2);
        assert_eq!(last.map(|(_, _, verdict, _)| verdict), Some(verdict), "{rejects_occupy}");
    }
}

#[test]
fn at_one_instant_slots_free_before_requests_are_admitted() {
    let mut server = cap(1);
    arrive(&mut server, 0, 0);
    arrive(&mut server, 500, 1);
    assert_eq!(
        answers(&mut server, 2000),
        [(600, 0, ServerDecision::Accepted, 1), (1100, 1, ServerDecision::Accepted, 1),]
    );
}

#[test]
fn with_zero_delays_a_rejection_is_answered_at_once() {
    let config = Config {
        max_busy: 1,
        network_delay: Distribution::ZERO,
        reject_time: Distribution::ZERO,
        ..Config::default()
    };
    let mut server = Server::new(config);
    arrive(&mut server, 0, 0);
    arrive(&mut server, 1, 1);
    assert_eq!(answers(&mut server, 1), [(1, 1, ServerDecision::Rejected, 1)]);
    assert_eq!(server.agenda.len(), 1, "the service of the first");
    assert_eq!(server.poll(ms(1)), Output::WaitUntil(ms(500)));
}

#[test]
fn a_client_that_goes_frees_what_it_held() {
    let mut server = cap(1);
    // Cancelled before admission, so it is never received.
    arrive(&mut server, 0, 0);
    server.handle(ms(50), Input::Cancel(RequestId(0)));
    // Cancelled in service: the slot is free for the next request, which has the same id.
    arrive(&mut server, 100, 1);
    server.handle(ms(300), Input::Cancel(RequestId(1)));
    assert_eq!(server.busy(), 0);
    arrive(&mut server, 310, 1);
    assert_eq!(answers(&mut server, 5000), [(910, 1, ServerDecision::Accepted, 1)]);
    let stats = server.stats(ms(5000), Some(7));
    assert_eq!((stats.counts.received, stats.counts.accepted, stats.wasted_ms), (2, 2, 100.0));
}

#[test]
fn a_changed_cap_applies_to_the_next_request() {
    let mut server = cap(1);
    arrive(&mut server, 0, 0);
    arrive(&mut server, 10, 1);
    server.handle(ms(105), Input::Configure(Box::new(Config { max_busy: 2, ..Config::default() })));
    assert_eq!(
        answers(&mut server, 2000),
        [(600, 0, ServerDecision::Accepted, 2), (610, 1, ServerDecision::Accepted, 1),]
    );
}

#[test]
fn a_reset_clears_counts_and_leaves_in_flight_uncounted() {
    let mut server = cap(1);
    arrive(&mut server, 0, 0);
    arrive(&mut server, 10, 1);
    server.handle(ms(120), Input::Reset);
    assert_eq!(answers(&mut server, 2000).len(), 2);
    let stats = server.stats(ms(2000), None);
    assert_eq!((stats.counts.received, stats.wasted_ms), (0, 0.0));
}

#[test]
fn counts_report_the_peaks_and_the_wasted_time() {
    let mut server = cap(1);
    for id in 0..4 {
        arrive(&mut server, u64::from(id), id);
    }
    assert_eq!(answers(&mut server, 2000).len(), 4);
    let stats = server.stats(ms(2000), Some(7));
    assert_eq!((stats.counts.received, stats.counts.accepted, stats.counts.rejected), (4, 1, 3));
    assert_eq!((stats.counts.max_busy_seen, stats.counts.max_accepted_seen), (4, 1));
    assert_eq!((stats.busy, stats.served_ms, stats.wasted_ms), (0, Some(500.0), 150.0));
}

#[test]
fn clients_that_come_and_go_leave_nothing_behind() {
    for network in [0, 3_600_000] {
        let config = Config {
            service_time: Distribution::millis(3_600_000),
            network_delay: Distribution::millis(network),
            ..Config::default()
        };
        let mut server = Server::new(config);
        for at in 0..1000 {
            arrive(&mut server, at, 0);
            server.handle(ms(at), Input::Cancel(RequestId(0)));
        }
        assert!(server.agenda.len() <= 4, "{}", server.agenda.len());
        assert_eq!((server.policy.next(), server.busy()), (Instant::FAR_FUTURE, 0));
    }
}

fn any_duration() -> impl Strategy<Value = Duration> {
    prop_oneof![Just(Duration::ZERO), (0..3000_u64).prop_map(Duration::from_millis), Just(Duration::MAX),]
}

fn any_config() -> impl Strategy<Value = Config> {
    (1..4_u32, any_duration(), any_duration(), any_duration(), any::<bool>()).prop_map(
        |(max_busy, service, reject, network, rejects_occupy)| Config {
            max_busy,
            service_time: Distribution::Constant(service),
            reject_time: Distribution::Constant(reject),
            network_delay: Distribution::Constant(network),
            rejects_occupy,
            ..Config::default()
        },
    )
}

proptest! {
    /// For any inputs in any order: slots are conserved, every request is answered once, and counts add up.
    #[test]
    fn nothing_is_lost_and_nothing_is_answered_twice(
        config in any_config(),
        steps in prop::collection::vec((0..12_u8, 0..8_u32, 0..400_u64, any_config()), 1..80),
    ) {
        let mut server = Server::new(config);
        let mut now = 0;
        let mut open = [false; 8];
        for (kind, id, wait, config) in steps {
            now += wait;
            let index = id as usize;
            match kind {
                0..=6 if !open[index] => {
                    arrive(&mut server, now, id);
                    open[index] = true;
                }
                7..=9 if open[index] => {
                    server.handle(ms(now), Input::Cancel(RequestId(id)));
                    open[index] = false;
                }
                10 => server.handle(ms(now), Input::Configure(Box::new(config))),
                11 => server.handle(ms(now), Input::Reset),
                _ => {}
            }
            for (_, id, ..) in answers(&mut server, now) {
                prop_assert!(open[id as usize], "an answer to nobody");
                open[id as usize] = false;
            }
            let counts = server.stats(ms(now), None).counts;
            prop_assert_eq!(counts.received, counts.accepted + counts.rejected);
            prop_assert!(u64::from(server.busy()) <= open.iter().filter(|open| **open).count() as u64);
        }
        // Requests that are not done before the end of time are answered then.
        while let Output::Answer(answer) = server.poll(Instant::FAR_FUTURE) {
            prop_assert!(open[answer.id.0 as usize]);
            open[answer.id.0 as usize] = false;
        }
        prop_assert_eq!(open, [false; 8]);
        prop_assert_eq!(server.busy(), 0);
        prop_assert_eq!(server.poll(Instant::FAR_FUTURE), Output::Idle);
    }
}

/// Policy that rejects every request at once, with its own advice if it has any.
#[derive(Debug)]
struct Closed {
    advice: Option<Duration>,
}

impl Admission for Closed {
    fn arrive(&mut self, _at: Instant, _request: &Request, _service: &ServiceModel) -> Arrived {
        Arrived::Done { verdict: ServerDecision::Rejected, advice: self.advice }
    }
}

#[test]
fn a_policy_s_own_advice_goes_before_the_servers() {
    let second = Some(Duration::from_secs(1));
    let minute = Some(Duration::from_mins(1));
    for (own, of_server, advice) in
        [(None, None, None), (None, minute, minute), (second, None, second), (second, minute, second)]
    {
        let mut server = Server::new(Config {
            retry_after: of_server,
            network_delay: Distribution::ZERO,
            ..Config::default()
        });
        server.policy = Stages::new(Vec::new(), Some(Box::new(Closed { advice: own })), false);
        arrive(&mut server, 0, 0);
        let Output::Answer(answer) = server.poll(ms(0)) else { panic!("an answer") };
        assert_eq!((answer.verdict, answer.advice), (ServerDecision::Rejected, advice));
    }
}

#[test]
fn only_rejections_advise() {
    let retry_after = Some(Duration::from_secs(1));
    let mut server = Server::new(Config { retry_after, max_busy: 1, ..Config::default() });
    arrive(&mut server, 0, 0);
    arrive(&mut server, 1, 1);
    server.handle(ms(2), Input::Arrive { request: request(2), least: 50, details: None });
    let mut advised = Vec::new();
    while let Output::Answer(answer) = server.poll(ms(1000)) {
        advised.push((answer.verdict, answer.advice));
    }
    assert_eq!(
        advised,
        [
            (ServerDecision::Deferred, None),
            (ServerDecision::Rejected, retry_after),
            (ServerDecision::Accepted, None)
        ]
    );
}

mod run_clock {
    use crate::server::*;

    /// The clock is not restarted by a run that was observed before, by a run that arrives while the server is busy, or by a request of no
    /// run.
    #[test]
    fn the_clock_starts_with_a_new_run_on_an_idle_server() {
        let mut clock = RunClock::default();
        let mut come = |at: u64, run, is_idle| {
            let begins = clock.on_arrival(Instant::from_nanos(at), run, || is_idle);
            (begins, clock.began.map(Instant::as_nanos))
        };
        assert_eq!(come(5, None, true), (true, Some(5)), "a request of no run");
        assert_eq!(come(6, None, true), (false, Some(5)));
        assert_eq!(come(7, Some(1), false), (false, Some(5)), "while a request of no run is in progress");
        assert_eq!(come(8, Some(2), true), (true, Some(8)));
        assert_eq!(come(9, Some(1), true), (false, Some(8)), "observed before");
        assert_eq!(come(10, Some(2), true), (false, Some(8)));
        assert_eq!(come(11, Some(3), false), (false, Some(8)));
        assert_eq!(come(12, Some(3), true), (false, Some(8)));
        assert_eq!(come(13, Some(4), true), (true, Some(13)));
    }

    #[test]
    fn it_begins_with_a_new_run_however_many_there_were() {
        let mut clock = RunClock::default();
        for run in 0..=2 * MAX_MET as u64 {
            assert!(clock.on_arrival(Instant::from_nanos(run), Some(run), || true), "{run}");
            assert!(clock.met.len() <= MAX_MET);
        }
    }
}

#[test]
fn a_deferred_request_is_answered_as_itself() {
    let mut server = Server::new(Config { max_busy: 1, ..Config::default() });
    for request in [request(0), Request { op: 7, ..request(0) }, request(5)] {
        server.receive(ms(0), &request, 50, None);
        let (of, answer) = server.next_answer(ms(0)).map(|id| server.answered(id)).unwrap();
        assert_eq!((*of, answer.id, answer.verdict), (request, request.id, ServerDecision::Deferred));
    }
}
