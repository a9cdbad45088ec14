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
    /// Over time, to the tenth.
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
];

#[test]
fn controllers_come_to_what_they_are_known_for() {
    let mut wrong = Vec::new();
    for row in ROWS {
        let spec: StrategySpec = row.strategy.parse().expect("the strategy is well written");
        let config = RunConfig { seed: 1, ..RunConfig::default() };
        let run = Run::new(config, |_| spec.build(1, None), None).expect("the parameters are in range");
        let server = Config::default();
        assert!((f64::from(server.max_busy) - CAP).abs() < f64::EPSILON);
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
        if came_to != wanted {
            wrong.push(format!("{}: {came_to:?} instead of {wanted:?}", row.strategy));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
