//! Hedged attempts over HTTP: counts of sent, cancelled and served copies match on both sides.

use crate::support::{MockServer, assert_conserved, count, eventually, figure, loadgen, measure};

/// A load whose attempts time out only after a minute. Its server loses a tenth of the messages.
const LOSSY: &[&str] = &["--ops", "200", "--rate", "100/s", "--timeout", "1m", "--seed", "7"];

#[test]
fn lost_messages_cost_a_copy_and_not_a_timeout() {
    let server = MockServer::start(&["--loss", "0.1", "--service-time", "20ms", "--network-delay", "0"]);
    let url = server.url();
    let hedged = ["--target", &url, "--strategy", "none+hedging:delay=300ms,copies=4"];
    let result = measure(&[LOSSY, &hedged].concat());
    assert_conserved(&result);
    assert_eq!(count(&result, "/ops/succeeded"), 200);
    let [sent, duplicates, cancelled] =
        ["total", "duplicates", "cancelled"].map(|key| count(&result, &format!("/attempts/{key}")));
    // All further attempts were sent while another was in flight, and all of them were cancelled: lost ones, and those that came second.
    assert_eq!((sent - 200, sent - 200), (duplicates, cancelled), "{}", result["attempts"]);
    assert!(duplicates >= 20, "of 200 messages and their answers a tenth is lost: {duplicates}");
    assert!(figure(&result, "/op_latency_ms/max") < 10_000.0, "{}", result["op_latency_ms"]);
    eventually("nothing is held", || (count(&server.stats(), "/busy") == 0).then_some(()));
}

#[test]
fn both_drivers_send_as_many_copies_to_an_idle_server() {
    let strategy =
        ["--strategy", "none+hedging:delay=1s,copies=2", "--loss", "0.1", "--service-time", "20ms"];
    let counts = |more: &[&str]| {
        let result = measure(&[LOSSY, &strategy, more].concat());
        assert_conserved(&result);
        ["total", "succeeded", "duplicates", "cancelled"]
            .map(|key| count(&result, &format!("/attempts/{key}")))
    };
    // One second is long enough for all messages that are not lost, even on a busy machine.
    assert_eq!(counts(&["--simulate", "--network-delay", "0"]), counts(&["--network-delay", "0"]));
}

/// The reason is printed.
#[test]
fn an_op_that_spins_at_one_virtual_instant_is_stopped() {
    let server = ["--max-busy", "1", "--service-time", "lognormal(3ms,1)", "--rejects-occupy", "false"];
    let no_time = ["--network-delay", "0s", "--reject-time", "0s", "--delay-noise", "0"];
    let load = ["--simulate", "--ops", "20", "--rate", "100/s", "--arrivals", "uniform", "--seed", "856734"];
    for strategy in ["immediate", "immediate+hedging:delay=30ms"] {
        let left = loadgen(&[&server[..], &no_time, &load, &["-s", strategy, "--explain"]].concat()).exits(0);
        let words = left.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("10 001 consecutive tries failed at one instant: network"), "{words}");
        assert!(words.contains("set `--network-delay`, `--delay-noise` or `--reject-time`"), "{words}");
        let result = measure(&[&server[..], &no_time, &load, &["-s", strategy]].concat());
        // Without copies a try is one attempt. With the defaults of hedging it is up to four.
        assert!(count(&result, "/attempts/total") <= 40_100, "{}", result["attempts"]);
        assert_conserved(&result);
    }
}
