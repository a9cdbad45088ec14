//! The server over real sockets: routes, limits, and clients that go away.

#[path = "support/quick.rs"]
mod quick;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use mockserver::Embedded;
use mockserver::core::AnswersConfig;
use vocabulary::Distribution;

use quick::start;

fn send(server: &Embedded, head: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // The server may refuse before it has read everything.
    let _ =
        stream.write_all(format!("{head}\r\nhost: localhost\r\nconnection: close\r\n\r\n{body}").as_bytes());
    stream
}

/// In lower case.
fn answer(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    // A reset after the answer does not matter.
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).to_lowercase()
}

fn patch(server: &Embedded, body: &str) -> String {
    let head = format!("PATCH /_mock/config HTTP/1.1\r\ncontent-length: {}", body.len());
    answer(send(server, &head, body))
}

/// Polls, because the server learns about sockets asynchronously.
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..100_000 {
        if is_so() {
            return;
        }
        std::thread::yield_now();
    }
    panic!("not so in the end: {what}");
}

#[test]
fn any_path_is_work_and_garbage_headers_are_survived() {
    let server = start(|_| {});
    let head = "PUT /a/b?c HTTP/1.1\r\nx-tailback-run: zz\r\nx-tailback-seed: -1\r\nx-tailback-op: \u{e9}\r\nx-tailback-attempt: 99999999999";
    let text = answer(send(&server, head, ""));
    assert!(text.starts_with("http/1.1 200 "), "{text}");
    assert!(!text.contains("x-tailback"), "that is no run: {text}");
    assert_eq!(server.stats(None).counts.received, 1);
}

#[test]
fn setting_one_parameter_keeps_the_state_of_the_policy() {
    let server =
        start(|config| config.policy = "a=fixed-window:limit=2,window=1h".parse().expect("a policy"));
    let get = || answer(send(&server, "GET / HTTP/1.1", ""));
    assert!(get().starts_with("http/1.1 200 "));
    let changed = patch(&server, r#"{"set": "a.limit=1"}"#);
    assert!(changed.contains(r#""policy":"a=fixed-window:limit=1,"#), "{changed}");
    assert!(get().starts_with("http/1.1 503 "), "one was let pass before");
    let refused = patch(&server, r#"{"set": "b.limit=3"}"#);
    assert!(
        refused.starts_with("http/1.1 422 ") && refused.contains("no policy has the name `b`"),
        "{refused}"
    );
    assert!(patch(&server, r#"{"set": "a.limit=3"}"#).starts_with("http/1.1 200 "));
    assert!(get().starts_with("http/1.1 200 "));
}

#[test]
fn headers_of_ours_go_to_runs_and_to_nobody_else() {
    let server = start(|config| config.policy = "fixed-window:limit=1,window=1h".parse().expect("a policy"));
    let run = "GET / HTTP/1.1\r\nx-tailback-run: 00000000000000aa";
    let accepted = answer(send(&server, run, ""));
    for header in ["x-tailback-mock: 1\r\n", "x-tailback-busy: ", "x-tailback-verdict: accepted\r\n"] {
        assert!(accepted.contains(header), "{header}: {accepted}");
    }
    assert!(accepted.contains("x-tailback-limits: rate=0/1/3600000000000@0\r\n"), "{accepted}");
    let rejected = answer(send(&server, run, ""));
    assert!(rejected.contains("x-tailback-verdict: rejected\r\n"), "{rejected}");
    assert!(rejected.contains("x-tailback-wait-ns: 35") && !rejected.contains("retry-after"), "{rejected}");
    let foreign = answer(send(&server, "GET / HTTP/1.1", ""));
    assert!(foreign.starts_with("http/1.1 503 ") && !foreign.contains("x-tailback"), "{foreign}");
    assert!(!foreign.contains("retry-after"), "nobody said that it should advise: {foreign}");
}

/// With a single cap, they receive only the cap.
#[test]
fn runs_receive_the_limits_of_a_stack() {
    let policy = "a=concurrency:cap=3,key=header:x then token-bucket:rate=1/h,burst=2";
    let server = start(|config| config.policy = policy.parse().expect("policies"));
    let told = || answer(send(&server, "GET / HTTP/1.1\r\nx-tailback-run: aa\r\nx: me", ""));
    for limits in ["places=1/3@0;rate=1/2/7200000000000@1", "places=1/3@0;rate=0/2/7200000000000@1"] {
        let accepted = told();
        assert!(accepted.contains(&format!("x-tailback-limits: {limits}\r\n")), "{accepted}");
    }
    patch(&server, r#"{"policy": "concurrency-cap"}"#);
    let plain = told();
    assert!(plain.contains("x-tailback-cap: 1\r\n") && !plain.contains("x-tailback-limits"), "{plain}");
}

#[test]
fn a_client_that_disconnects_frees_its_slot() {
    let server = start(|config| config.service_time = Distribution::millis(3_600_000));
    let first = send(&server, "GET / HTTP/1.1", "");
    eventually("the slot is taken", || server.stats(None).busy == 1);
    drop(first);
    eventually("the slot is free", || server.stats(None).busy == 0);
}

fn answer_to_half_closed(server: &Embedded, requests: &str) -> String {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(requests.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    answer(stream)
}

#[test]
fn a_half_closed_client_gets_its_whole_answer() {
    for service_ms in [0, 50] {
        let server = start(|config| config.service_time = Distribution::millis(service_ms));
        for version in ["1.1", "1.0"] {
            let text = answer_to_half_closed(&server, &format!("GET / HTTP/{version}\r\nhost: test\r\n\r\n"));
            assert!(
                text.starts_with(&format!("http/{version} 200 ")) && text.ends_with("\r\n\r\nserved\n"),
                "{text}"
            );
            let with_body = format!("POST / HTTP/{version}\r\nhost: test\r\ncontent-length: 4\r\n\r\nbody");
            let text = answer_to_half_closed(&server, &with_body);
            assert!(
                text.starts_with(&format!("http/{version} 200 ")) && text.ends_with("\r\n\r\nserved\n"),
                "{text}"
            );
        }
        assert_eq!(server.stats(None).counts.accepted, 4);
    }
}

#[test]
fn pipelined_requests_of_a_half_closed_client_are_all_answered() {
    let server = start(|config| config.service_time = Distribution::millis(20));
    let text = answer_to_half_closed(&server, &"GET / HTTP/1.1\r\nhost: test\r\n\r\n".repeat(3));
    assert_eq!(text.matches("http/1.1 200 ok\r\n").count(), 3, "{text}");
    assert_eq!(text.matches("\r\n\r\nserved\n").count(), 3, "{text}");
}

#[test]
fn a_half_closed_client_that_disconnects_frees_its_slot() {
    let server = start(|config| config.service_time = Distribution::millis(3_600_000));
    let first = send(&server, "GET / HTTP/1.1", "");
    first.shutdown(Shutdown::Write).unwrap();
    eventually("the slot is taken", || server.stats(None).busy == 1);
    drop(first);
    eventually("the slot is free", || server.stats(None).busy == 0);
}

#[test]
fn a_rejection_comes_at_once_and_carries_its_advice_rounded_up() {
    let server = start(|config| {
        config.service_time = Distribution::millis(3_600_000);
        config.reject_status = 429;
        config.retry_after = Some(Duration::from_millis(1500));
    });
    let _first = send(&server, "GET / HTTP/1.1", "");
    eventually("the slot is taken", || server.stats(None).busy == 1);
    let text = answer(send(&server, "GET / HTTP/1.1", ""));
    assert!(text.starts_with("http/1.1 429 "), "{text}");
    assert!(text.contains("retry-after: 2\r\n") && !text.contains("retry-after-ms"), "{text}");
    let run = answer(send(&server, "GET / HTTP/1.1\r\nx-tailback-run: 00000000000000aa", ""));
    assert!(
        run.contains("retry-after: 2\r\n") && run.contains("x-tailback-wait-ns: 1500000000\r\n"),
        "{run}"
    );
}

#[test]
fn advice_is_sent_in_the_configured_forms() {
    let server = start(|config| {
        config.policy = "primary=fixed-window:limit=1,window=1h".parse().expect("a policy");
        config.answers = AnswersConfig::default().advising("ms+ietf");
    });
    let accepted = answer(send(&server, "GET / HTTP/1.1", ""));
    assert!(accepted.contains("ratelimit-policy: \"primary\";q=1;w=3600\r\n"), "{accepted}");
    let rejected = answer(send(&server, "GET / HTTP/1.1", ""));
    assert!(rejected.contains("retry-after-ms: 3") && !rejected.contains("retry-after: "), "{rejected}");
    assert!(rejected.contains("ratelimit: \"primary\";r=0;t="), "{rejected}");
}

#[test]
fn a_change_is_all_or_nothing() {
    let server = start(|_| {});
    assert!(patch(&server, r#"{"max_busy": 7}"#).contains(r#""max_busy":7"#));
    for (body, status, words) in [
        (r#"{"max_busy": 9, "servce_time": "1s"}"#, "422", "did you mean `service_time`?"),
        (r#"{"max_busy": 9, "reject_status": 200}"#, "422", "`reject_status` is 200"),
        ("{", "400", "json object"),
    ] {
        let text = patch(&server, body);
        assert!(text.starts_with(&format!("http/1.1 {status} ")) && text.contains(words), "{body}: {text}");
    }
    let text = answer(send(&server, "GET /_mock/config HTTP/1.1", ""));
    assert!(text.contains(r#""max_busy":7"#) && text.contains(r#""service_time":"0s""#), "{text}");
}

/// Foreign origins get no list of the endpoints.
#[test]
fn a_mistyped_endpoint_is_not_work() {
    let server = start(|_| {});
    for path in ["/_mock/typo", "/_mock", "/_mock/", "/_mock/stats/", "/_mock/%ff", "/_mock/presets/a/b"] {
        let text = answer(send(&server, &format!("GET {path} HTTP/1.1"), ""));
        assert!(
            text.starts_with("http/1.1 404 ") && text.contains("x-tailback-mock: 1\r\n"),
            "{path}: {text}"
        );
        let foreign = format!("GET {path} HTTP/1.1\r\norigin: http://evil.example");
        let text = answer(send(&server, &foreign, ""));
        assert!(
            text.starts_with("http/1.1 403 ") && text.contains("x-tailback-mock: 1\r\n"),
            "{path}: {text}"
        );
        assert!(!text.contains("is not an endpoint of this server"), "{path}: {text}");
    }
    assert_eq!(server.stats(None).counts.received, 0);
    for path in ["/_mocks", "/_moc", "/metrics/", "//_mock/stats", "/a/_mock/stats", "/%5fmock/stats"] {
        let text = answer(send(&server, &format!("GET {path} HTTP/1.1"), ""));
        assert!(text.starts_with("http/1.1 200 ") && text.ends_with("served\n"), "{path}: {text}");
    }
    assert_eq!(server.stats(None).counts.received, 6);
}

#[test]
fn unknown_endpoints_are_listed_and_a_reset_counts_anew() {
    let server = start(|_| {});
    let text = answer(send(&server, "GET /_mock/statz HTTP/1.1", ""));
    assert!(text.starts_with("http/1.1 404 ") && text.contains("get /_mock/stats"), "{text}");
    answer(send(&server, "GET / HTTP/1.1\r\nx-tailback-run: 00000000000000ff", ""));
    let text = answer(send(&server, "GET /_mock/stats?run=00000000000000ff HTTP/1.1", ""));
    assert!(text.contains(r#""received":1"#), "{text}");
    answer(send(&server, "POST /_mock/reset HTTP/1.1", ""));
    assert_eq!(server.stats(None).counts.received, 0);
}

#[test]
fn unsupported_methods_are_answered_with_the_allowed_ones() {
    let server = start(|_| {});
    for (request, allowed) in [
        ("DELETE /_mock/config", "get, head, patch"),
        ("GET /_mock/reset", "post"),
        ("POST /_mock/presets/github", "get, head"),
        ("PUT /metrics", "get, head"),
    ] {
        let text = answer(send(&server, &format!("{request} HTTP/1.1"), ""));
        assert!(text.starts_with("http/1.1 405 "), "{request}: {text}");
        assert!(text.contains(&format!("\nallow: {allowed}\r\n")), "{request}: {text}");
        let (method, path) = request.split_once(' ').expect("both");
        assert!(
            text.contains(&format!("`{path}` accepts the methods {allowed}, not {}", method.to_lowercase())),
            "{text}"
        );
        assert_eq!(text.matches("\nallow: ").count(), 1, "{text}");
    }
}

#[test]
fn changes_have_room_for_a_body_and_are_bounded() {
    let server = start(|_| {});
    let change = |length| format!(r#"{{"answers":{{"accepted":{{"body":"{}"}}}}}}"#, "x".repeat(length));
    assert!(patch(&server, &change(64 << 10)).starts_with("http/1.1 200 "));
    let text = patch(&server, &change(1 << 20));
    assert!(text.starts_with("http/1.1 413 "), "{text}");
    assert!(
        text.contains(r#"{"error":"the request body is too long; a change of the configuration may have at most 1048576 bytes"}"#),
        "{text}"
    );
}

#[test]
fn heads_are_bounded() {
    let server = start(|_| {});
    let text = answer(send(&server, &format!("GET / HTTP/1.1{}", "\r\nx: y".repeat(200)), ""));
    assert!(text.starts_with("http/1.1 431 "), "{text}");
    assert_eq!(server.stats(None).counts.received, 0);
}

#[test]
fn bodies_of_any_length_are_read_whether_the_request_is_served_or_rejected() {
    let server = start(|config| config.reject_first = 1);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let body = vec![b'x'; 9 << 20];
    let mut buffer = [0; 4096];
    // The connection stays usable, because every body was read completely.
    for status in ["503", "200", "503"] {
        let head = format!("POST /a HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&body).unwrap();
        let mut text = String::new();
        while !text.ends_with("served\n") && !text.ends_with("busy\n") {
            let count = stream.read(&mut buffer).unwrap();
            assert!(count > 0, "the connection ended after {text:?}");
            text += &String::from_utf8_lossy(&buffer[..count]);
        }
        assert!(text.starts_with(&format!("HTTP/1.1 {status} ")), "{text}");
    }
    let counts = server.stats(None).counts;
    assert_eq!((counts.received, counts.rejected), (3, 2));
}

#[test]
fn a_number_in_a_long_body_is_what_the_request_costs() {
    let policy = "fixed-window:limit=10,window=1h,cost=body:usage.max|header:x-other|5";
    let (small, long) = ("x".repeat(300 << 10), "x".repeat(3 << 20));
    let before = |text| format!(r#"{{"usage":{{"max":10}},"text":"{text}"}}"#);
    let after = |text| format!(r#"{{"text":"{text}","usage":{{"max":10}}}}"#);
    // Only the first 1 MiB is searched. A request without a number costs 5 of 10.
    for (body, left) in [(after(&small), 0), (before(&long), 0), (after(&long), 5)] {
        let server = start(|config| config.policy = policy.parse().expect("a policy"));
        let head = format!("POST / HTTP/1.1\r\ncontent-length: {}", body.len());
        assert!(answer(send(&server, &head, &body)).starts_with("http/1.1 200 "));
        let text = answer(send(&server, "GET / HTTP/1.1", ""));
        assert_eq!(text.starts_with("http/1.1 200 "), left > 0, "{text}");
    }
}

/// Only clients of a run learn that a mockserver answered.
#[test]
fn a_truncated_body_is_a_bad_request() {
    let server = start(|_| {});
    let run = "POST / HTTP/1.1\r\nhost: test\r\nx-tailback-run: 00000000000000aa\r\n";
    for body in ["content-length: 9\r\n\r\nbody", "transfer-encoding: chunked\r\n\r\nzz\r\nbody\r\n"] {
        let text = answer_to_half_closed(&server, &format!("{run}{body}"));
        assert!(text.starts_with("http/1.1 400 ") && text.contains("is incomplete"), "{text}");
        assert!(
            text.contains("x-tailback-mock: 1\r\n") && text.contains("x-tailback-verdict: failed"),
            "{text}"
        );
    }
    let foreign = "POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 9\r\n\r\nbody";
    let text = answer_to_half_closed(&server, foreign);
    assert!(text.starts_with("http/1.1 400 ") && !text.contains("x-tailback"), "{text}");
}

#[test]
fn only_runs_look_first_and_attempts_are_counted_from_one() {
    let server = start(|config| config.reject_first = 1);
    let get = |headers: &str| answer(send(&server, &format!("GET / HTTP/1.1{headers}"), ""));
    let text = get("\r\nx-tailback-least-free: 99\r\nx-tailback-attempt: 2");
    assert!(text.starts_with("http/1.1 200 "), "{text}");
    let text = get("\r\nx-tailback-run: 00000000000000aa\r\nx-tailback-least-free: 99");
    assert!(text.starts_with("http/1.1 503 ") && text.contains("x-tailback-deferred: 1"), "{text}");
    let script = "script:steps=200|418";
    assert!(
        patch(&server, &format!(r#"{{"policy":"{script}","reject_first":0}}"#)).starts_with("http/1.1 200 ")
    );
    for status in ["200", "418"] {
        let text = get("\r\nx-tailback-attempt: 0");
        assert!(text.starts_with(&format!("http/1.1 {status} ")), "{text}");
    }
}

#[test]
fn metrics_and_stats_report_each_policy_of_a_stack_by_name() {
    let stack = "primary=fixed-window:limit=2,window=1h then concurrency:cap=9";
    let server = start(|config| config.policy = stack.parse().expect("policies"));
    let ask = |path: &str| {
        answer(send(&server, &format!("GET {path} HTTP/1.1\r\nx-tailback-run: 00000000000000aa"), ""))
    };
    for _ in 0..3 {
        ask("/");
    }
    let tells = |samples: &[(&str, &str, u64)]| {
        let page = ask("/metrics");
        for (policy, verdict, count) in samples {
            let sample =
                format!("policy_requests_total{{policy=\"{policy}\",verdict=\"{verdict}\"}} {count}\n");
            assert!(page.contains(&sample), "{sample}: {page}");
        }
    };
    tells(&[("primary", "accepted", 2), ("primary", "rejected", 1)]);
    tells(&[("concurrency", "accepted", 2), ("concurrency", "rejected", 0)]);
    let by_policy = r#""by_policy":[{"accepted":2,"name":"primary","rejected":1},{"accepted":2,"name":"concurrency","rejected":0}]"#;
    let stats = ask("/_mock/stats?run=00000000000000aa");
    assert!(stats.contains(by_policy), "{stats}");
    // Counters continue by name under any policy; a single policy is counted with the server.
    assert!(patch(&server, r#"{"policy": "primary=gcra"}"#).starts_with("http/1.1 200 "));
    ask("/");
    tells(&[("primary", "accepted", 2), ("concurrency", "accepted", 2)]);
    let plain = start(|_| {});
    assert!(!answer(send(&plain, "GET /metrics HTTP/1.1", "")).contains("policy_requests_total"));
    assert!(!answer(send(&plain, "GET /_mock/stats HTTP/1.1", "")).contains("by_policy"));
}

#[test]
fn connect_is_refused_and_is_not_work() {
    let server = start(|_| {});
    let text = answer(send(&server, "CONNECT example.org:443 HTTP/1.1", ""));
    assert!(text.starts_with("http/1.1 501 "), "{text}");
    assert!(text.ends_with("mockserver is not a proxy; send requests to it directly\n"), "{text}");
    assert_eq!(server.stats(None).counts.received, 0);
}
