//! What a run looks like at one moment, for whoever draws it. Percentiles are computed by the drawer.

use std::time::Duration;

use hdrhistogram::Histogram;
use tailback::Gauges;
use vocabulary::{Instant, LimitsTold};

use crate::cause::FailureCounts;
use crate::measure::{AttemptCounts, Excess, Latencies, OpCounts, Series};

/// What a run is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Ops are still arriving.
    #[default]
    Arriving,
    /// All ops have arrived; the rest is worked off.
    Finishing,
    /// Asked to stop: nothing more is sent.
    Stopping,
    /// Over.
    Done,
}

/// A copy of what is measured, cheap enough to take ten times a second.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Experiment time of the copy.
    pub now: Instant,
    /// What the run is doing.
    pub phase: Phase,
    /// The first op's arrival.
    pub first_arrival: Option<Instant>,
    /// Ops that will arrive in all, when that is known.
    pub planned_ops: Option<u64>,
    /// How long ops go on arriving, when that is limited.
    pub planned_duration: Option<Duration>,
    /// What any client needs at least for all planned ops: a lower bound, where one is proven.
    pub optimal_makespan: Option<Duration>,
    /// Whether nothing was met that such a bound is not proven for: another cap, answers of a gateway.
    pub bound_holds: bool,
    /// Ops so far.
    pub ops: OpCounts,
    /// Attempts so far.
    pub attempts: AttemptCounts,
    /// What attempts that failed came to.
    pub failures: FailureCounts,
    /// Attempts in flight.
    pub in_flight: u64,
    /// Ops that could be sent now.
    pub ready: u64,
    /// Ops that wait for their back-off to end.
    pub sleeping: u64,
    /// The strategy's inner state: sums of windows over clients, phase and reason of the first client.
    pub gauges: Gauges,
    /// Slots busy at the server and its cap, as its latest answer told.
    pub server_busy: Option<u64>,
    /// See `server_busy`.
    pub server_cap: Option<u64>,
    /// Where the limits of its policies stood for the latest request of which that was told.
    pub limits: LimitsTold,
    /// From an op's arrival to its success.
    pub op_latency: Latencies,
    /// The generator's own delay.
    pub send_lag: Latencies,
    /// Of all attempts that got an answer or failed.
    pub attempt_latency: Latencies,
    /// What attempts took beyond what the server reckons.
    pub excess: Excess,
    /// Attempts per op that ended.
    pub attempts_per_op: Histogram<u64>,
    /// Over time.
    pub series: Series,
}

impl Default for Snapshot {
    fn default() -> Self {
        let blank = crate::Measurements::default();
        Self {
            now: Instant::ORIGIN,
            phase: Phase::default(),
            first_arrival: None,
            planned_ops: None,
            planned_duration: None,
            optimal_makespan: None,
            bound_holds: true,
            ops: blank.ops,
            attempts: blank.attempts,
            failures: blank.failures,
            in_flight: 0,
            ready: 0,
            sleeping: 0,
            gauges: Gauges::default(),
            server_busy: None,
            server_cap: None,
            limits: LimitsTold::default(),
            op_latency: blank.op_latency,
            send_lag: blank.send_lag,
            attempt_latency: Latencies::default(),
            excess: blank.excess,
            attempts_per_op: blank.attempts_per_op,
            series: blank.series,
        }
    }
}
