//! What strategies are ranked by, as it is typed.

use clap::ValueEnum;

/// A figure that strategies are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Score {
    /// Time from the first arrival to the last success.
    Makespan,
    /// Attempts sent.
    Attempts,
    /// Mean op latency.
    Mean,
    /// Median op latency.
    P50,
    /// 95th percentile of op latency.
    P95,
    /// 99th percentile of op latency.
    P99,
    /// Longest op latency.
    Max,
}
