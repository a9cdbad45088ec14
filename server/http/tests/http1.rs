//! HTTP/1.1 requests in every form and split at any place: each is answered in order, with the same bytes.

#[path = "support/quick.rs"]
mod quick;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use mockserver::Embedded;
use vocabulary::Distribution;

use quick::start;

/// Sends all requests at once on one connection, ends the sending side, and returns all answers.
fn exchange(server: &Embedded, requests: &str) -> String {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(requests.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    answers
}

/// Removes the headers that depend on time.
fn timeless(answer: &str) -> String {
    let is_timeless = |line: &&str| {
        !["date: ", "x-tailback-at-ns: ", "x-tailback-took-ns: "].iter().any(|name| line.starts_with(name))
    };
    answer.split("\r\n").filter(is_timeless).collect::<Vec<_>>().join("\r\n")
}

#[test]
fn a_path_and_a_whole_url_have_the_same_answers() {
    let ours = "x-tailback-run: 00000000000000aa\r\nx-tailback-op: 1\r\n";
    let deferred = format!("{ours}x-tailback-least-free: 9\r\n");
    let read = format!("{ours}x-tailback-step: read\r\n");
    let write = format!("{ours}if-match: \"9\"\r\n");
    for (config, headers) in [
        ("", ""),
        ("", ours),
        ("", &deferred),
        ("", &read),
        ("", &write),
        ("rejecting", ""),
        ("rejecting", ours),
        ("script:steps=429 retry-after:2", ours),
        ("script:steps=599", ""),
        ("faulty", ours),
    ] {
        let start = || {
            start(|server| match config {
                "" => {}
                "rejecting" => {
                    server.reject_first = 9;
                    server.reject_status = 599;
                    server.retry_after = Some(Duration::from_millis(1500));
                }
                "faulty" => server.fault = "503:100%:after".parse().unwrap(),
                policy => server.policy = policy.parse().unwrap(),
            })
        };
        let path = exchange(&start(), &format!("GET /a HTTP/1.1\r\nhost: a\r\n{headers}\r\n"));
        let url = exchange(&start(), &format!("GET http://a/a HTTP/1.1\r\nhost: a\r\n{headers}\r\n"));
        assert!(path.starts_with("HTTP/1.1 ") && path.contains("\r\ndate: "), "{config} {headers}: {path}");
        assert_eq!(timeless(&path), timeless(&url), "{config} {headers}");
    }
}

#[test]
fn pipelined_requests_of_every_kind_are_answered_in_their_turn() {
    let server = start(|config| config.service_time = Distribution::millis(1));
    let requests = "GET /1 HTTP/1.1\r\nhost: a\r\n\r\n\
                    GET /2 HTTP/1.1\r\nhost: localhost\r\n\r\n\
                    GET /_mock/capacity HTTP/1.1\r\nhost: localhost\r\n\r\n\
                    POST /3 HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nbody\
                    GET /4 HTTP/1.1\r\nhost: a\r\n\r\n";
    let answers = exchange(&server, requests);
    assert_eq!(answers.matches("HTTP/1.1 200 OK\r\n").count(), 5, "{answers}");
    assert_eq!(answers.matches("\r\n\r\nserved\n").count(), 4, "{answers}");
    assert_eq!(server.stats(None).counts.accepted, 4);
}

#[test]
fn a_head_may_come_in_parts_and_many_requests_in_one() {
    let server = start(|_| {});
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.set_nodelay(true).unwrap();
    for part in ["G", "ET / HTTP/1.1\r\nho", "st: a\r", "\n\r", "\nGET / HTTP/1.1\r\nhost: a\r\n\r\n"] {
        stream.write_all(part.as_bytes()).unwrap();
    }
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    assert_eq!(answers.matches("\r\n\r\nserved\n").count(), 2, "{answers}");
    let many = exchange(&server, &"GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(5000));
    assert_eq!(many.matches("\r\n\r\nserved\n").count(), 5000);
}
