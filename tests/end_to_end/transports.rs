//! Sending of attempts: the available transports, several threads, and HTTP/2 streams.

use serde_json::Value;

use crate::support::{MockServer, assert_conserved, count, loadgen};

fn run(server: &MockServer, flags: &[&str]) -> Value {
    let common = ["--strategy", "aimd", "--ops", "300", "--rate", "3000/s", "--no-tui", "--json", "-"];
    let target = server.url();
    let result = loadgen(&[&["--target", &target][..], &common, flags].concat()).exits(0).json();
    assert_conserved(&result);
    assert_eq!(count(&result, "/ops/succeeded"), 300, "{flags:?}");
    assert_eq!(count(&result, "/attempts/failed"), 0, "{flags:?}");
    result
}

#[test]
fn every_transport_does_the_same_work_and_says_which_it_was() {
    let server =
        MockServer::start(&["--service-time", "5ms", "--reject-time", "1ms", "--network-delay", "1ms"]);
    for (flags, name, threads) in [
        (&["--transport", "hyper"][..], "hyper", 1),
        (&["--transport", "reqwest"], "reqwest", 1),
        (&["--http2"], "hyper-http2", 1),
        (&["--http2", "--http2-connections", "3", "--threads", "2"], "hyper-http2", 2),
        (&["--transport", "hyper", "--threads", "3"], "hyper", 3),
    ] {
        let result = run(&server, flags);
        assert_eq!(result["config"]["transport"]["name"], name);
        assert_eq!(result["config"]["transport"]["threads"], threads);
        if let ["--http2", ..] = flags {
            let connections = if flags.len() > 1 { 6 } else { 1 };
            assert_eq!(count(&result, "/generator/connections"), connections, "{flags:?}");
        }
    }
}

#[test]
fn attempts_beyond_the_stream_limit_wait_and_are_counted() {
    let server =
        MockServer::start(&["--http2-max-streams", "5", "--service-time", "5ms", "--network-delay", "0"]);
    let flags =
        ["--http2", "--strategy", "none", "--in-flight", "40", "--ops", "400", "--no-tui", "--json", "-"];
    let result = loadgen(&[&["--target", &server.url()][..], &flags].concat()).exits(0).json();
    assert_conserved(&result);
    assert_eq!((count(&result, "/ops/succeeded"), count(&result, "/attempts/total")), (400, 400));
    assert!(count(&result, "/generator/waited_for_connection") >= 350, "{}", result["generator"]);
    // Five concurrent streams on one connection: the server never accepted more.
    assert_eq!(count(&result, "/generator/connections"), 1);
    assert!(count(&result, "/server/max_accepted_seen") <= 5, "{}", result["server"]);
}

#[test]
fn a_transport_that_lacks_a_requested_feature_is_refused() {
    loadgen(&["--http2", "--transport", "reqwest", "--ops", "1"])
        .exits(2)
        .says(&["only HTTP/1.1", "--http2"]);
    loadgen(&["--simulate", "--http2", "--ops", "1"]).exits(2);
    loadgen(&["--transport", "carrier-pigeon", "--ops", "1"]).exits(2).says(&["hyper", "reqwest"]);
}

#[test]
fn connections_come_from_the_given_addresses() {
    let accepted = |flags: &[&str]| {
        // Every address gets 8 requests, and the next one after an hour.
        let server = MockServer::start(&["--policy", "gcra:rate=1/1h,burst=8,key=address"]);
        let common = ["--strategy", "none", "--in-flight", "40", "--ops", "40", "--no-tui", "--json", "-"];
        let result = loadgen(&[&["--target", &server.url()][..], &common, flags].concat()).json();
        assert_conserved(&result);
        count(&result, "/ops/succeeded")
    };
    let three = ["--local-address", "127.0.0.2,127.0.0.3", "--local-address", "127.0.0.4"];
    for transport in ["hyper", "reqwest"] {
        assert_eq!(accepted(&["--transport", transport, "--local-address", "127.0.0.2"]), 8, "{transport}");
    }
    assert_eq!(accepted(&[&three[..], &["--transport", "hyper"]].concat()), 24);
    assert_eq!(accepted(&[&three[..], &["--http2", "--http2-connections", "3"]].concat()), 24);
    assert_eq!(accepted(&[]), 8);
}

#[test]
fn addresses_that_nothing_can_come_from_are_refused() {
    let refused = |flags: &[&str], words: &[&str]| {
        loadgen(&[&["--strategy", "none", "--ops", "1", "--no-tui"][..], flags].concat())
            .exits(2)
            .says(words);
    };
    refused(&["--local-address", "192.0.2.1"], &["192.0.2.1", "--local-address"]);
    refused(&["--local-address", "localhost"], &["localhost", "127.0.0.2"]);
    refused(&["--local-address", "127.0.0.2", "--simulate"], &["--local-address"]);
    refused(
        &["--local-address", "127.0.0.2,127.0.0.3", "--transport", "reqwest"],
        &["one source address", "--transport hyper"],
    );
}
