//! Servers and limits that make `loadgen` wait: every wait has an end, and a signal ends each of them with a message.

use std::fs::OpenOptions;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::{
    MockServer, Program, assert_conserved, count, eventually, figure, loadgen, start_loadgen,
};

fn against_few_places(server: &[&str], load: &[&str]) -> (serde_json::Value, String) {
    let server = MockServer::start(&[&["--time-scale", "0.1"][..], server].concat());
    let url = server.url();
    let common = ["--target", &url, "--time-scale", "0.1", "--no-tui", "--explain", "--json", "-"];
    let left = loadgen(&[&common[..], load].concat()).exits(0);
    let result = left.json();
    assert_conserved(&result);
    (result, left.stderr.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn a_run_uses_as_many_connections_as_the_server_accepts() {
    for (threads, transport) in [("1", "hyper"), ("2", "hyper"), ("1", "reqwest")] {
        let load = ["-s", "aimd", "--arrivals", "burst", "--ops", "300"];
        let sent = ["--threads", threads, "--transport", transport];
        let (result, said) = against_few_places(&["--max-connections", "20"], &[&load[..], &sent].concat());
        assert_eq!(count(&result, "/ops/succeeded"), 300, "{transport}");
        assert_eq!(said.matches("of 128 connections before the run").count(), 1, "{said}");
        assert!(said.contains("--max-connections"), "{said}");
        if transport == "hyper" {
            assert_eq!(count(&result, "/attempts/failed"), 0, "{result}");
            assert!(said.contains("accepted only 20 of 128"), "{said}");
            assert!(count(&result, "/server/max_accepted_seen") <= 20, "{}", result["server"]);
        }
    }
}

#[test]
fn a_closed_loop_with_more_clients_than_places_does_all_ops() {
    let places = ["--max-connections", "100", "--max-busy", "100"];
    let (result, said) = against_few_places(&places, &["-s", "none", "--in-flight", "200", "--ops", "600"]);
    assert_eq!((count(&result, "/ops/succeeded"), count(&result, "/attempts/total")), (600, 600));
    assert!(said.contains("accepted only 100 of 128 connections"), "{said}");
    assert!(count(&result, "/generator/waited_for_connection") > 0);
}

/// Forwards the first connection to a server and accepts the others without answering, like a stopped process. Returns its URL and the
/// number of connections so far.
fn falls_silent(server: SocketAddr) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let accepted = Arc::<AtomicUsize>::default();
    let counter = accepted.clone();
    // The thread ends with the test's process.
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for (number, client) in listener.incoming().flatten().enumerate() {
            counter.fetch_add(1, Ordering::Relaxed);
            if number > 0 {
                kept.push(client);
                continue;
            }
            let server = TcpStream::connect(server).unwrap();
            for (mut from, mut to) in
                [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)]
            {
                std::thread::spawn(move || {
                    io::copy(&mut from, &mut to).map(|_| to.shutdown(std::net::Shutdown::Both))
                });
            }
        }
    });
    (url, accepted)
}

const TRANSPORTS: [&[&str]; 3] = [&["--transport", "hyper"], &["--transport", "reqwest"], &["--http2"]];

#[test]
fn a_server_that_falls_silent_before_the_run_is_unreachable() {
    let server = MockServer::start(&[]);
    for transport in TRANSPORTS {
        let (url, _) = falls_silent(server.address);
        let load = ["--target", &url, "--arrivals", "burst", "--ops", "500", "--no-tui"];
        loadgen(&[&load[..], transport].concat()).exits(69).says(&[
            "answered on none of",
            "within 5 s",
            "it had answered before",
        ]);
    }
}

#[test]
fn a_signal_ends_the_wait_for_connections_with_an_empty_result() {
    let server = MockServer::start(&[]);
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        for transport in TRANSPORTS {
            let (url, accepted) = falls_silent(server.address);
            let load = ["--target", &url, "--arrivals", "burst", "--ops", "500", "--no-tui", "--json", "-"];
            let run = start_loadgen(&[&load[..], transport].concat());
            eventually("it waits for connections", || (accepted.load(Ordering::Relaxed) > 1).then_some(()));
            // The program waits five seconds for connections. After a signal it starts no run, and exits with the signal's code.
            run.signal(signal);
            let result = run.finish().exits(code).json();
            assert_eq!(count(&result, "/attempts/total"), 0, "{result}");
            assert!(figure(&result, "/wall_s") < 5.0, "{result}");
        }
    }
}

/// A listener that never calls `accept`: connections open, but get no response.
fn silent() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    (listener, url)
}

/// Signals a program that has no results yet. It must end at once and report the signal.
fn ends_early(run: Program, signal: Signal, name: &str, code: i32) {
    run.signal(signal);
    let asked = Instant::now();
    run.finish().exits(code).says(&[&format!("stopped by {name} before any run began")]);
    assert!(asked.elapsed() < Duration::from_mins(1), "{:?}", asked.elapsed());
}

#[test]
fn a_signal_during_the_target_probe_exits_with_a_message() {
    for command in [
        &["-s", "aimd", "--ops", "5"][..],
        &["compare", "--strategies", "aimd,none", "--ops", "5"],
        &["sweep", "--strategies", "aimd", "--vary", "ops=1,2"],
    ] {
        let (listener, url) = silent();
        let run = start_loadgen(&[command, &["--target", &url, "--arrivals", "burst"]].concat());
        // The request has been sent.
        let _asked = listener.accept().unwrap();
        ends_early(run, Signal::INT, "SIGINT", 130);
    }
}

#[test]
fn a_signal_while_arguments_are_read_exits_with_a_message() {
    for (signal, name, code) in
        [(Signal::INT, "SIGINT", 130), (Signal::TERM, "SIGTERM", 143), (Signal::HUP, "SIGHUP", 129)]
    {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)
            .unwrap();
        let token = format!("@{}", pipe.display());
        let run = start_loadgen(&["--target", "http://127.0.0.1:1/", "--admin-token", &token]);
        // Opening the pipe blocks until the other side reads.
        let _unwritten = OpenOptions::new().write(true).open(&pipe).unwrap();
        ends_early(run, signal, name, code);
    }
}
