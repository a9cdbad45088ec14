//! Servers that attack their clients: every run ends in bounded time and memory, keeps its results and counts failures.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::Value;

use super::foreign_server::{Connection, ForeignServer, hang_up, reply};
use crate::support::{MockServer, assert_conserved, count, loadgen, request};

/// More bytes than any of these runs needs, and far less than the servers send.
const MAX_MEMORY: u64 = 128 << 20;

/// Runs four ops that give up after two attempts. The test's timeout limits the time, and this function the memory.
fn run(url: &str) -> Value {
    let flags = ["--ops", "4", "--in-flight", "4", "--max-attempts", "2", "--timeout", "300ms", "--no-tui"];
    let left = loadgen(
        &[&["--target", url, "--json", "-", "--strategy", "constant:delay=1ms"], &flags[..]].concat(),
    );
    let result = left.json();
    assert_conserved(&result);
    assert_eq!(count(&result, "/ops/total"), 4, "{result}");
    let memory = count(&result, "/generator/peak_rss_bytes");
    assert!(memory < MAX_MEMORY, "{memory} bytes");
    result
}

fn every_attempt_fails(
    answer: impl Fn(usize, &mut dyn Connection) -> io::Result<()> + Send + Sync + 'static,
) {
    let server = ForeignServer::start(answer);
    let result = run(&server.url());
    assert_eq!((count(&result, "/attempts/failed"), count(&result, "/ops/given_up")), (8, 4), "{result}");
}

/// Runs against a server whose responses begin with `head` and repeat `more` forever.
fn every_attempt_fails_of(head: &'static str, more: &'static str) {
    every_attempt_fails(move |_, connection| {
        connection.write_all(head.as_bytes())?;
        let more = more.repeat(4096 / more.len() + 1);
        loop {
            connection.write_all(more.as_bytes())?;
        }
    });
}

fn hang(connection: &mut dyn Connection) -> io::Result<()> {
    connection.flush()?;
    while connection.read(&mut [0; 1024])? > 0 {}
    hang_up()
}

/// Starts a server that answers every request, also to admin endpoints. `answer` receives the request line only.
pub(super) fn bare_server(
    answer: impl Fn(&str, &mut TcpStream) -> io::Result<()> + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let answer = std::sync::Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            std::thread::spawn(move || {
                let mut stream = BufReader::new(stream);
                let mut head = String::new();
                // An error of `answer` ends the connection.
                while stream.read_line(&mut head).is_ok_and(|read| read > 0) {
                    if head.ends_with("\r\n\r\n") {
                        if answer(head.lines().next().unwrap_or_default(), stream.get_mut()).is_err() {
                            return;
                        }
                        head.clear();
                    }
                }
            });
        }
    });
    url
}

#[test]
fn connections_that_are_reset_fail_their_attempts() {
    let server = ForeignServer::start_with(
        |_, _| hang_up(),
        |stream| {
            // With linger 0, closing the connection resets it.
            rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO))?;
            Ok(Box::new(stream))
        },
    );
    let result = run(&server.url());
    assert_eq!((count(&result, "/attempts/failed"), count(&result, "/ops/given_up")), (8, 4), "{result}");
}

#[test]
fn a_response_that_stops_anywhere_fails_at_the_timeout() {
    for begun in ["", "HTTP", "HTTP/1.1 200 OK\r\nx: ", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"] {
        every_attempt_fails(move |_, connection| {
            connection.write_all(begun.as_bytes())?;
            hang(connection)
        });
    }
}

#[test]
fn an_answer_that_trickles_is_waited_for_until_the_timeout() {
    every_attempt_fails(|_, connection| {
        connection.write_all(b"HTTP/1.1 200 OK\r\nx: ")?;
        loop {
            connection.write_all(b"y")?;
            connection.flush()?;
            std::thread::sleep(Duration::from_millis(20));
        }
    });
}

#[test]
fn lengths_that_cannot_be_are_no_answer() {
    for lengths in [
        "content-length: -1",
        "content-length: 99999999999999999999999999",
        "content-length: 2\r\ncontent-length: 3",
        "content-length: two",
        "transfer-encoding: chunked\r\n\r\nnot a length",
        "transfer-encoding: chunked\r\n\r\nffffffffffffffffffff",
        "transfer-encoding: chunked\r\n\r\n2\r\nok and more",
    ] {
        every_attempt_fails(move |_, connection| {
            write!(connection, "HTTP/1.1 200 OK\r\n{lengths}\r\n\r\nok\r\n\r\n")?;
            hang(connection)
        });
    }
}

#[test]
fn what_follows_a_whole_answer_answers_nothing() {
    let server = ForeignServer::start(|_, connection| {
        reply(connection, "200 OK", "ok")?;
        // Many further responses, before the next requests.
        connection.write_all("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".repeat(50).as_bytes())
    });
    let result = run(&server.url());
    let sent = server.work().len() as u64;
    assert!(
        count(&result, "/attempts/succeeded") <= sent && sent <= count(&result, "/attempts/total"),
        "{sent} {result}"
    );
}

#[test]
fn heads_without_end_are_no_answer() {
    every_attempt_fails_of("HTTP/1.1 200 ", "OK");
    every_attempt_fails_of("HTTP/1.1 200 OK\r\nx: ", "y");
    every_attempt_fails_of("", "HTTP/1.1 100 Continue\r\n\r\n");
    every_attempt_fails_of("", "HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n");
    every_attempt_fails_of("", "\r\n");
}

#[test]
fn bodies_without_end_are_no_answer() {
    every_attempt_fails_of("HTTP/1.1 200 OK\r\n\r\n", "until it closes");
    every_attempt_fails_of("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "1\r\nx\r\n");
    every_attempt_fails_of("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;", "extension");
    every_attempt_fails_of(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n",
        "x-trailer: and more\r\n",
    );
}

#[test]
fn a_redirect_to_itself_is_requested_once_per_attempt() {
    let server = ForeignServer::start(|_, connection| {
        connection.write_all(b"HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n")
    });
    let result = run(&server.url());
    assert_eq!(server.work().len() as u64, count(&result, "/attempts/total"), "{result}");
}

#[test]
fn advice_and_headers_of_any_size_change_no_count() {
    let server = ForeignServer::start(|number, connection| {
        let advice =
            ["99999999999999999999", "1e308", "-1", "NaN", "Fri, 31 Dec 99999 23:59:59 GMT", "\u{e9}"];
        let advice = advice[number % advice.len()];
        let padding = "p".repeat(number * 1000);
        write!(
            connection,
            "HTTP/1.1 200 OK\r\nretry-after: {advice}\r\nx-tailback-busy: {advice}\r\nx-pad: {padding}\r\ncontent-length: 0\r\n\r\n"
        )
    });
    let result = run(&server.url());
    assert_eq!(count(&result, "/ops/succeeded"), 4, "{result}");
}

/// The probe asks for the configuration of a mockserver.
#[test]
fn endless_or_deep_probe_responses_make_a_server_foreign() {
    for (begin, more) in [
        ("HTTP/1.1 200 OK\r\nx-tailback-mock: 1\r\n\r\n", "["),
        ("HTTP/1.1 200 OK\r\nx-tailback-mock: 1\r\n\r\n{", "\"max_busy\": 1, "),
        ("HTTP/1.1 403 Forbidden\r\n\r\n", "no "),
        ("HTTP/1.1 200 OK\r\nx-tailback-mock: 1\r\nx: ", "y"),
        ("", "HTTP/1.1 100 Continue\r\n\r\n"),
    ] {
        let url = bare_server(move |line, stream| {
            if !line.contains("/_mock/") {
                return reply(stream, "200 OK", "ok");
            }
            stream.write_all(begin.as_bytes())?;
            let more = more.repeat(4096 / more.len() + 1);
            loop {
                stream.write_all(more.as_bytes())?;
            }
        });
        let result = run(&url);
        assert_eq!(count(&result, "/ops/succeeded"), 4, "{begin}: {result}");
        assert_eq!(result["server"], Value::Null);
    }
}

#[test]
fn a_mockserver_whose_counts_never_end_leaves_the_clients() {
    let honest = MockServer::start(&[]);
    let config = request(honest.address, "GET", "/_mock/config", "").body;
    let url = bare_server(move |line, stream| {
        let head = "HTTP/1.1 200 OK\r\nx-tailback-mock: 1\r\n";
        if line.contains("/_mock/stats") {
            write!(stream, "{head}\r\n")?;
            loop {
                stream.write_all(&[b' '; 4096])?;
            }
        }
        let body = if line.contains("/_mock/config") { &config } else { "served" };
        write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len())
    });
    let result = run(&url);
    assert_eq!((count(&result, "/ops/succeeded"), count(&result, "/attempts/total")), (4, 4), "{result}");
}
