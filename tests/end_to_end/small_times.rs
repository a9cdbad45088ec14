//! Time that the machine adds to attempts is measured, and reported if it is large relative to the service time.

use serde_json::Value;

use crate::support::{count, figure, loadgen};

fn warns(result: &Value) -> bool {
    let warnings = result["warnings"].as_array().unwrap();
    warnings.iter().any(|warning| warning.as_str().unwrap().contains("of the mean service time"))
}

/// Short means a few milliseconds. In virtual time there is no warning.
#[test]
fn a_machine_too_slow_for_short_service_times_is_reported() {
    let args = [
        "--strategy",
        "aimd",
        "--ops",
        "1500",
        "--rate",
        "1500/s",
        "--max-busy",
        "10",
        "--service-time",
        "5ms",
        "--reject-time",
        "1ms",
        "--network-delay",
        "2ms",
        "--no-tui",
        "--explain",
        "--json",
        "-",
    ];
    let left = loadgen(&args).exits(0);
    let result = left.json();
    // A fast machine adds little, and causes no warning.
    let much = figure(&result, "/generator/excess_ms/of_service") > 0.03;
    assert_eq!(warns(&result), much, "{}", result["generator"]);
    if much {
        left.says(&["mean service time", "`--time-scale`", "`--simulate`"]);
    }

    let simulated = loadgen(&[&args[..], &["--simulate"]].concat()).exits(0).json();
    assert!(simulated["generator"]["excess_ms"]["mean"].is_null(), "{}", simulated["generator"]);
    assert!(!warns(&simulated));
}

#[test]
fn time_in_server_and_network_is_no_excess() {
    // Queues, rejections, random times and both halves of conditional writes are simulated by the server.
    let server =
        ["--service-time", "exp(300ms)", "--network-delay", "uniform(20ms,80ms)", "--max-busy", "20"];
    let others: [&[&str]; 2] = [
        &["--strategy", "full-jitter", "--kind", "read-modify-write", "--ops", "15"],
        &["--strategy", "aimd", "--ops", "150"],
    ];
    for other in others {
        let args =
            [&server[..], other, &["--rate", "150/s", "--return-delay", "40ms", "--json", "-", "--quiet"]];
        let result = loadgen(&args.concat()).exits(0).json();
        let (excess, latency) =
            (figure(&result, "/generator/excess_ms/p50"), figure(&result, "/attempt_latency_ms/mean"));
        assert!(excess * 4.0 < latency, "{excess} of {latency} ms");
        let much = figure(&result, "/generator/excess_ms/of_service") > 0.03;
        let judged = count(&result, "/attempt_latency_ms/count") >= 100;
        assert_eq!(warns(&result), much && judged, "{}", result["generator"]);
    }
}
