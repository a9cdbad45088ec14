//! Measurements of a run. Their use of memory does not grow with the length of the run.

mod advice;
mod bars;
mod bins;
mod counts;
mod exact;
mod excess;
mod fairness;
mod given_up;
pub mod histogram;
mod latencies;
mod measurements;
mod rate_course;
mod series;
mod tally;
mod window_course;

pub use advice::{AdviceFigures, EarlyFigures};
pub use bars::LatencyBar;
pub use bins::{Bin, Bins};
pub use counts::{AttemptCounts, OpCounts};
pub use exact::EXACT_LATENCIES;
pub use excess::{Excess, ExcessFigures, TOLERABLE_EXCESS};
pub use fairness::FairnessFigures;
pub use given_up::{GivenUp, GivenUpCounts};
pub use latencies::{Latencies, LatencyFigures};
pub use measurements::{Measurements, RATE_LIMIT, REMAINING};
pub use rate_course::{RateFigures, RateLaw, SteadyRate};
pub use series::{DrawnGauge, Gauge, Point, SERIES_POINTS, Series};
pub use tally::LatencySums;
pub use window_course::WindowFigures;
