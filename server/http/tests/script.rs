//! The `script` policy over real sockets: statuses, headers, bodies, dates, and closed connections.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mockserver::Embedded;
use mockserver::core::Config;
use vocabulary::{Distribution, TimeScale};

fn start(steps: &str) -> Embedded {
    let policy = format!("script:steps={steps}").parse().unwrap();
    let config = Config { policy, network_delay: Distribution::ZERO, ..Config::default() };
    Embedded::start(config, TimeScale::default()).unwrap()
}

fn ask(server: &Embedded, headers: &str) -> String {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let request = format!("GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    // A reset counts as no answer.
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8(bytes).unwrap()
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
