//! The `script` policy over real sockets: statuses, headers, bodies, dates, faults, and the calls of clients that name no ops.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mockserver::Embedded;
use mockserver::core::Config;
use vocabulary::{Distribution, TimeScale};

fn config(policy: &str) -> Config {
    let policy = policy.parse().unwrap();
    Config {
        policy,
        network_delay: Distribution::ZERO,
        service_time: Distribution::ZERO,
        reject_time: Distribution::ZERO,
        ..Config::default()
    }
}

fn start(steps: &str) -> Embedded {
    Embedded::start(config(&format!("script:steps={steps}")), TimeScale::default()).unwrap()
}

fn ask(server: &Embedded, headers: &str) -> String {
    let mut bytes = Vec::new();
    // A reset counts as no answer.
    let _ = send(server, "GET /", headers).read_to_end(&mut bytes);
    String::from_utf8(bytes).unwrap()
}

/// Sends requests such as `GET /a`, and returns the status of each.
fn statuses(server: &Embedded, requests: &[&str]) -> Vec<u16> {
    let status = |request: &&str| {
        let mut text = String::new();
        send(server, request, "").read_to_string(&mut text).unwrap();
        text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("{text}"))
    };
    requests.iter().map(status).collect()
}

fn send(server: &Embedded, request: &str, headers: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let request = format!("{request} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

#[test]
fn without_an_op_number_each_request_gets_the_next_step() {
    let server = start("429 retry-after:2 X-Reason:busy%20now body:{\"a\":1%2C\"b\":2}|close|200");
    let first = ask(&server, "");
    assert!(first.starts_with("HTTP/1.1 429 "), "{first}");
    for words in ["retry-after: 2\r\n", "x-reason: busy now\r\n", "content-length: 13\r\n"] {
        assert!(first.contains(words), "no {words:?}: {first}");
    }
    assert!(first.ends_with("\r\n\r\n{\"a\":1,\"b\":2}"), "{first}");
    assert_eq!(ask(&server, ""), "", "closed without an answer");
    for _ in 0..2 {
        assert!(ask(&server, "").starts_with("HTTP/1.1 200 "));
    }
    let counts = server.stats(None).counts;
    assert_eq!((counts.received, counts.accepted, counts.rejected), (4, 2, 2));
}

#[test]
fn a_client_that_names_its_attempt_gets_that_step() {
    let server = start("503|429;200");
    for (op, attempt, status) in [(0, 2, 429), (0, 1, 503), (0, 9, 429), (1, 1, 200)] {
        let headers = format!("x-tailback-op: {op}\r\nx-tailback-attempt: {attempt}\r\n");
        let answer = ask(&server, &headers);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
}

#[test]
fn dates_are_those_of_the_calendar() {
    let server = start("503 retry-after:@date%2B3 x-reset:@epoch-60");
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64().ceil();
    let before = now();
    let answer = ask(&server, "");
    let after = now();
    let header = |name: &str| {
        let value = answer.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        value.unwrap_or_else(|| panic!("no {name}: {answer}")).to_owned()
    };
    let epoch: f64 = header("x-reset").parse().unwrap();
    assert!((before..=after).contains(&(epoch + 60.0)), "{epoch}");
    let date = httpdate::parse_http_date(&header("retry-after")).unwrap();
    let date = date.duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    assert!((before..=after).contains(&(date - 3.0)), "{date}");
}

/// Returns the bytes of an answer that a fault breaks, and the error that ended it.
fn broken(mut stream: TcpStream) -> (String, Option<io::ErrorKind>) {
    let mut bytes = Vec::new();
    let error = stream.read_to_end(&mut bytes).err().map(|error| error.kind());
    (String::from_utf8(bytes).unwrap(), error)
}

#[test]
fn each_fault_step_breaks_its_answer_before_or_after_work() {
    let reset = Some(io::ErrorKind::ConnectionReset);
    for (step, error, half) in [
        ("close", None, None),
        ("reset", reset, None),
        ("truncate", None, Some("\r\n\r\n")),
        ("truncate content-type:text/x body:0123456789", None, Some("content-type: text/x\r\n\r\n01234")),
    ] {
        let after = step
            .split_once(' ')
            .map_or(format!("{step}:after"), |(fault, rest)| format!("{fault}:after {rest}"));
        let server = start(&format!("{step}|{after}|204"));
        for _ in 0..2 {
            let (text, ended) = broken(send(&server, "GET /", ""));
            assert_eq!(ended, error, "{step}");
            match half {
                None => assert_eq!(text, "", "{step}"),
                Some(end) => {
                    assert!(text.starts_with("HTTP/1.1 200 OK\r\ncontent-length: 1"), "{step}: {text}");
                    assert!(text.ends_with(end), "{step}: {text}");
                }
            }
        }
        assert_eq!(statuses(&server, &["GET /"]), [204], "{step}");
        let counts = server.stats(None).counts;
        assert_eq!(
            (counts.received, counts.accepted, counts.rejected, counts.failed),
            (3, 2, 1, 0),
            "{step}"
        );
    }
}

/// One hour takes 3.6 s at this scale of time.
#[test]
fn a_hanging_step_sends_nothing_for_an_hour() {
    let scale = TimeScale::parse("0.001").unwrap();
    let servers = ["hang", "hang:after"]
        .map(|step| Embedded::start(config(&format!("script:steps={step}")), scale).unwrap());
    let since = Instant::now();
    let streams = servers.each_ref().map(|server| send(server, "GET /", ""));
    for stream in streams {
        assert_eq!(broken(stream), (String::new(), None));
    }
    assert!(since.elapsed() >= Duration::from_millis(3_500), "{:?}", since.elapsed());
    let accepted = servers.map(|server| server.stats(None).counts.accepted);
    assert_eq!(accepted, [0, 1]);
}

#[test]
fn by_call_each_call_starts_at_the_first_step() {
    let server = start("503|429|204;418,by=call");
    let one_by_one = ["GET /a", "GET /b", "GET /a", "GET /a", "GET /a", "POST /a", "GET /a?b", "GET /b"];
    assert_eq!(statuses(&server, &one_by_one), [503, 503, 429, 204, 503, 503, 503, 429]);
    let second = ask(&server, "x-tailback-op: 1\r\n");
    assert!(second.starts_with("HTTP/1.1 418 "), "requests that name their op keep it: {second}");
    let third = ask(&server, "x-tailback-attempt: 3\r\n");
    assert!(third.starts_with("HTTP/1.1 204 "), "{third}");
}

#[test]
fn a_spoiled_answer_and_a_disconnect_do_not_end_a_call() {
    let server = start("reset:after|hang|204|418,by=call");
    assert_eq!(ask(&server, ""), "");
    let hanging = send(&server, "GET /", "");
    let since = Instant::now();
    while server.stats(None).counts.received < 2 {
        assert!(since.elapsed() < Duration::from_secs(20), "the request did not arrive");
        std::thread::yield_now();
    }
    drop(hanging);
    assert_eq!(statuses(&server, &["GET /"]), [204]);
    assert_eq!(ask(&server, ""), "", "the next call starts at its first step");
}

#[test]
fn a_reset_and_a_new_policy_end_every_call() {
    let server = start("503|429|204,by=call");
    assert_eq!(statuses(&server, &["GET /", "GET /"]), [503, 429]);
    assert_eq!(statuses(&server, &["POST /_mock/reset"]), [200]);
    assert_eq!(statuses(&server, &["GET /"]), [503]);
    let change = r#"{"policy": "script:steps=418|429|204,by=call"}"#;
    let headers = format!("content-length: {}\r\n", change.len());
    let mut stream = send(&server, "PATCH /_mock/config", &headers);
    stream.write_all(change.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
    assert_eq!(statuses(&server, &["GET /", "GET /"]), [418, 429]);
}

#[test]
fn the_first_requests_of_each_call_are_rejected() {
    let calls = ["GET /a", "GET /a", "GET /b", "GET /a", "GET /b", "GET /b", "GET /a"];
    for (policy, admitted) in [("gcra:rate=1000/s,burst=9", 200), ("script:steps=204,by=call", 204)] {
        let server =
            Embedded::start(Config { reject_first: 2, ..config(policy) }, TimeScale::default()).unwrap();
        let expected = [503, 503, 503, admitted, 503, admitted, 503];
        assert_eq!(statuses(&server, &calls), expected, "{policy}");
        let named = ask(&server, "x-tailback-attempt: 3\r\n");
        assert!(named.starts_with(&format!("HTTP/1.1 {admitted} ")), "{named}");
    }
    let by_op = Config { reject_first: 1, ..config("script:steps=418|429|204") };
    let server = Embedded::start(by_op, TimeScale::default()).unwrap();
    let statuses = statuses(&server, &["GET /a", "GET /b", "GET /a", "GET /b", "GET /a"]);
    assert_eq!(statuses, [503, 503, 204, 204, 503], "the script counts all requests");
}
