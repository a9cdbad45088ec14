//! The mockserver alone: admission over HTTP, its admin endpoints, misbehaving clients, and shutdown.

use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::process::Stdio;

use rustix::process::Signal;

use crate::support::{
    MockServer, Program, count, eventually, figure, read_reply, request, request_with, start_mockserver,
};

const FAST: &[&str] = &["--network-delay", "0", "--service-time", "0", "--reject-time", "0"];
/// Holds an accepted request for longer than any test takes, and rejects at once.
const HOLDS: &[&str] = &["--network-delay", "0", "--service-time", "1h", "--reject-time", "0"];

fn hold(server: &MockServer) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(b"GET /work HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n").unwrap();
    stream
}

fn wait_for_busy(server: &MockServer, busy: u64) {
    eventually("as many slots are busy as should be", || {
        (count(&server.stats(), "/busy") == busy).then_some(())
    });
}

#[test]
fn it_says_where_it_listens_and_what_it_enforces() {
    let server = MockServer::start(&["--max-busy", "7", "--retry-after", "2s", "--time-scale", "0.5"]);
    server.signal(Signal::TERM);
    server.finish().exits(143).says(&[
        "listening on http://127.0.0.1:",
        "cap 7, service 500ms",
        "Retry-After 2s",
        "time scale 0.5",
        "  your client   curl -i http://127.0.0.1:",
        "  loadgen       loadgen --target http://127.0.0.1:",
        "  look, change  /_mock/stats · PATCH /_mock/config · /metrics   Ctrl-C stops",
        "mockserver stopped: 0 received",
    ]);
}

/// Without a terminal. Resets are printed, too.
#[test]
fn changes_of_the_cap_are_printed_without_a_live_line() {
    let server = MockServer::start(&["--max-busy", "7"]);
    request(server.address, "PATCH", "/_mock/config", "{\"max_busy\": 3}");
    eventually("the change is told", || server.said().contains("cap 7 → 3").then_some(()));
    request(server.address, "POST", "/_mock/reset", "");
    eventually("the reset is told", || server.said().contains("counts reset").then_some(()));
    server.signal(Signal::TERM);
    let left = server.finish().exits(143);
    assert!(!left.stderr.contains(['\r', '\x1b']), "{:?}", left.stderr);
}

#[test]
fn requests_are_keyed_and_charged_by_the_current_policy() {
    let policy = |more: &str| format!("token-bucket:rate=0.0001/s,burst=10,{more}");
    let server = MockServer::start(&[FAST, &["--policy", &policy("cost=body:usage.tokens|1")]].concat());
    let ask = |path: &str, key: &str, body: &str| {
        request_with(server.address, "POST", path, &format!("host: h\r\nX-Key: {key}\r\n"), body).status
    };
    assert_eq!([0, 1].map(|_| ask("/", "a", "{\"usage\": {\"tokens\": 8}}")), [200, 503]);
    let body = format!("{{\"usage\": {{\"tokens\": 2}}, \"long\": \"{}\"}}", "x".repeat(100_000));
    assert_eq!(ask("/", "a", &body), 200, "all of a body is looked at");
    assert_eq!(ask("/", "a", ""), 503, "its tokens were the last");
    // From now on, requests are counted by key and path instead.
    let by_key = format!("{{\"policy\": \"{}\"}}", policy("cost=6,key=header:x-key&path:1"));
    assert_eq!(request(server.address, "PATCH", "/_mock/config", &by_key).status, 200);
    let asked = [("/a", "a"), ("/a/x?y", "a"), ("/b", "a"), ("/a", "b"), ("/a", "b")];
    assert_eq!(asked.map(|(path, key)| ask(path, key, "")), [200, 503, 200, 200, 503]);
}

#[test]
fn a_port_in_use_is_reported_with_a_remedy() {
    let first = MockServer::start(FAST);
    let address = first.address.to_string();
    let left = start_mockserver(&["--listen", &address]).finish().exits(2);
    left.says(&["cannot listen on", &address, "--listen", "another program", "127.0.0.1:0"]);
    assert_eq!(request(first.address, "GET", "/", "").status, 200);
}

#[test]
fn more_threads_than_sensible_or_available_are_refused() {
    let left = start_mockserver(&["--listen", "127.0.0.1:0", "--threads", "1024"]).finish().exits(2);
    left.says(&["1024", "--threads", "256"]);
    // Enough memory for the program, but not for all threads: some have only a few of them, others lack only the last bytes.
    for kibibytes in [400_000, 500_000, 580_000, 600_000] {
        let limited = format!(
            "ulimit -v {kibibytes}; exec {} --listen 127.0.0.1:0 --threads 256",
            env!("CARGO_BIN_EXE_mockserver")
        );
        let left = Program::start("/bin/sh", &["-c", &limited], Stdio::null()).finish();
        left.exits(2).says(&["256 threads (--threads) could not be started", "start fewer"]);
    }
}

#[test]
fn requests_are_rejected_while_all_slots_are_busy() {
    let server = MockServer::start(&[HOLDS, &["--max-busy", "2", "--reject-status", "429"]].concat());
    let _held = [hold(&server), hold(&server)];
    wait_for_busy(&server, 2);
    let reply = request(server.address, "POST", "/any/path?at=all", "body");
    assert_eq!(reply.status, 429);
    assert_eq!(
        (reply.header("x-tailback-busy"), reply.header("x-tailback-mock")),
        (None, None),
        "only to runs"
    );
    assert_eq!(reply.header("retry-after"), None);
    let stats = server.stats();
    assert_eq!(
        (count(&stats, "/received"), count(&stats, "/accepted"), count(&stats, "/rejected")),
        (3, 2, 1)
    );
    assert_eq!((count(&stats, "/max_busy_seen"), count(&stats, "/max_accepted_seen")), (2, 2));
}

#[test]
fn retry_after_is_sent_in_real_time() {
    let scaled = ["--max-busy", "1", "--retry-after", "10s", "--time-scale", "0.25"];
    let server = MockServer::start(&[HOLDS, &scaled].concat());
    let _held = hold(&server);
    wait_for_busy(&server, 1);
    let reply = request(server.address, "GET", "/", "");
    assert_eq!(reply.status, 503);
    // Whole seconds, rounded up.
    assert_eq!((reply.header("retry-after"), reply.header("retry-after-ms")), (Some("3"), None));
}

#[test]
fn a_disconnected_client_frees_its_slot_and_wastes_its_time() {
    let server = MockServer::start(&[HOLDS, &["--max-busy", "2"]].concat());
    let held = [hold(&server), hold(&server)];
    wait_for_busy(&server, 2);
    assert!(figure(&server.stats(), "/wasted_ms") < 1e-9);
    drop(held);
    wait_for_busy(&server, 0);
    let stats = server.stats();
    assert!(figure(&stats, "/wasted_ms") > 0.0, "{stats}");
    assert_eq!(count(&stats, "/accepted"), 2);
}

#[test]
fn the_cap_changes_while_it_runs_and_nonsense_changes_nothing() {
    let server = MockServer::start(&[HOLDS, &["--max-busy", "1"]].concat());
    let _first = hold(&server);
    wait_for_busy(&server, 1);
    assert_eq!(request(server.address, "GET", "/", "").status, 503);
    let before = request(server.address, "GET", "/_mock/config", "").json();
    for (nonsense, status, words) in [
        ("{\"max_bussy\": 3}", 422, "did you mean `max_busy`?"),
        ("{\"max_busy\": 0}", 422, "`max_busy` is 0"),
        ("{\"max_busy\": \"many\"}", 422, "`max_busy` cannot be"),
        ("{\"max_busy\": 9, \"service_time\": \"soon\"}", 422, "`service_time` cannot be"),
        ("{\"service_time\": \"18446744073709551615s0.5s0.5s\"}", 422, "longer than 100 years"),
        ("[1, 2]", 400, "JSON object"),
        ("max_busy=3", 400, "JSON object"),
        ("", 400, "JSON object"),
    ] {
        let reply = request(server.address, "PATCH", "/_mock/config", nonsense);
        assert_eq!(reply.status, status, "{nonsense}");
        let error = reply.json()["error"].as_str().unwrap().to_owned();
        assert!(error.contains(words), "{nonsense}: {error}");
        assert_eq!(request(server.address, "GET", "/_mock/config", "").json(), before);
    }
    let reply = request(server.address, "PATCH", "/_mock/config", "{\"max_busy\": 2}");
    assert_eq!((reply.status, reply.json()["max_busy"].as_u64()), (200, Some(2)));
    let _second = hold(&server);
    wait_for_busy(&server, 2);
}

#[test]
fn a_new_policy_answers_requests_that_it_rejects_at_once() {
    let server = MockServer::start(HOLDS);
    let held = hold(&server);
    wait_for_busy(&server, 1);
    let reply = request(server.address, "PATCH", "/_mock/config", "{\"policy\": \"descriptor-pool\"}");
    assert_eq!(reply.status, 200, "{}", reply.body);
    let answer = read_reply(held);
    assert_eq!(answer.status, 503);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

#[test]
fn after_a_reset_only_what_is_new_is_counted() {
    let server = MockServer::start(&["--network-delay", "0", "--service-time", "0", "--max-busy", "5"]);
    for _ in 0..3 {
        assert_eq!(request(server.address, "GET", "/", "").status, 200);
    }
    assert_eq!(count(&server.stats(), "/received"), 3);
    assert_eq!(request(server.address, "POST", "/_mock/reset", "").status, 200);
    assert_eq!(count(&server.stats(), "/received"), 0);
    assert_eq!(request(server.address, "GET", "/", "").status, 200);
    assert_eq!(count(&server.stats(), "/received"), 1);
}

#[test]
fn its_own_endpoints_are_no_work_and_unknown_ones_are_listed() {
    let server = MockServer::start(FAST);
    for (method, path, status, words) in [
        ("GET", "/_mock/nonsense", 404, "PATCH /_mock/config"),
        ("DELETE", "/_mock/stats", 405, "`/_mock/stats` accepts the methods GET, HEAD, not DELETE"),
        ("GET", "/_mock/reset", 405, "`/_mock/reset` accepts the methods POST, not GET"),
    ] {
        let reply = request(server.address, method, path, "");
        assert_eq!(reply.status, status, "{method} {path}");
        assert!(reply.json()["error"].as_str().unwrap().contains(words));
    }
    let reply = request(server.address, "GET", "/_mock/stats?run=nonsense", "");
    assert_eq!(reply.status, 400);
    assert_eq!(count(&server.stats(), "/received"), 0);
}

#[test]
fn garbage_ends_its_own_connection_only() {
    let server = MockServer::start(FAST);
    assert_eq!(request(server.address, "GET", "/", "").status, 200);
    let endless_head = format!("GET / HTTP/1.1\r\nx: {}", "y".repeat(1 << 20));
    let many_headers = format!("GET / HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(200));
    for garbage in ["\0\u{1}\u{2}nonsense\r\n\r\n", "GET /", "NONSENSE\r\n\r\n", &endless_head, &many_headers]
    {
        let mut stream = TcpStream::connect(server.address).unwrap();
        // The server may have closed the connection before everything was sent.
        drop(stream.write_all(garbage.as_bytes()));
        drop(stream.shutdown(Shutdown::Write));
        let mut answer = Vec::new();
        drop(std::io::Read::read_to_end(&mut stream, &mut answer));
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    assert_eq!(request(server.address, "GET", "/", "").status, 200);
    assert_eq!(count(&server.stats(), "/received"), 2);
}

#[test]
fn a_signal_lets_requests_in_flight_finish() {
    let server = MockServer::start(&["--network-delay", "0", "--service-time", "300ms"]);
    let held = hold(&server);
    wait_for_busy(&server, 1);
    server.signal(Signal::INT);
    let reply = read_reply(held);
    assert_eq!(reply.status, 200);
    server.finish().exits(130).says(&["mockserver stopped: 1 received, 1 accepted, 0 rejected"]);
}

#[test]
fn a_signal_does_not_wait_for_the_rest_of_a_head() {
    let server = MockServer::start(FAST);
    let mut begins = TcpStream::connect(server.address).unwrap();
    begins.write_all(b"GET / HT").unwrap();
    // The same thread answers this request, so the server has read the bytes above by then.
    assert_eq!(request(server.address, "GET", "/", "").status, 200);
    let asked = std::time::Instant::now();
    server.signal(Signal::INT);
    server.finish().exits(130);
    assert!(asked.elapsed().as_secs_f64() < 4.0, "{:?}", asked.elapsed());
    // The connection stays open until here.
    drop(begins);
}

#[test]
fn a_second_signal_waits_for_nothing() {
    let server = MockServer::start(HOLDS);
    let _held = hold(&server);
    wait_for_busy(&server, 1);
    let asked = std::time::Instant::now();
    server.finish_by_signals(Signal::INT).exits(130);
    assert!(asked.elapsed().as_secs_f64() < 4.0, "{:?}", asked.elapsed());
}
