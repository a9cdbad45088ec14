//! Measurements of a run. Their use of memory does not grow with the length of the run.

mod bars;
mod bins;
mod convergence;
mod counts;
mod fairness;
pub mod histogram;
mod latencies;
mod measurements;
mod radix;
mod rate_course;
mod series;
mod tally;
mod window_course;

pub use bars::LatencyBar;
pub use bins::{Bin, Bins};
pub use counts::{
    AdviceFigures, AttemptCounts, EarlyFigures, Excess, ExcessFigures, GivenUp, GivenUpCounts, OpCounts,
    TOLERABLE_EXCESS,
};
pub use fairness::FairnessFigures;
pub use latencies::{EXACT_LATENCIES, Latencies, LatencyFigures};
pub use measurements::{Measurements, RATE_LIMIT, REMAINING};
pub use rate_course::{RateFigures, RateLaw, SteadyRate};
pub use series::{DrawnGauge, Gauge, Point, SERIES_POINTS, Series};
pub use tally::LatencySums;
pub use window_course::WindowFigures;
