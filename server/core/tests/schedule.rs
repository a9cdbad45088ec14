//! Tests of changes during a run, through the whole server: expected timelines of caps, buckets, queues and outages, and the clock they
//! follow.

#[path = "support/config.rs"]
mod config;
#[path = "support/drain.rs"]
mod drain;

use std::time::Duration;

use mockserver_core::{Config, Input, Request, RequestId, Server, ServerDecision, Step};
use vocabulary::{Distribution, Instant};
use wire::RunId;

use drain::drain;

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn config(policy: &str, schedule: &str) -> Config {
    let config = Config { schedule: schedule.parse().expect("a schedule"), ..config::config(policy) };
    config.validate().expect("it fits");
    config
}

fn request(op: u64, run: Option<RunId>) -> Request {
    let id = RequestId(u32::try_from(op).expect("few"));
    Request { id, run, seed: 1, op, attempt: 1, step: Step::Work }
}

/// Sends requests of one run at these milliseconds. Returns instant, verdict and advice by request.
fn told(config: Config, at_ms: &[u64]) -> Vec<(u64, ServerDecision, Option<Duration>)> {
    let mut server = Server::new(config);
    let mut answers = Vec::new();
    for (op, at) in (0..).zip(at_ms) {
        drain(&mut server, ms(*at), |answer| answers.push(answer));
        server.handle(ms(*at), Input::Arrive { request: request(op, Some(1)), least: 0, details: None });
    }
    drain(&mut server, Instant::FAR_FUTURE, |answer| answers.push(answer));
    let counts = server.stats(Instant::FAR_FUTURE, Some(1)).counts;
    assert_eq!(
        (counts.received, counts.accepted + counts.rejected),
        (at_ms.len() as u64, at_ms.len() as u64)
    );
    assert_eq!(server.busy(), 0);
    answers.sort_by_key(|answer| answer.id.0);
    answers
        .into_iter()
        .map(|answer| (answer.at.as_nanos() / 1_000_000, answer.verdict, answer.advice))
        .collect()
}

/// Returns the decision by request: accepted, or rejected with this advice in milliseconds (rounded up).
fn decided(config: Config, at_ms: &[u64]) -> Vec<Result<(), Option<u64>>> {
    let wait = |wait: Duration| u64::try_from(wait.as_nanos().div_ceil(1_000_000)).expect("short");
    let told = told(config, at_ms).into_iter();
    told.map(
        |(_, verdict, advice)| {
            if verdict == ServerDecision::Accepted { Ok(()) } else { Err(advice.map(wait)) }
        },
    )
    .collect()
}

const A: Result<(), Option<u64>> = Ok(());
const NEVER: Result<(), Option<u64>> = Err(None);

fn r(wait_ms: u64) -> Result<(), Option<u64>> {
    Err(Some(wait_ms))
}

#[test]
fn a_cap_that_falls_lets_what_is_in_service_end() {
    let config = config("concurrency-cap", "0s max-busy=3; 50ms max-busy=1; 200ms max-busy=2");
    // Three requests are in service until 100 ms. Until then one more is too many, and a second one until 200 ms.
    let at = [0, 0, 0, 0, 60, 99, 100, 100, 200, 200, 200];
    assert_eq!(decided(config, &at), [A, A, A, NEVER, NEVER, NEVER, A, NEVER, A, A, NEVER]);
}

#[test]
fn a_cap_goes_up_in_steps() {
    let config = config("concurrency-cap", "0s..10s max-busy=1..11");
    let mut server = Server::new(config);
    server.handle(ms(5000), Input::Arrive { request: request(0, None), least: 0, details: None });
    let caps = [0, 499, 500, 1499, 1500, 9500, 10_000, 99_000].map(|at| server.capacity(ms(5000 + at)));
    assert_eq!(caps, [1, 1, 2, 2, 3, 11, 11, 11].map(Some), "the nearest whole number, on the run's clock");
}

#[test]
fn a_wave_is_a_wave() {
    let config = config("concurrency-cap", "1s.. max-busy=50+30*sin(20s)");
    let mut server = Server::new(Config { max_busy: 7, ..config });
    server.handle(ms(0), Input::Arrive { request: request(0, None), least: 0, details: None });
    let caps = [0, 999, 1000, 6000, 11_000, 16_000, 21_000].map(|at| server.capacity(ms(at)));
    assert_eq!(caps, [7, 7, 50, 80, 50, 20, 50].map(Some));
}

/// A smaller bucket loses the tokens that it cannot hold.
#[test]
fn a_bucket_adopts_a_new_rate_and_a_new_burst() {
    // Both policies make the same decisions.
    for name in ["token-bucket", "gcra"] {
        let policy = format!("{name}:rate=1/s,burst=4");
        let schedule =
            format!("1s {name}.rate=10/s; 2s {name}.burst=2; 3s {name}.rate=30/min; 3s {name}.burst=3");
        let at = [
            // Four tokens, and the next would come at 1 s.
            (0, A),
            (0, A),
            (0, A),
            (0, A),
            (0, r(1000)),
            // Half a token at 500 ms, one at 1 s; from then on 100 ms for each.
            (500, r(500)),
            (1000, A),
            (1000, r(100)),
            (1150, A),
            (1150, r(50)),
            // 4 tokens at 1550 ms, of which 2 are left at 2 s.
            (2000, A),
            (2000, A),
            (2000, r(100)),
            // Full at 2200 ms with 2 tokens. A larger bucket is not fuller at once, and one token takes 2 s now.
            (3000, A),
            (3000, A),
            (3000, r(2000)),
            (4000, r(1000)),
            (5000, A),
            (11_000, A),
            (11_000, A),
            (11_000, A),
            (11_000, r(2000)),
        ];
        let (at, expected): (Vec<u64>, Vec<_>) = at.into_iter().unzip();
        assert_eq!(decided(config(&policy, &schedule), &at), expected, "{name}");
    }
}

#[test]
fn a_bucket_fills_by_what_its_rate_was_all_along() {
    // From 0 to 10 per second in 10 s: 50 tokens by then, and 10 in about the first 4.47 s.
    for name in ["token-bucket", "gcra"] {
        let policy = format!("{name}:rate=1/s,burst=1000");
        let ramp = format!("0s {name}.burst=1000; 0s..10s {name}.rate=0.000001..10");
        let mut at = vec![0; 1000];
        at.extend([10_000; 60]);
        let accepted =
            decided(config(&policy, &ramp), &at).iter().skip(1000).filter(|told| **told == A).count();
        assert!((49..=50).contains(&accepted), "{name}: {accepted}");
        // A wave around 5 over whole periods, most of them without requests.
        let wave = format!("0s.. {name}.rate=5+5*sin(1s)");
        assert!(config_error(&policy, &wave).is_some(), "a rate of 0 is none");
        let wave = format!("0s.. {name}.rate=5+4*sin(1s)");
        let mut at = vec![0; 1000];
        at.extend([100_000; 600]);
        let accepted =
            decided(config(&policy, &wave), &at).iter().skip(1000).filter(|told| **told == A).count();
        assert!((499..=501).contains(&accepted), "{name}: {accepted}");
    }
}

#[test]
fn a_window_goes_on_with_another_limit() {
    let config =
        config("w=fixed-window:limit=3,window=1s", "200ms w.limit=1; 500ms w.limit=4; 1s w.window=2s");
    let at = [
        (0, A),
        (0, A),
        (200, r(800)),
        (500, A),
        (500, A),
        (500, r(500)),
        (1000, A),
        (1000, A),
        (1000, A),
        (1000, A),
        (1500, r(500)),
        (2000, A),
    ];
    let (at, expected): (Vec<u64>, Vec<_>) = at.into_iter().unzip();
    assert_eq!(decided(config, &at), expected);
}

#[test]
fn nginx_counts_on_in_its_thousandths() {
    let policy = "q=leaky-queue:rate=10/s,burst=1,delay=unlimited";
    let plain = decided(config(policy, ""), &[0, 0, 0, 50, 100, 150, 200, 210]);
    let same = decided(config(policy, "0s..1s q.rate=10..10"), &[0, 0, 0, 50, 100, 150, 200, 210]);
    assert_eq!(plain, same, "steps of no height change nothing");
    let slower = decided(config(policy, "100ms q.rate=1/s"), &[0, 0, 0, 50, 100, 100, 150, 1100]);
    assert_eq!(slower, [A, A, r(100), r(50), A, r(1000), r(950), A]);
}

/// No other event is needed.
#[test]
fn queued_requests_start_when_the_cap_rises() {
    let answered =
        |config: Config| told(config, &[0, 0, 0, 0]).into_iter().map(|(at, ..)| at).collect::<Vec<_>>();
    let long = |policy: &str, schedule: &str| Config {
        service_time: Distribution::millis(1000),
        ..config(policy, schedule)
    };
    let queue = "concurrency:queue=9,queue-timeout=9s";
    assert_eq!(answered(long(queue, "0s max-busy=1; 300ms max-busy=3")), [1000, 1300, 1300, 2000]);
    let own = "a=concurrency:cap=1,queue=9,queue-timeout=9s then token-bucket";
    assert_eq!(answered(long(own, "300ms a.cap=2; 400ms a.cap=3")), [1000, 1300, 1400, 2000]);
    // In the last case the cap is 1.5, rounded to 2, at a quarter of the ramp.
    assert_eq!(answered(long(queue, "0s max-busy=1; 0s down; 1ms up"))[..1], [0]);
    assert_eq!(answered(long(own, "0s..1s a.cap=1..3")), [1000, 1250, 1750, 2000]);
}

/// Nor does a patch of a rate reject any.
#[test]
fn a_cap_patch_starts_queued_requests_and_rejects_none() {
    let mut server = Server::new(config("concurrency:cap=1,queue=9 then gcra:rate=1/s,burst=9", ""));
    for op in 0..3 {
        server.handle(ms(0), Input::Arrive { request: request(op, None), least: 0, details: None });
    }
    let patched = config("concurrency:cap=2,queue=9 then gcra:rate=2/s,burst=9", "");
    server.handle(ms(40), Input::Configure(Box::new(patched)));
    let mut answers = Vec::new();
    drain(&mut server, Instant::FAR_FUTURE, |answer| answers.push(answer));
    let told: Vec<_> =
        answers.iter().map(|answer| (answer.at.as_nanos() / 1_000_000, answer.verdict)).collect();
    assert_eq!(told, [100, 140, 200].map(|at| (at, ServerDecision::Accepted)));
}

#[test]
fn down_lasts_until_the_next_entry_or_for_its_range() {
    let schedule =
        "10ms down; 20ms max-busy=40; 30ms..40ms down; 35ms max-busy=30; 50ms down; 55ms..58ms down; 60ms up";
    let at = [0, 9, 10, 19, 20, 29, 30, 36, 40, 49, 50, 56, 59, 60, 99];
    // Rejections during an outage have no advice.
    let expected = [A, A, NEVER, NEVER, A, A, NEVER, NEVER, A, A, NEVER, NEVER, NEVER, A, A];
    assert!(config_error("concurrency-cap", schedule).is_some(), "one outage within another");
    let schedule = schedule.replace("55ms..58ms down; ", "");
    assert_eq!(decided(config("concurrency-cap", &schedule), &at), expected);
    // Without a further entry, the server stays down.
    assert_eq!(decided(config("concurrency-cap", "10ms down"), &[9, 19, 1_000_000]), [A, NEVER, NEVER]);
}

/// Creates a server whose cap is 1 for the first 10 s of the run's clock, and 2 from then on.
fn clocked() -> Server {
    Server::new(config("concurrency-cap", "0s max-busy=1; 10s max-busy=2"))
}

#[test]
fn the_clock_starts_with_each_runs_first_request_when_idle() {
    let mut server = clocked();
    let mut answers = Vec::new();
    let cap = |server: &Server, at_s: u64| server.capacity(ms(at_s * 1000));
    assert_eq!(cap(&server, 3600), Some(1), "up for an hour, and nobody has come");
    server.handle(ms(3_600_000), Input::Arrive { request: request(0, Some(1)), least: 0, details: None });
    assert_eq!((cap(&server, 3609), cap(&server, 3610)), (Some(1), Some(2)));
    drain(&mut server, ms(3_700_000), |answer| answers.push(answer));
    // A request of the same run, one of no run, and then one of another run.
    for (at, run, then) in [(3_700_000, Some(1), 2), (3_701_000, None, 2), (3_702_000, Some(2), 1)] {
        server.handle(ms(at), Input::Arrive { request: request(0, run), least: 0, details: None });
        assert_eq!(server.capacity(ms(at)), Some(then), "{run:?}");
        drain(&mut server, ms(at + 500), |answer| answers.push(answer));
    }
    // A run that starts while another is in flight shares its clock.
    server.handle(ms(3_712_000), Input::Arrive { request: request(0, Some(2)), least: 0, details: None });
    server.handle(ms(3_712_000), Input::Arrive { request: request(1, Some(3)), least: 0, details: None });
    assert_eq!(cap(&server, 3712), Some(2));
    drain(&mut server, ms(3_713_000), |answer| answers.push(answer));
    // After a reset, the clock starts anew for all runs.
    server.handle(ms(3_713_000), Input::Reset);
    assert_eq!(cap(&server, 3800), Some(1));
    server.handle(ms(3_800_000), Input::Arrive { request: request(0, Some(2)), least: 0, details: None });
    assert_eq!((cap(&server, 3809), cap(&server, 3810)), (Some(1), Some(2)));
    assert!(answers.iter().all(|answer| answer.verdict == ServerDecision::Accepted));
}

#[test]
fn figures_begin_anew_with_the_clock() {
    let mut server = Server::new(config(
        "fixed-window:limit=9,window=1s",
        "0s fixed-window.limit=1; 10s fixed-window.limit=2",
    ));
    let mut accepted = |at: u64, run| {
        let mut answers = Vec::new();
        for op in 0..3 {
            server.handle(ms(at), Input::Arrive { request: request(op, Some(run)), least: 0, details: None });
        }
        drain(&mut server, ms(at + 500), |answer| answers.push(answer));
        answers.iter().filter(|answer| answer.verdict == ServerDecision::Accepted).count()
    };
    assert_eq!([accepted(0, 1), accepted(10_000, 1), accepted(20_000, 2), accepted(30_000, 2)], [1, 2, 1, 2]);
}

fn config_error(policy: &str, schedule: &str) -> Option<String> {
    let policy = policy.parse().expect("policies");
    let schedule = match schedule.parse() {
        Ok(schedule) => schedule,
        Err(error) => return Some(format!("{error}")),
    };
    Config { policy, schedule, ..Config::default() }.validate().err().map(|error| error.to_string())
}

#[test]
fn what_the_policies_cannot_follow_is_refused_by_name() {
    let stack = "primary=token-bucket then concurrency:cap=5,queue=3";
    for (policy, schedule, words) in [
        (
            stack,
            "0s primry.rate=5/s",
            "no policy has the name `primry` (did you mean `primary`?); the names are `primary`, `concurrency`",
        ),
        (
            stack,
            "0s primary.rat=5/s",
            "policy `token-bucket` has no parameter `rat` (did you mean `rate`?); the parameters that can change are `rate`, `burst`, `refill`",
        ),
        (stack, "0s primary.key=address", "`key`"),
        (stack, "0s primary.rate=fast", "`rate=fast` is not accepted"),
        (stack, "0s primary.burst=0", "`burst=0` is not accepted; `burst` takes a whole number from 1"),
        (stack, "0s..1s primary.burst=1..2000000000", "`burst=2000000000` is not accepted"),
        (stack, "0s..1s primary.refill=1..2", "`refill=1` is not accepted"),
        (stack, "0s.. primary.burst=5+5*sin(1s)", "`burst=0` is not accepted"),
        (
            stack,
            "0s..1s primary.rate=1/s..2/s; 1s..2s primary.rate=1/min..2/min",
            "its unit differs from that of an earlier entry",
        ),
        (
            stack,
            "0s max-busy=5",
            "does not use the server's own cap (`max-busy`); name a policy's parameter instead, such as `concurrency.cap`",
        ),
        ("concurrency-cap", "0s max-busy=0", "from 1 to 1000000"),
        ("concurrency-cap", "0s max-busy=lots", "`lots`"),
        ("concurrency-cap", "0s..1s max-busy=0..5", "`0`"),
        ("concurrency-cap", "0s concurrency-cap.cap=5", "`concurrency-cap` has no parameters of its own"),
        (
            "descriptor-pool",
            "0s descriptor-pool.startup=5s",
            "serves requests itself, so its parameters cannot change",
        ),
    ] {
        let error = config_error(policy, schedule).expect("refused");
        assert!(error.contains(words), "{schedule}: {error}");
        assert!(error.contains("cannot be scheduled: "), "{schedule}: {error}");
    }
    let config = Config { caps: "1s=5".parse().expect("caps"), ..config("concurrency-cap", "1s max-busy=6") };
    let error = config.validate().expect_err("two caps").to_string();
    assert!(error.contains("`caps` and `schedule` both"), "{error}");
}

#[test]
fn a_patch_takes_a_schedule_all_or_nothing() {
    let patched = |config: &Config, text: &str| {
        let patch = serde_json::from_str(text).expect("an object");
        config.patched(&patch).map_err(|error| error.to_string())
    };
    let config = config("concurrency-cap", "");
    let text = serde_json::to_string(&config).expect("it can be written");
    assert!(!text.contains("schedule"), "what is not there is not told: {text}");
    let scheduled =
        patched(&config, r#"{"schedule": "1s max-busy=5; 2s down; 3s max-busy=6", "reject_status": 429}"#)
            .expect("good");
    assert_eq!(scheduled.schedule.to_string(), "1s max-busy=5; 2s down; 3s max-busy=6");
    let text = serde_json::to_string(&scheduled).expect("it can be written");
    assert_eq!(serde_json::from_str::<Config>(&text).expect("it can be read"), scheduled);
    for (patch, words) in [
        (r#"{"reject_status": 500, "schedule": "soon"}"#, "`schedule` cannot be \"soon\""),
        (r#"{"reject_status": 500, "schedule": "1s gcra.rate=5/s"}"#, "no policy has the name `gcra`"),
        (r#"{"policy": "token-bucket"}"#, "`max-busy`"),
    ] {
        let error = patched(&scheduled, patch).expect_err("refused");
        assert!(error.contains(words), "{patch}: {error}");
    }
    let now = patched(&scheduled, r#"{"max_busy": 9}"#).expect("good");
    assert_eq!((now.max_busy, now.schedule.to_string().as_str()), (9, "2s..3s down"), "no other cap later");
    assert!(patched(&scheduled, r#"{"schedule": null}"#).expect("good").schedule.is_empty());
}

/// The pauses are longer than the number of steps that are processed one by one.
#[test]
fn keys_that_were_not_seen_for_long_go_on_where_they_were() {
    let policy = "token-bucket:rate=1/s,burst=10";
    let entries: Vec<String> =
        (0..1000).map(|step| format!("{}ms token-bucket.rate={}/s", step * 10, 1 + step % 2)).collect();
    let schedule = entries.join(";");
    // Ten tokens are charged at once. At rates that alternate between 1/s and 2/s, 4 s bring back 6 tokens, and 26 s all 10.
    let mut at = vec![0; 11];
    at.extend([4000; 7]);
    at.extend([30_000; 11]);
    let told = decided(config(policy, &schedule), &at);
    assert_eq!(told.iter().filter(|told| **told == A).count(), 10 + 6 + 10, "{told:?}");
}

#[test]
fn contradicting_values_are_rejected_naming_the_faulty_entry() {
    let refusal = |schedule: &str| {
        let policy = "growing-rate:start=100,most=1000".parse().expect("a policy");
        Config { policy, schedule: schedule.parse().expect("a schedule"), ..Config::default() }
            .validate()
            .err()
    };
    for (schedule, entry) in [
        ("1s growing-rate.start=800; 2s growing-rate.most=500", "`2s growing-rate.most=500`"),
        ("1s growing-rate.most=500; 2s growing-rate.start=800", "`2s growing-rate.start=800`"),
        ("1s growing-rate.most=500; 1s growing-rate.start=800", "`1s growing-rate.start=800`"),
        (
            "1s growing-rate.most=500; 2s..3s growing-rate.start=100..800",
            "`2s..3s growing-rate.start=100..800`",
        ),
    ] {
        let error = refusal(schedule).expect(schedule).to_string();
        assert!(error.contains(entry) && error.contains("`start` is above `most`"), "{schedule}: {error}");
    }
    for schedule in [
        "1s growing-rate.most=2000; 2s growing-rate.start=1500",
        // Both fit together, although neither fits the previous value of the other.
        "1s growing-rate.most=3000; 1s growing-rate.start=2000; 2s growing-rate.most=50; 2s growing-rate.start=5",
    ] {
        assert_eq!(refusal(schedule), None, "{schedule}");
    }
}
