//! Barriers over real sockets: all shards are released at once, and absent clients leave nothing behind.

#[path = "support/quick.rs"]
mod quick;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use mockserver::Embedded;
use vocabulary::wire::{NotReleased, Released};

use quick::start;

/// Sends a request on its own connection; `rest` is further headers, the empty line and a body.
fn ask_with(server: &Embedded, head: &str, rest: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    write!(stream, "{head} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{rest}").unwrap();
    stream
}

fn ask(server: &Embedded, head: &str) -> TcpStream {
    ask_with(server, head, "\r\n")
}

fn come(server: &Embedded, query: &str) -> TcpStream {
    ask(server, &format!("POST /_mock/barrier?{query}"))
}

fn answer(mut stream: TcpStream) -> (u16, String) {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), body.to_owned())
}

fn answered(server: &Embedded, query: &str) -> (u16, String) {
    answer(come(server, query))
}

/// Polls, because the server learns about sockets asynchronously.
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..10_000 {
        if is_so() {
            return;
        }
        std::thread::yield_now();
    }
    panic!("not so in the end: {what}");
}

/// Sends one of three shards to barrier `a`, where it waits.
fn one_that_waits(server: &Embedded) -> TcpStream {
    one_that_waits_with(server, "\r\n")
}

/// Variant with further headers, the empty line and a body.
fn one_that_waits_with(server: &Embedded, rest: &str) -> TcpStream {
    let waits = ask_with(server, "POST /_mock/barrier?run=a&of=3&index=0", rest);
    eventually("it waits", || answered(server, "run=a&of=3&wait_ms=0").1.contains("2 of 3 shards arrived"));
    waits
}

#[test]
fn all_are_let_go_with_one_run_and_the_counts_begin_anew() {
    let server = start(|_| {});
    answer(ask(&server, "GET /"));
    assert_eq!(server.stats(None).counts.received, 1);
    let mut runs = Vec::new();
    for epoch in 1..3 {
        let waiting: Vec<_> =
            (0..3).map(|index| come(&server, &format!("run=a-7&of=3&index={index}"))).collect();
        let answers: Vec<Released> = waiting
            .into_iter()
            .map(|stream| {
                let (status, body) = answer(stream);
                assert_eq!(status, 200, "{body}");
                serde_json::from_str(&body).unwrap()
            })
            .collect();
        assert!(answers.iter().all(|released| *released == answers[0]), "{answers:?}");
        let Released { run, of, start_in_ms, epoch: reported, .. } = answers[0].clone();
        assert_eq!((of, reported, start_in_ms > 0), (3, epoch, true));
        assert_eq!(server.stats(None).counts.received, 0);
        runs.push(u64::from_str_radix(&run, 16).unwrap());
    }
    assert_ne!(runs[0], runs[1], "each round is a run of its own");
}

#[test]
fn contradicting_participants_are_rejected_with_the_reason() {
    let server = start(|_| {});
    let _waits = one_that_waits(&server);
    assert_eq!(answered(&server, "run=a&of=3&index=0").0, 409);
    let (status, body) = answered(&server, "run=a&of=2&index=1");
    assert_eq!(status, 409);
    assert!(body.contains("is started for 2 shards of run"), "{body}");
    for (query, words) in [
        ("run=a", "`of`"),
        ("of=2", "`run`"),
        ("run=a&of=x", "`of`"),
        ("run=a&of=0", "from 1 to 1024"),
        ("run=a&of=2&index=2", "counted from 0"),
        ("run=a&of=2&index=-1", "`index`"),
        ("run=a&of=2&wait_ms=9999999999", "`wait_ms`"),
    ] {
        let (status, body) = answered(&server, query);
        assert_eq!(status, 400, "{query}");
        assert!(body.contains(words), "{query}: {body}");
    }
    assert_eq!(answer(ask(&server, "GET /_mock/barrier")).0, 405);
}

#[test]
fn an_unfilled_barrier_reports_the_missing_shards() {
    let server = start(|_| {});
    let (status, body) = answered(&server, "run=a&of=4&index=2&wait_ms=1");
    assert_eq!(status, 504, "{body}");
    let refused: NotReleased = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (&*refused.error, refused.came, refused.missing),
        ("only 1 of 4 shards arrived", Some(1), vec![0, 1, 3])
    );
}

#[test]
fn a_client_that_goes_away_while_it_waits_frees_its_place() {
    let server = start(|_| {});
    for rest in [
        "\r\n",
        "content-length: 5\r\n\r\nhello",
        "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ] {
        let waits = one_that_waits_with(&server, rest);
        let again = || answered(&server, "run=a&of=3&index=0&wait_ms=0").0;
        assert_eq!(again(), 409, "{rest}");
        drop(waits);
        eventually("its place is free", || again() == 504);
    }
}

/// It takes no place.
#[test]
fn an_overlong_or_truncated_body_is_rejected() {
    let server = start(|_| {});
    let body = "x".repeat((1 << 20) + 1);
    let too_long = format!("content-length: {}\r\n\r\n{body}", body.len());
    let head = "POST /_mock/barrier?run=a&of=2&index=0";
    let (status, body) = answer(ask_with(&server, head, &too_long));
    assert_eq!(status, 413, "{body}");
    assert!(body.contains("longer than 1 MiB"), "{body}");
    let broken = ask_with(&server, head, "content-length: 5\r\n\r\nhell");
    broken.shutdown(Shutdown::Write).unwrap();
    let (status, body) = answer(broken);
    assert_eq!(status, 400, "{body}");
    assert!(body.contains("is incomplete"), "{body}");
    assert!(answered(&server, "run=a&of=2&wait_ms=0").1.contains("1 of 2 shards arrived"));
}
