//! The lower bound over HTTP equals the one in virtual time, and no run is faster.

use crate::support::{count, figure, loadgen, measure};

#[test]
fn over_http_the_bound_is_that_of_virtual_time_and_holds() {
    let random = [
        "--service-time",
        "exp(200ms)",
        "--network-delay",
        "normal(20ms,5ms)",
        "--return-delay",
        "exp(30ms)",
    ];
    let constant = ["--service-time", "200ms", "--return-delay", "10ms"];
    for (strategy, load, server) in [
        ("aimd", &["--rate", "200/s"][..], &random[..]),
        ("full-jitter:base=10ms,cap=2s", &["--arrivals", "burst"], &random),
        ("oracle", &["--arrivals", "uniform", "--rate", "100/s"], &constant),
        ("immediate", &["--in-flight", "7"], &random),
        ("aimd", &["--in-flight", "30", "--clients", "3"], &constant),
    ] {
        let args = [&["-s", strategy, "--ops", "120", "--max-busy", "10"][..], load, server].concat();
        let over_http = measure(&[&args[..], &["--time-scale", "0.2"]].concat());
        let simulated = measure(&[&args[..], &["--simulate"]].concat());
        assert_eq!(count(&over_http, "/ops/succeeded"), 120);
        assert_eq!(over_http["optimal_makespan_s"], simulated["optimal_makespan_s"], "{args:?}");
        let bound = figure(&over_http, "/optimal_makespan_s");
        assert!(bound > 0.5 && figure(&over_http, "/makespan_s") >= bound, "{args:?}: {bound}");
    }
}

/// With `--explain` it states that none is known.
#[test]
fn the_summary_shows_the_lower_bound_if_one_is_known() {
    let run = |args: &[&str]| loadgen(&[&["--simulate", "-s", "aimd"], args].concat()).exits(0).stdout;
    let known = run(&[]);
    assert!(known.contains("done in 25.2 s (no client can be faster than 20.1 s)"), "{known}");
    let unknown = run(&["--in-flight", "10", "--duration", "2s"]);
    assert!(!unknown.contains("no client can be faster") && !unknown.contains("nan"), "{unknown}");
    let explained = run(&["--in-flight", "10", "--duration", "2s", "--explain"]);
    assert!(explained.contains("no lower bound known"), "{explained}");
    let undone = run(&["--max-attempts", "1"]);
    assert!(!undone.contains("no client can be faster"), "a client that gives up ends early: {undone}");
}
