//! Two requests per attempt, or none: reads before conditional writes, carrier sense, and lost messages.

use std::io::Write;
use std::net::TcpStream;

use super::foreign_server::{ForeignServer, reply};
use crate::support::{
    MockServer, Reply, assert_conserved, count, eventually, loadgen, measure, read_reply, request,
};

fn request_with(server: &MockServer, method: &str, headers: &str) -> Reply {
    let mut stream = TcpStream::connect(server.address).unwrap();
    let head = format!("{method} /object HTTP/1.1\r\nhost: test\r\nconnection: close\r\n{headers}\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    read_reply(stream)
}

const CONTENDED: &[&str] = &[
    "--kind",
    "read-modify-write",
    "--arrivals",
    "burst",
    "--ops",
    "30",
    "--clients",
    "30",
    "--network-delay",
    "normal(10ms,2ms)",
    "--return-delay",
    "normal(10ms,2ms)",
    "--strategy",
    "full-jitter:base=10ms,cap=500ms",
];

#[test]
fn a_write_after_a_conflicting_one_is_rejected_and_retried() {
    let free = ["--service-time", "0", "--reject-time", "0", "--max-busy", "1000"];
    let result = measure(&[CONTENDED, &free].concat());
    assert_conserved(&result);
    let attempts = count(&result, "/attempts/total");
    assert_eq!(count(&result, "/ops/succeeded"), 30);
    assert!(attempts > 30, "a burst conflicts: {result}");
    for (key, expected) in [
        ("reads", attempts),
        ("reads_rejected", 0),
        ("received", attempts),
        ("accepted", 30),
        ("rejected", attempts - 30),
    ] {
        assert_eq!(count(&result, &format!("/server/{key}")), expected, "{key}: {}", result["server"]);
    }
    assert!(result["optimal_makespan_s"].is_null(), "nobody knows when conditional writes could be over");
}

#[test]
fn an_attempt_whose_read_is_rejected_writes_nothing() {
    let full = ["--service-time", "5ms", "--reject-time", "5ms", "--max-busy", "3"];
    let result = measure(&[CONTENDED, &full].concat());
    assert_conserved(&result);
    let (attempts, turned_away) =
        (count(&result, "/attempts/total"), count(&result, "/server/reads_rejected"));
    assert!(turned_away > 0, "{}", result["server"]);
    assert_eq!(count(&result, "/server/reads"), attempts);
    assert_eq!(count(&result, "/server/received"), attempts - turned_away);
    assert_eq!(count(&result, "/server/accepted"), 30);
}

#[test]
fn the_mock_keeps_one_version_for_all_clients() {
    let server = MockServer::start(&["--network-delay", "0", "--service-time", "0", "--reject-time", "0"]);
    for (headers, status, tag) in [
        ("x-tailback-step: read\r\n", 200, Some("\"0\"")),
        ("if-match: \"0\"\r\n", 200, Some("\"1\"")),
        ("if-match: \"0\"\r\n", 412, Some("\"1\"")),
        ("if-match: \"1\"\r\n", 200, Some("\"2\"")),
        ("if-match: W/\"2\"\r\n", 412, Some("\"2\"")),
        ("if-match: nonsense\r\n", 412, Some("\"2\"")),
        ("if-match: *\r\n", 200, None),
        ("x-tailback-step: read\r\n", 200, Some("\"2\"")),
        ("", 200, None),
    ] {
        let reply = request_with(&server, "GET", headers);
        assert_eq!((reply.status, reply.header("etag")), (status, tag), "{headers}");
    }
    let stats = server.stats();
    let counts = ["/reads", "/received", "/accepted", "/rejected"].map(|key| count(&stats, key));
    assert_eq!(counts, [2, 7, 4, 3]);
}

#[test]
fn a_foreign_servers_tag_is_sent_back_as_it_came() {
    let server = ForeignServer::start(|number, connection| match number {
        0 | 2 => {
            connection.write_all(b"HTTP/1.1 200 OK\r\netag: W/\"a b\"\r\ncontent-length: 4\r\n\r\ndone")?;
            connection.flush()
        }
        1 => reply(connection, "412 Precondition Failed", ""),
        _ => reply(connection, "204 No Content", ""),
    });
    let url = server.url();
    let kind = ["--rate", "10/s", "--kind", "read-modify-write"];
    let args = ["-s", "aimd", "--ops", "1", "-d", "new", "-H", "Content-Type: text/plain"];
    let result = measure(&[&["--target", &url][..], &kind, &args].concat());
    assert_eq!((count(&result, "/attempts/rejected"), count(&result, "/ops/succeeded")), (1, 1));
    let work = server.work();
    let lines: Vec<&str> = work.iter().map(|request| request.line.as_str()).collect();
    assert_eq!(lines, ["GET / HTTP/1.1", "PUT / HTTP/1.1", "GET / HTTP/1.1", "PUT / HTTP/1.1"]);
    for pair in work.chunks(2) {
        let [read, write] = pair else { panic!("reads and writes alternate") };
        assert_eq!((read.body.as_str(), read.header("if-match")), ("", None));
        assert_eq!((write.body.as_str(), write.header("if-match")), ("new", Some("W/\"a b\"")));
        assert_eq!((read.header("content-type"), write.header("content-type")), (None, Some("text/plain")));
    }
    assert!(work.iter().flat_map(|request| &request.headers).all(|(name, _)| !name.contains("tailback")));
}

#[test]
fn a_read_without_a_tag_fails_for_good() {
    let server = ForeignServer::start(|_, connection| reply(connection, "200 OK", "done"));
    let url = server.url();
    let args =
        ["--target", &url, "--rate", "10/s", "--kind", "read-modify-write", "--ops", "3", "--json", "-"];
    let result = loadgen(&args).exits(1).says(&["no entity tag × 3"]).json();
    assert_eq!((count(&result, "/ops/given_up"), count(&result, "/attempts/failed")), (3, 3));
    assert!(server.work().iter().all(|request| request.line.starts_with("GET ")));
}

#[test]
fn what_makes_no_sense_with_this_server_is_refused() {
    let server = ForeignServer::start(|_, connection| reply(connection, "200 OK", ""));
    let url = server.url();
    let base = ["--target", &url, "--ops", "1", "--rate", "10/s"];
    loadgen(&[&base[..], &["--strategy", "ethernet"]].concat()).exits(2).says(&["`ethernet`", "mockserver"]);
    let pairs = ["--kind", "read-modify-write"];
    loadgen(&[&base[..], &pairs, &["-m", "POST"]].concat())
        .exits(2)
        .says(&["`--method`", "GET and then a PUT"]);
    loadgen(&[&base[..], &pairs, &["-H", "If-Match: \"1\""]].concat()).exits(2).says(&["if-match"]);
    let virtually = ["--simulate", "--ops", "1"];
    loadgen(&[&virtually[..], &pairs, &["-m", "POST"]].concat())
        .exits(2)
        .says(&["`--method`", "GET and then a PUT"]);
    assert_eq!(server.work().len(), 0);
}

#[test]
fn carrier_sense_sends_only_with_enough_free_capacity() {
    let server = MockServer::start(&["--network-delay", "0", "--service-time", "1h", "--max-busy", "2"]);
    let free = || count(&request(server.address, "GET", "/_mock/capacity", "").json(), "/free");
    assert_eq!(free(), 2);
    let mut held = TcpStream::connect(server.address).unwrap();
    held.write_all(b"GET / HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
    eventually("a slot is taken", || (free() == 1).then_some(()));

    let url = server.url();
    let args = ["--target", &url, "--ops", "3", "--deadline", "300ms", "--json", "-", "--quiet"];
    let listens = ["--strategy", "ethernet:threshold=2 + exponential:base=20ms,cap=50ms"];
    let result = loadgen(&[&args[..], &listens].concat()).exits(1).json();
    assert_eq!((count(&result, "/attempts/total"), count(&result, "/ops/given_up")), (0, 3));
    assert!(count(&result, "/ops/deferred") > 3, "{}", result["ops"]);
    assert_eq!(count(&server.stats(), "/received"), 1, "a question is no work");

    drop(held);
    eventually("the slot is free again", || (free() == 2).then_some(()));
    request(server.address, "PATCH", "/_mock/config", "{\"service_time\": \"0\"}");
    let result = loadgen(&[&args[..], &listens].concat()).exits(0).json();
    assert_eq!(count(&result, "/ops/succeeded"), 3, "{result}");
}

#[test]
fn lost_messages_are_failed_attempts_and_hold_nothing() {
    let server = MockServer::start(&[
        "--loss",
        "0.1",
        "--network-delay",
        "10ms",
        "--service-time",
        "0",
        "--time-scale",
        "0.2",
    ]);
    let url = server.url();
    for kind in ["request", "read-modify-write"] {
        let args = ["--target", &url, "--time-scale", "0.2", "--timeout", "1s", "--rate", "20/s"];
        let run = ["--ops", "40", "--strategy", "full-jitter:base=100ms,cap=500ms", "--kind", kind];
        let result = measure(&[&args[..], &run].concat());
        assert_conserved(&result);
        assert!(count(&result, "/attempts/failed") > 0, "{kind}: {}", result["attempts"]);
        assert_eq!(count(&result, "/ops/succeeded"), 40, "{kind}");
        eventually("nothing is held", || (count(&server.stats(), "/busy") == 0).then_some(()));
    }
}
