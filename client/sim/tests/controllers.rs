//! Concurrency controllers of other clients on the seed's server, their windows held against its cap.
//!
//! Sync Musings, "Improve on exponential backoff": 2000 ops at 1000/s, 50 slots, 500 ms of service, rejections that hold a slot for
//! 50 ms, 100 ms of network. An attempt takes 600 ms, a rejection 150, and nothing ever queues, so round trips tell of rejections
//! only. All is exact with seed 1; who changes a rule on purpose writes down what it now comes to.

use loadgen_core::{OperationKind, Run, RunConfig};
use loadgen_sim::{Simulation, Steer};
use mockserver_core::Config;
use tailback::StrategySpec;

/// The cap that windows should find.
const CAP: f64 = 50.0;

/// What a controller comes to.
struct Row {
    strategy: &'static str,
    attempts: u64,
    /// To the tenth; the least possible is 20.1.
    makespan_s: f64,
    /// Over time, to the tenth; no number where there is no window.
    mean_window: f64,
    /// Whether it ever stays within a tenth of the cap for the time of five attempts.
    fits: bool,
}

const fn row(strategy: &'static str, attempts: u64, makespan_s: f64, mean_window: f64, fits: bool) -> Row {
    Row { strategy, attempts, makespan_s, mean_window, fits }
}

const ROWS: &[Row] = &[
    // Every rejection of a burst cuts, and each success adds one: 20 to 70, again and again.
    row("netflix-aimd", 2752, 24.6, 33.0, false),
    // One more a second: it has just come to the cap when the last op ends.
    row("netflix-aimd:windowed=true", 2000, 36.0, 34.0, true),
    // A rejection is the shortest round trip, so work looks like a queue: 8, until a probe falls on work.
    row("netflix-vegas", 2476, 70.8, 18.0, false),
    row("netflix-vegas:windowed=true", 2266, 28.2, 44.5, true),
    // It begins at 50, as if it knew.
    row("netflix-gradient", 2521, 24.0, 53.3, true),
    row("netflix-gradient:initial=10", 2393, 29.4, 42.9, true),
    row("netflix-gradient:windowed=false", 2056, 137.4, 9.0, false),
    // Rejections are no reason to shrink: it goes through the cap, to 200 if there is time.
    row("netflix-gradient2", 2000, 38.4, 31.6, false),
    row("netflix-gradient2:windowed=false", 22_453, 25.2, 180.9, false),
    // A 503 is a drop to the host's limiter, and nothing to the endpoint's.
    row("palantir", 2003, 30.6, 39.5, true),
    row("palantir:variant=endpoint", 2544, 30.6, 43.2, true),
    row("palantir:variant=sticky", 2772, 30.6, 44.7, true),
    // From one attempt to 50, one per round trip: half of the time is that.
    row("vector-arc", 2008, 40.2, 29.9, true),
    row("vector-arc:initial=40", 2012, 27.0, 45.0, true),
    // What was sent before a cut is no news. Halving costs most where the cap stays.
    row("new-reno", 2032, 31.8, 36.8, true),
    row("new-reno:beta=0.9", 2085, 25.8, 46.0, true),
    row("cubic", 2049, 28.8, 40.6, true),
    row("cubic:beta=0.9", 2078, 26.4, 45.7, true),
    // A cut starts from what was in flight when the rejected attempt was sent, and sends are evenly spaced. So attempts of 600 ms keep 50
    // slots of 500 ms busy with 60 in flight: 59.3 is right, but more than a tenth above the cap.
    row("tailback", 2054, 21.3, 59.3, false),
    // Blind to rejections, and nothing gets slower: it goes to its greatest window.
    row("envoy-gradient", 90_042, 31.7, 624.0, false),
    row("envoy-gradient:samples=successes", 85_292, 31.6, 599.3, false),
    // Successes come in bursts, so the greatest rate is a fifth too high; the window is twice what that makes.
    row("bbr", 2746, 25.7, 108.5, false),
    row("bbr:latency=mean", 2747, 23.6, 119.1, false),
    // Once it sheds, it judges nothing any more; half a second sees nothing of attempts that take longer.
    row("s3-hill-climb", 3740, 24.6, 60.4, false),
    row("s3-hill-climb:used=tried,interval=2s,start-interval=1s", 2672, 29.4, 44.2, true),
    // Rates have no window. The cap is 83 per second.
    row("token-bucket", 2000, 398.6, f64::NAN, false),
    row("token-bucket:rate=80", 2000, 25.5, f64::NAN, false),
    row("least-gap", 2000, 500.4, f64::NAN, false),
    row("least-gap:gap=12ms", 2000, 24.6, f64::NAN, false),
    // From 0.5 per second at its first rejection it comes to 41 in a minute.
    row("aws-adaptive", 2185, 74.7, f64::NAN, false),
    row("aws-adaptive:costs=older", 2176, 2413.1, f64::NAN, false),
];

/// Where latencies vary by themselves, the least one is no measure: the same server with services of 500 ms in the mean.
const VARYING: &[Row] =
    &[row("bbr", 2000, 298.1, 4.3, false), row("bbr:latency=mean", 2757, 24.2, 123.4, false)];

/// What a row's strategy comes to on this server, if that is something else.
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
fn controllers_come_to_what_they_are_known_for() {
    let server = Config::default();
    assert!((f64::from(server.max_busy) - CAP).abs() < f64::EPSILON);
    let wrong: Vec<String> = ROWS.iter().filter_map(|row| differs(row, server.clone())).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_least_latency_is_no_measure_where_latencies_vary_by_themselves() {
    let service_time = "exp(500ms)".parse().expect("it is a distribution");
    let server = Config { service_time, ..Config::default() };
    let wrong: Vec<String> = VARYING.iter().filter_map(|row| differs(row, server.clone())).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
