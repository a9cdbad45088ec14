//! Targets that do not exist, do not answer, or answer with something other than HTTP. Every run ends by itself.

use std::net::TcpListener;

use super::foreign_server::{Connection, ForeignServer, hang_up, reply};
use crate::support::{Folder, Left, assert_conserved, count, loadgen};

fn run_against(url: &str) -> Left {
    loadgen(&[
        "--target",
        url,
        "--strategy",
        "aimd",
        "--ops",
        "10",
        "--rate",
        "1000/s",
        "--max-attempts",
        "2",
        "--timeout",
        "200ms",
        "--no-tui",
        "--json",
        "-",
    ])
}

fn never_answered(
    answer: impl Fn(usize, &mut dyn Connection) -> std::io::Result<()> + Send + Sync + 'static,
) {
    let server = ForeignServer::start(answer);
    let left = run_against(&server.url()).exits(69).says(&[
        "no attempt received a response",
        "all 20 failed",
        "--target",
    ]);
    let result = left.json();
    assert_eq!((count(&result, "/attempts/failed"), count(&result, "/ops/given_up")), (20, 10), "{result}");
    assert_conserved(&result);
}

/// The target was reached, so the command line need not be checked.
fn answered_unusably(
    last: &str,
    answer: impl Fn(usize, &mut dyn Connection) -> std::io::Result<()> + Send + Sync + 'static,
) {
    let server = ForeignServer::start(answer);
    let words = format!("no answer was usable, and the last thing that arrived was: {last}");
    let left = run_against(&server.url()).exits(1).says(&["no op of 10 succeeded (", &words]);
    assert!(!left.stderr.contains("--target"), "{}", left.stderr);
    let result = left.json();
    assert_eq!((count(&result, "/attempts/failed"), count(&result, "/ops/given_up")), (20, 10), "{result}");
    assert_conserved(&result);
}

#[test]
fn a_target_that_refuses_connections_is_unreachable() {
    // The port is free, and no other test uses it.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{address}/");
    let left = run_against(&url).exits(69).says(&[
        "no server responds at",
        &url,
        "--target",
        "`--target`: Connection refused\n",
    ]);
    assert_eq!(left.stdout, "");
}

#[test]
fn a_host_that_does_not_exist_is_named() {
    let left = run_against("http://no-such-host.invalid/").exits(69);
    assert_eq!(left.stdout, "");
    left.says(&["no-such-host.invalid", "--target", "could not be resolved"]);
}

#[test]
fn a_target_that_accepts_and_never_answers_fails_by_timeouts() {
    // No connection is accepted: they stay in the listener's backlog.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let left = run_against(&url).exits(69).says(&["no attempt received a response", "all 20 failed"]);
    let result = left.json();
    assert_eq!((count(&result, "/attempts/failed"), count(&result, "/ops/given_up")), (20, 10));
    assert_conserved(&result);
}

#[test]
fn a_target_that_hangs_up_fails_every_attempt() {
    never_answered(|_, _| hang_up());
}

#[test]
fn garbage_is_no_usable_answer() {
    answered_unusably("no HTTP", |_, connection| {
        connection.write_all(b"\0\x01\x02 this is no HTTP\r\n\r\n")?;
        hang_up()
    });
}

#[test]
fn a_response_that_ends_in_mid_body_is_not_usable() {
    answered_unusably("cut off in mid-answer", |_, connection| {
        connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")?;
        connection.flush()?;
        hang_up()
    });
}

#[test]
fn a_response_that_stops_in_mid_body_is_not_usable() {
    answered_unusably("the head of a 200", |_, connection| {
        connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")?;
        connection.flush()?;
        // The connection stays open until the client closes it.
        connection.read_to_end(&mut Vec::new()).map(drop)
    });
}

#[test]
fn too_many_headers_are_no_usable_answer() {
    answered_unusably("too many or too long headers", |_, connection| {
        let many = "x: 1\r\n".repeat(201);
        write!(connection, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n{many}\r\n")?;
        connection.flush()
    });
}

#[test]
fn endless_headers_are_no_usable_answer() {
    answered_unusably("too many or too long headers", |_, connection| {
        connection.write_all(b"HTTP/1.1 200 OK\r\n")?;
        loop {
            connection.write_all(b"x-more: and more\r\n")?;
        }
    });
}

#[test]
fn an_endless_body_is_no_usable_answer() {
    // Either the body is too long, or the timeout ends first.
    answered_unusably("", |_, connection| {
        connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n")?;
        let chunk = [b'x'; 4096];
        loop {
            connection.write_all(&chunk)?;
        }
    });
}

#[test]
fn server_errors_are_retried_and_client_errors_are_not() {
    // An error status is a response, so the target is reachable.
    for (status, attempts) in [("500 Internal Server Error", 20), ("404 Not Found", 10)] {
        let server = ForeignServer::start(move |_, connection| reply(connection, status, "no"));
        let left = run_against(&server.url());
        let result = left.json();
        assert_eq!(count(&result, "/attempts/failed"), attempts, "{status}: {result}");
        assert_eq!(count(&result, "/ops/given_up"), 10, "{status}");
        assert_eq!(server.work().len() as u64, attempts, "{status}");
        assert_conserved(&result);
        assert!(!left.exits(1).stderr.contains("no attempt received a response"));
    }
}

#[test]
fn one_answer_in_between_makes_it_a_run() {
    let server = ForeignServer::start(|number, connection| match number {
        5 => reply(connection, "200 OK", ""),
        _ => hang_up(),
    });
    let result = run_against(&server.url()).exits(1).says(&["9 of 10 ops ended with a failure"]).json();
    assert_eq!((count(&result, "/ops/succeeded"), count(&result, "/ops/given_up")), (1, 9));
    assert_conserved(&result);
}

#[test]
fn comparisons_and_merged_shards_name_the_last_thing_that_arrived() {
    let server = ForeignServer::start(|_, connection| {
        connection.write_all(b"\0\x01\x02 this is no HTTP\r\n\r\n")?;
        hang_up()
    });
    let folder = Folder::new();
    let load = format!("--target {} --ops 2 --rate 100/s --repeats 1 --max-attempts 1 -q", server.url());
    let last = ["no answer was usable, and the last thing that arrived was: no HTTP"];
    folder.loadgen(&format!("compare --strategies none,aimd {load}")).exits(1).says(&last);
    folder.loadgen(&format!("sweep --strategies none --vary clients=1,2 {load}")).exits(1).says(&last);
    folder.loadgen(&format!("{load} --strategy aimd --shard 0/1 --json 0.json")).exits(0);
    folder.loadgen("merge 0.json -o - -q").exits(1).says(&last);
}

/// Nothing arrives in the first run, and an answer to every attempt in the second.
#[test]
fn one_run_without_a_response_among_others_does_not_make_the_target_unreachable() {
    let folder = Folder::new();
    for args in [
        "-s none --repeats 2",
        "compare --strategies none,immediate --repeats 1",
        "sweep --strategies none --vary clients=1,2 --repeats 1",
        "-s none --repeats 2 --shard 0/1 --json 0.json",
    ] {
        let server = ForeignServer::start(|number, connection| match number {
            0 | 1 => hang_up(),
            _ => reply(connection, "200 OK", ""),
        });
        let load = format!("--target {} --in-flight 1 --ops 2 --max-attempts 1 -q", server.url());
        let left = folder.loadgen(&format!("{args} {load}"));
        let left = if args.contains("--shard") { folder.loadgen("merge 0.json -o - -q") } else { left };
        let left = left.exits(1).says(&["1 of 2 runs failed", "no op of 2 succeeded"]);
        assert!(!left.stderr.contains("no attempt received a response"), "{}", left.stderr);
    }
}
