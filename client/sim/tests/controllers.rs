//! Concurrency controllers of other clients on the seed's server, with their windows compared with its cap.
//!
//! Sync Musings, "Improve on exponential backoff": 2000 ops at 1000/s, 50 slots, 500 ms of service, rejections that hold a slot
//! for 50 ms, 100 ms of network. An attempt takes 600 ms and a rejection 150 ms. Nothing ever queues, so only rejections change
//! round trips. All values are exact with seed 1; a deliberate change of a rule updates them.

use loadgen_core::{OperationKind, Run, RunConfig};
use loadgen_sim::{Simulation, Steer};
use mockserver_core::Config;
use tailback::StrategySpec;

/// Cap that the windows should find.
const CAP: f64 = 50.0;

struct Row {
    strategy: &'static str,
    attempts: u64,
    /// In seconds, to a tenth; the least possible is 20.1.
    makespan_s: f64,
    /// Mean over time, to a tenth; NaN without a window.
    mean_window: f64,
    /// True if the window ever stays within a tenth of the cap for the duration of five attempts.
    fits: bool,
}

const fn row(strategy: &'static str, attempts: u64, makespan_s: f64, mean_window: f64, fits: bool) -> Row {
    Row { strategy, attempts, makespan_s, mean_window, fits }
}

const ROWS: &[Row] = &[
    // Every rejection of a burst cuts and each success adds one, so the window swings between 20 and 70.
    row("netflix-aimd", 2752, 24.6, 33.0, false),
    // The window grows by one per second and has just reached the cap when the last op ends.
    row("netflix-aimd:windowed=true", 2000, 36.0, 34.0, true),
    // A rejection is the shortest round trip, so work looks like a queue. The window stays at 8 until a probe falls on work.
    row("netflix-vegas", 2476, 70.8, 18.0, false),
    row("netflix-vegas:windowed=true", 2266, 28.2, 44.5, true),
    // The initial window is 50, the cap itself.
    row("netflix-gradient", 2521, 24.0, 53.3, true),
    row("netflix-gradient:initial=10", 2393, 29.4, 42.9, true),
    row("netflix-gradient:windowed=false", 2056, 137.4, 9.0, false),
    // Rejections do not shrink the window, so it passes the cap and reaches 200 if there is time.
    row("netflix-gradient2", 2000, 38.4, 31.6, false),
    row("netflix-gradient2:windowed=false", 22_453, 25.2, 180.9, false),
    // A 503 is a drop for the host's limiter and is ignored by the endpoint's.
    row("palantir", 2003, 30.6, 39.5, true),
    row("palantir:variant=endpoint", 2544, 30.6, 43.2, true),
    row("palantir:variant=sticky", 2772, 30.6, 44.7, true),
    // The window grows from 1 to 50, by one per round trip, which takes half of the time.
    row("vector-arc", 2008, 40.2, 29.9, true),
    row("vector-arc:initial=40", 2012, 27.0, 45.0, true),
    // Rejections of attempts sent before a cut are ignored. Halving costs most with a constant cap.
    row("new-reno", 2032, 31.8, 36.8, true),
    row("new-reno:beta=0.9", 2085, 25.8, 46.0, true),
    row("cubic", 2049, 28.8, 40.6, true),
    row("cubic:beta=0.9", 2078, 26.4, 45.7, true),
    // A cut starts from the number in flight when the rejected attempt was sent, and sends are evenly spaced. So attempts of 600
    // ms keep 50 slots of 500 ms busy with 60 in flight: 59.3 is right, but more than a tenth above the cap.
    row("tailback", 2054, 21.3, 59.3, false),
    // Ignores rejections, and nothing gets slower, so the window reaches its maximum.
    row("envoy-gradient", 90_042, 31.7, 624.0, false),
    row("envoy-gradient:samples=successes", 85_292, 31.6, 599.3, false),
    // Successes come in bursts, so the maximum rate is a fifth too high; the window is twice the product of rate and latency.
    row("bbr", 2746, 25.7, 108.5, false),
    row("bbr:latency=mean", 2747, 23.6, 119.1, false),
    // While it sheds, it makes no decisions, and an interval of half a second sees nothing of attempts that take longer.
    row("s3-hill-climb", 3740, 24.6, 60.4, false),
    row("s3-hill-climb:used=tried,interval=2s,start-interval=1s", 2672, 29.4, 44.2, true),
    // Rate limiters have no window. The cap corresponds to 83 per second.
    row("token-bucket", 2000, 398.6, f64::NAN, false),
    row("token-bucket:rate=80", 2000, 25.5, f64::NAN, false),
    row("least-gap", 2000, 500.4, f64::NAN, false),
    row("least-gap:gap=12ms", 2000, 24.6, f64::NAN, false),
    // The rate grows from 0.5 per second at the first rejection to 41 in a minute.
    row("aws-adaptive", 2185, 74.7, f64::NAN, false),
    row("aws-adaptive:costs=older", 2176, 2413.1, f64::NAN, false),
];

/// With latencies that vary by themselves, the minimum is no useful measure: the same server with a mean service time of 500 ms.
const VARYING: &[Row] =
    &[row("bbr", 2000, 298.1, 4.3, false), row("bbr:latency=mean", 2757, 24.2, 123.4, false)];

/// Runs the row's strategy on this server and describes the result if it differs from the row.
fn differs(row: &Row, server: Config) -> Option<String> {
    let spec: StrategySpec = row.strategy.parse().expect("the strategy is well written");
    let config = RunConfig { seed: 1, ..RunConfig::default() };
    let run = Run::new(config, |_| spec.build(1, None), None).expect("the parameters are in range");
    let finished = Simulation::new(run, OperationKind::Request, 1, server).run(|_, _| Steer::On);
    assert!(finished.run.conservation(Some(&finished.server.counts)).holds(), "{}", row.strategy);
    let measured = finished.run.measurements();
    let window = measured.window_figures();
    let tenth = |value: f64| format!("{value:.1}");
    let makespan_s = measured.makespan().map_or(f64::NAN, |time| time.as_secs_f64());
    let came_to = (
        measured.ops.succeeded,
        measured.attempts.total,
        tenth(makespan_s),
        tenth(window.mean.unwrap_or(f64::NAN)),
        window.convergence_s.is_some(),
    );
    let wanted = (2000, row.attempts, tenth(row.makespan_s), tenth(row.mean_window), row.fits);
    (came_to != wanted).then(|| format!("{}: {came_to:?} instead of {wanted:?}", row.strategy))
}

#[test]
fn controllers_reproduce_their_known_results() {
    let server = Config::default();
    assert!((f64::from(server.max_busy) - CAP).abs() < f64::EPSILON);
    let wrong: Vec<String> = ROWS.iter().filter_map(|row| differs(row, server.clone())).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_minimum_latency_misleads_with_random_service_times() {
    let service_time = "exp(500ms)".parse().expect("it is a distribution");
    let server = Config { service_time, ..Config::default() };
    let wrong: Vec<String> = VARYING.iter().filter_map(|row| differs(row, server.clone())).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
