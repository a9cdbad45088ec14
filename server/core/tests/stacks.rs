//! Tests of stacks of policies, through the whole server: the policy that answers, refunds, and the release of places.

#[path = "support/config.rs"]
mod config;
#[path = "support/drain.rs"]
mod drain;

use std::sync::Arc;
use std::time::Duration;

use mockserver_core::{
    Answer, Config, Input, Request, RequestFields, RequestId, Server, ServerDecision, Step,
};
use vocabulary::{Distribution, Instant};

use config::config;
use drain::drain;

fn details(method: &str, who: &str) -> Arc<RequestFields> {
    let headers = vec![("authorization".into(), who.into())];
    Arc::new(RequestFields { method: method.into(), path: "/".into(), headers, ..RequestFields::default() })
}

/// Sends requests at their milliseconds. Returns every answer with its op, in order.
fn answers(config: Config, arrivals: &[(u64, Arc<RequestFields>)]) -> Vec<(u32, Answer)> {
    let mut server = Server::new(config);
    let mut answers = Vec::new();
    let mut note = |answer: Answer| answers.push((answer.id.0, answer));
    for (op, (at_ms, details)) in arrivals.iter().enumerate() {
        let at = Instant::from_millis(*at_ms);
        drain(&mut server, at, &mut note);
        let id = RequestId(u32::try_from(op).expect("few"));
        let request = Request { id, run: Some(1), seed: 1, op: op as u64, attempt: 1, step: Step::Work };
        server.handle(at, Input::Arrive { request, least: 0, details: Some(details.clone()) });
    }
    drain(&mut server, Instant::FAR_FUTURE, note);
    let counts = server.stats(Instant::FAR_FUTURE, None).counts;
    assert_eq!(counts.received, counts.accepted + counts.rejected, "nothing is lost");
    assert_eq!((counts.received, server.busy()), (arrivals.len() as u64, 0));
    answers.sort_by_key(|(op, _)| *op);
    answers
}

/// Returns by request: milliseconds of the answer, and whether it was accepted. A rejection has its advice in milliseconds.
fn told(policy: &str, at_ms: &[u64]) -> Vec<(u64, Result<(), Option<u64>>)> {
    chosen_by(config(policy), &at_ms.iter().map(|at| (*at, details("GET", "one"))).collect::<Vec<_>>())
}

fn chosen_by(config: Config, arrivals: &[(u64, Arc<RequestFields>)]) -> Vec<(u64, Result<(), Option<u64>>)> {
    let millis = |time: Duration| u64::try_from(time.as_millis()).expect("short");
    let told = answers(config, arrivals).into_iter().map(|(_, answer)| {
        let verdict = match answer.verdict {
            ServerDecision::Accepted => Ok(()),
            _ => Err(answer.advice.map(millis)),
        };
        (millis(answer.at.since_origin()), verdict)
    });
    told.collect()
}

#[test]
fn the_first_that_rejects_speaks() {
    let windows = "fixed-window:limit=3,window=1s then fixed-window:limit=2,window=500ms";
    let expected = [(100, Ok(())), (100, Ok(())), (0, Err(Some(500))), (600, Ok(())), (500, Err(Some(500)))];
    assert_eq!(told(windows, &[0, 0, 0, 500, 500]), expected);
}

#[test]
fn what_a_later_policy_rejects_comes_back_or_stays_charged() {
    let told = |later: &str| {
        told(
            &format!("fixed-window:limit=3,window=1s,later={later} then concurrency:cap=1"),
            &[0, 0, 0, 200, 400],
        )
    };
    let ok = Ok(());
    assert_eq!(told("back"), [(100, ok), (0, Err(None)), (0, Err(None)), (300, ok), (500, ok)]);
    assert_eq!(
        told("keep"),
        [(100, ok), (0, Err(None)), (0, Err(None)), (200, Err(Some(800))), (400, Err(Some(600)))]
    );
}

#[test]
fn own_rejections_of_a_policy_count_if_configured() {
    let told =
        |own: &str| told(&format!("sliding-log:limit=1,window=100ms,own={own}"), &[0, 60, 120, 180, 290]);
    let ok = Ok(());
    assert_eq!(told("no"), [(100, ok), (60, Err(Some(40))), (220, ok), (180, Err(Some(40))), (390, ok)]);
    let pushed = [(100, ok), (60, Err(Some(100))), (120, Err(Some(100))), (180, Err(Some(100))), (390, ok)];
    assert_eq!(told("yes"), pushed, "who comes again and again is never let in");
}

#[test]
fn with_charged_answer_others_pass_until_the_answer() {
    let told = told("fixed-window:limit=1,window=1s,charged=answer", &[0, 50, 99, 100, 150]);
    let verdicts: Vec<bool> = told.iter().map(|(_, verdict)| verdict.is_ok()).collect();
    assert_eq!(verdicts, [true, true, true, false, false]);
}

#[test]
fn the_unused_part_of_a_cost_is_refunded_with_the_answer() {
    let policy = "token-bucket:rate=1/h,burst=10,cost=10,refund=30%";
    // Seven of the ten tokens are refunded, which is not enough for another ten.
    assert_eq!(told(policy, &[0, 50, 100]).iter().filter(|(_, verdict)| verdict.is_ok()).count(), 1);
    let of_seven = "token-bucket:rate=1/h,burst=10,cost=GET 10|7,refund=30%";
    let arrivals = [(0, details("GET", "a")), (50, details("POST", "a")), (100, details("POST", "a"))];
    let told: Vec<bool> =
        chosen_by(config(of_seven), &arrivals).iter().map(|(_, verdict)| verdict.is_ok()).collect();
    assert_eq!(told, [true, false, true]);
}

#[test]
fn keys_are_counted_apart_and_the_oldest_are_forgotten() {
    let arrivals: Vec<_> = ["a", "b", "a", "c", "b", "a"].map(|who| (0, details("GET", who))).to_vec();
    let told = |policy: &str| -> Vec<bool> {
        chosen_by(config(policy), &arrivals).iter().map(|(_, verdict)| verdict.is_ok()).collect()
    };
    let window = "fixed-window:limit=1,window=1s,key=header:authorization";
    assert_eq!(told(window), [true, true, false, true, false, false]);
    // With room for two keys, `c` evicts `b`, which in turn evicts `a` when it returns.
    assert_eq!(told(&format!("{window},keys=2")), [true, true, false, true, true, true]);
}

#[test]
fn requests_without_the_key_pass_a_policy_with_missing_unlimited() {
    let none =
        || Arc::new(RequestFields { method: "GET".into(), path: "/".into(), ..RequestFields::default() });
    let arrivals: Vec<_> =
        [none(), details("GET", ""), details("GET", "a"), none(), details("GET", "a"), details("GET", "")]
            .map(|details| (0, details))
            .to_vec();
    for policy in [
        "fixed-window:limit=1,window=1s",
        "token-bucket:rate=1/s,burst=1,charged=answer,own=yes",
        "token-bucket:rate=1/s,burst=1,refund=0",
        "concurrency:cap=1",
        "growing-concurrency:start=1,by=1,most=1",
    ] {
        let policy = format!("{policy},key=header:authorization,missing=unlimited");
        let answers = answers(config(&policy), &arrivals);
        let accepted = |op: usize| answers[op].1.verdict == ServerDecision::Accepted;
        let limit = |op: usize| answers[op].1.facts().expect("stages").limit_statuses[0].is_some();
        for exempt in [0, 1, 3, 5] {
            assert!(accepted(exempt) && !limit(exempt), "{policy}: {exempt}");
        }
        assert!(accepted(2) && limit(2), "{policy}");
        // With `charged=answer`, the second request of the client arrives before the first one is charged.
        assert_eq!(accepted(4), policy.contains("charged=answer"), "{policy}");
    }
    // A penalty does not lock them either.
    let policy =
        "penalty:lock=1h,key=header:authorization,missing=unlimited then fixed-window:limit=1,window=10ms";
    let arrivals = [
        (0, none()),
        (0, none()),
        (20, none()),
        (40, details("GET", "a")),
        (41, details("GET", "a")),
        (60, details("GET", "a")),
    ];
    let accepted: Vec<bool> =
        chosen_by(config(policy), &arrivals).iter().map(|(_, verdict)| verdict.is_ok()).collect();
    assert_eq!(accepted, [true, false, true, true, false, false]);
}

#[test]
fn a_queue_s_place_is_given_on_and_its_timeout_rejects() {
    let policy = "concurrency:cap=1,queue=2,queue-timeout=150ms";
    let ok = Ok(());
    assert_eq!(told(policy, &[0, 10, 20, 30]), [(100, ok), (200, ok), (170, Err(None)), (30, Err(None))]);
    let after = format!("{policy} then fixed-window:limit=1,window=1s");
    let expected = [(100, ok), (100, Err(Some(900))), (100, Err(Some(900))), (30, Err(None))];
    assert_eq!(told(&after, &[0, 10, 20, 30]), expected, "a rejection further on gives the place on at once");
}

#[test]
fn a_rejection_holds_its_slot_only_if_rejects_occupy() {
    let policy = "concurrency:cap=1 then fixed-window:limit=1,window=125ms";
    for (rejects_occupy, third) in [(true, false), (false, true)] {
        let config = Config { reject_time: Distribution::millis(50), rejects_occupy, ..config(policy) };
        let arrivals = [0, 101, 130].map(|at| (at, details("GET", "a")));
        let told: Vec<bool> =
            chosen_by(config, &arrivals).iter().map(|(_, verdict)| verdict.is_ok()).collect();
        assert_eq!(told, [true, false, third], "{rejects_occupy}");
    }
}

#[test]
fn places_grow_while_requests_are_rejected() {
    let policy = "growing-concurrency:start=1,by=2,most=4,every=150ms,idle=500ms";
    let (ok, no) = (Ok(()), Err(None));
    // Every service takes 100 ms. The step that begins at 10 ms yields three places at 160 ms. The one that begins at 170 ms yields a
    // fourth at 320 ms.
    let at_ms = [0, 10, 20, 110, 165, 166, 167, 170, 330, 331, 332, 333, 334];
    let passes = [true, false, false, true, true, true, false, false, true, true, true, true, false];
    let told = told(policy, &at_ms);
    let expected =
        at_ms.iter().zip(passes).map(|(at, passes)| if passes { (at + 100, ok) } else { (*at, no) });
    assert_eq!(told, expected.collect::<Vec<_>>());
    // After half a second without requests, the initial state is restored.
    let again = [0, 10, 200, 200, 200, 800, 800].map(|at| (at, details("GET", "a")));
    let told: Vec<bool> =
        chosen_by(config(policy), &again).iter().map(|(_, verdict)| verdict.is_ok()).collect();
    assert_eq!(told, [true, false, true, true, true, true, false]);
}

#[test]
fn policies_may_precede_a_scripted_server() {
    let policy = "fixed-window:limit=2,window=10s then script:steps=503|200";
    let answers = answers(config(policy), &[0, 1, 2].map(|at| (at, details("GET", "a"))));
    let scripted: Vec<bool> = answers.iter().map(|(_, answer)| answer.reply.is_some()).collect();
    // The script rejects every op's first attempt, and the charge on the window is refunded.
    assert_eq!(scripted, [true, true, true]);
    let kept = "fixed-window:limit=2,window=10s,later=keep then script:steps=503|200";
    let answers = self::answers(config(kept), &[0, 1, 2].map(|at| (at, details("GET", "a"))));
    assert_eq!(answers.iter().filter(|(_, answer)| answer.reply.is_some()).count(), 2);
}

/// Sends requests of these costs at their milliseconds, to a cap of 10 with a queue timeout of two seconds.
fn weighed(order: &str, requests: &[(u64, &str)]) -> Vec<(u64, Result<(), Option<u64>>)> {
    let policy = format!("concurrency:cap=10,queue=10,queue-timeout=2s,order={order},cost=header:x-cost");
    let config = Config { service_time: Distribution::millis(10_000), ..config(&policy) };
    let arrivals: Vec<_> = requests
        .iter()
        .map(|(at, cost)| {
            let headers = vec![("x-cost".into(), (*cost).into())];
            (*at, Arc::new(RequestFields { headers, ..RequestFields::default() }))
        })
        .collect();
    chosen_by(config, &arrivals)
}

#[test]
fn a_large_request_that_times_out_makes_room_for_a_small_one() {
    let expected = [(10_000, Ok(())), (2000, Err(None)), (12_000, Ok(()))];
    assert_eq!(weighed("fifo", &[(0, "6"), (0, "6"), (100, "1")]), expected);
}

#[test]
fn in_lifo_order_a_fitting_newcomer_starts_at_once() {
    let expected = [(10_000, Ok(())), (2000, Err(None)), (10_100, Ok(()))];
    assert_eq!(weighed("lifo", &[(0, "6"), (0, "6"), (100, "1")]), expected);
}

#[test]
fn queued_requests_start_when_the_cap_rises() {
    for (max_busy, caps, schedule) in [(2, "1s=7", ""), (7, "0s=2,1s=7", ""), (2, "", "1s max-busy=7")] {
        let config = Config {
            service_time: Distribution::millis(5000),
            max_busy,
            caps: caps.parse().expect("caps"),
            schedule: schedule.parse().expect("a schedule"),
            ..config("concurrency:queue=10,queue-timeout=60s")
        };
        let told = chosen_by(config, &vec![(0, details("GET", "one")); 7]);
        let [first, later] = [(5000, Ok(())), (6000, Ok(()))];
        assert_eq!(told, [first, first, later, later, later, later, later], "{caps}{schedule}");
    }
}

#[test]
fn with_later_keep_rejections_are_charged_at_the_answer() {
    let told = |later: &str| {
        let policy =
            format!("fixed-window:limit=2,window=1s,charged=answer,later={later} then concurrency:cap=1");
        told(&policy, &[0, 0, 0, 200, 400])
    };
    let [at_once, later] = [(0, Err(None)), (300, Ok(()))];
    assert_eq!(told("back"), [(100, Ok(())), at_once, at_once, later, (400, Err(Some(600)))]);
    // Two requests have been counted before the first is answered.
    assert_eq!(told("keep"), [(100, Ok(())), at_once, at_once, (200, Err(Some(800))), (400, Err(Some(600)))]);
}

#[test]
fn a_rejection_before_any_policy_causes_no_lockout() {
    for reject_time in [Distribution::ZERO, Distribution::millis(1)] {
        let mut server = Server::new(Config {
            reject_first: 1,
            reject_time,
            ..config("penalty:lock=60s then token-bucket:rate=1000/s,burst=1000")
        });
        let mut verdicts = Vec::new();
        for attempt in 1..=2 {
            let at = Instant::from_millis(10 * u64::from(attempt));
            let request =
                Request { id: RequestId(0), run: Some(1), seed: 1, op: 0, attempt, step: Step::Work };
            server.handle(at, Input::Arrive { request, least: 0, details: None });
            drain(&mut server, at + Duration::from_millis(200), |answer| verdicts.push(answer.verdict));
        }
        assert_eq!(verdicts, [ServerDecision::Rejected, ServerDecision::Accepted], "{reject_time}");
    }
}

#[test]
fn details_of_a_request_in_flight_reach_the_new_policy() {
    let before = config("token-bucket:rate=1/s,burst=100,cost=header:x-cost");
    let other = config("gcra:rate=1/s,burst=10,cost=header:x-cost");
    let network_delay = Distribution::millis(50);
    let mut server = Server::new(Config { network_delay, ..before });
    let headers = vec![("x-cost".into(), "11".into())];
    let details = Arc::new(RequestFields { headers, ..RequestFields::default() });
    let request = Request { id: RequestId(0), run: Some(1), seed: 1, op: 0, attempt: 1, step: Step::Work };
    server.handle(Instant::ORIGIN, Input::Arrive { request, least: 0, details: Some(details) });
    server.handle(Instant::from_millis(10), Input::Configure(Config { network_delay, ..other }.into()));
    let mut verdicts = Vec::new();
    drain(&mut server, Instant::FAR_FUTURE, |answer| verdicts.push(answer.verdict));
    // The next request with this id has no details, so it costs 1.
    server.handle(Instant::from_millis(500), Input::Arrive { request, least: 0, details: None });
    drain(&mut server, Instant::FAR_FUTURE, |answer| verdicts.push(answer.verdict));
    assert_eq!(verdicts, [ServerDecision::Rejected, ServerDecision::Accepted]);
}
