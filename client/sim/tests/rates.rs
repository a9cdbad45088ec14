//! Convergence of clients to a server's rate algorithm: overshoot, and time until they use it fully. All is exact with seed 1.

use loadgen_core::{ArrivalProcess, OperationKind, RateFigures, Run, RunConfig, Workload};
use loadgen_sim::{Simulation, Steer, rate_law};
use mockserver_core::Config;
use tailback::StrategySpec;

/// Runs 1000 ops at 200/s against this policy, with 500 ms of service and 100 ms of network. Returns the rate figures, the
/// overshoot over a cap and the number of rejections.
fn figures(strategy: &str, policy: &str) -> (Option<RateFigures>, Option<f64>, u64) {
    let server = Config { policy: policy.parse().unwrap(), ..Config::default() };
    let workload = Workload {
        arrivals: ArrivalProcess::Uniform { rate_per_s: 200.0 },
        ops: Some(1000),
        ..Workload::default()
    };
    let config = RunConfig { workload, ..RunConfig::default() };
    let spec: StrategySpec = strategy.parse().unwrap();
    let mut client = Run::new(config, |_| spec.build(1, None), None).unwrap();
    client.follow_law(rate_law(&server));
    let run = Simulation::new(client, OperationKind::Request, 1, server).run(|_, _| Steer::On).run;
    let measured = run.measurements();
    (measured.rate_figures(), measured.window_figures().overshoot, measured.attempts.rejected)
}

/// Its goodput soon converges to the rate.
#[test]
fn a_client_within_the_rate_never_overshoots_it() {
    for policy in ["token-bucket:rate=100/s,burst=10", "gcra:rate=100/s,burst=10"] {
        let (figures, _, rejected) = figures("token-bucket:rate=100,burst=1", policy);
        let figures = figures.unwrap();
        assert_eq!((figures.law_per_s, figures.overshoot, rejected), (Some(100.0), 0, 0), "{policy}");
        // Successes begin 600 ms after the first arrival. The rate is that of the last 600 ms, where 54 successes are near enough
        // to 60.
        let after = figures.convergence_s.unwrap();
        assert!((1.1..=1.2).contains(&after), "{policy}: {after}");
    }
}

#[test]
fn a_client_at_twice_the_rate_overshoots_by_the_surplus() {
    let (figures, cap, rejected) = figures("none:max-attempts=1", "token-bucket:rate=100/s,burst=10");
    let figures = figures.unwrap();
    // 1000 requests arrive in 4.995 s; the bucket admits 10 and 499 more.
    assert_eq!((figures.overshoot, rejected, cap), (491, 491, None));
    // Half of the arrivals pass at the algorithm's own rate, although the first ten passed in addition.
    assert!(figures.convergence_s.is_some(), "{figures:?}");
}

#[test]
fn a_slower_client_never_converges_and_windows_have_no_rate() {
    let slow = figures("token-bucket:rate=80", "gcra:rate=100/s,burst=10").0.unwrap();
    assert_eq!((slow.convergence_s, slow.overshoot), (None, 0));
    let windows = figures("none:max-attempts=1", "fixed-window:limit=100,window=1s").0.unwrap();
    // As far as the client can observe, two windows may meet at the start of the run; from then on 100/s, so by the end 600 of
    // 1000.
    assert_eq!((windows.law_per_s, windows.convergence_s, windows.overshoot), (None, None, 400));
}

#[test]
fn without_a_single_rate_limit_no_rate_figures_are_reported() {
    for policy in ["concurrency-cap", "gcra:key=address", "gcra then concurrency:cap=5"] {
        assert_eq!(figures("full-jitter", policy).0, None, "{policy}");
    }
}
