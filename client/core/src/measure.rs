//! What is measured of a run, in memory that does not grow with its length.

mod latencies;
mod measurements;
mod series;

pub use latencies::{Latencies, LatencyFigures};
pub use measurements::{AttemptCounts, Measurements, OpCounts};
pub use series::{Gauge, Point, SERIES_POINTS, Series};
