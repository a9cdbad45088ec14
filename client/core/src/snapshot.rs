//! State of a run at one moment, for display. Percentiles are computed by the display.

use std::time::Duration;

use hdrhistogram::Histogram;
use tailback::Gauges;
use vocabulary::Instant;
use wire::AdvertisedLimits;

use crate::cause::FailureCounts;
use crate::measure::{AttemptCounts, Excess, Latencies, OpCounts, Series};
use crate::run::AdvisedWait;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    #[default]
    Arriving,
    Finishing,
    Stopping,
    Done,
}

/// Copy of a run's measurements. A copy is cheap enough to be taken ten times per second.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub now: Instant,
    pub phase: Phase,
    pub first_arrival: Option<Instant>,
    pub planned_ops: Option<u64>,
    pub planned_duration: Option<Duration>,
    pub optimal_makespan: Option<Duration>,
    /// Whether the lower bound on the makespan still holds. It no longer holds once an answer reported another cap, or
    /// once a gateway answered.
    pub bound_holds: bool,
    pub ops: OpCounts,
    pub attempts: AttemptCounts,
    pub failures: FailureCounts,
    pub in_flight: u64,
    pub ready: u64,
    pub sleeping: u64,
    /// Number of ops that wait long because a server advised it, and the wait that ends last.
    pub advised_waits: Option<(u64, AdvisedWait)>,
    /// Number of attempts that were sent although the server had asked their client to wait.
    pub early_shared: u64,
    /// Gauges of the strategies. Windows are summed over all clients. Phase and reason are those of the first client.
    pub gauges: Gauges,
    pub server_busy: Option<u64>,
    pub server_cap: Option<u64>,
    /// State of the server's limits, as reported by the latest answer that reported limits.
    pub limits: AdvertisedLimits,
    pub op_latency: Latencies,
    pub send_lag: Latencies,
    pub attempt_latency: Latencies,
    pub excess: Excess,
    pub attempts_per_op: Histogram<u64>,
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
            advised_waits: None,
            early_shared: 0,
            gauges: Gauges::default(),
            server_busy: None,
            server_cap: None,
            limits: AdvertisedLimits::default(),
            op_latency: blank.op_latency,
            send_lag: blank.send_lag,
            attempt_latency: Latencies::default(),
            excess: blank.excess,
            attempts_per_op: blank.attempts_per_op,
            series: blank.series,
        }
    }
}
