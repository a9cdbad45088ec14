//! Input of the dashboard for several strategies side by side, one lane each.

use std::time::Duration;

use crate::Frame;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LanesHeader {
    pub title: String,
    pub workload: String,
    pub target: String,
    /// Wall time divided by experiment time; shown when it is not 1.
    pub time_scale: f64,
}

#[derive(Clone, Debug, Default)]
pub struct Lanes {
    pub stage: String,
    /// Wall time since the start.
    pub elapsed: Duration,
    pub at_once: usize,
    pub columns: Vec<Column>,
    pub lanes: Vec<Lane>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The figure is in seconds of experiment time.
    Seconds,
    Count,
    Plain,
}

#[derive(Clone, Debug, Default)]
pub struct Lane {
    /// Strategy as given on the command line.
    pub name: String,
    pub done: usize,
    pub runs: usize,
    /// Total wall time of the finished runs.
    pub took: Duration,
    /// Number of finished runs that left ops undone. They are left out of figures that undone ops make meaningless.
    pub short: usize,
    /// Spread of each figure over the finished runs, by column; `None` if there is no value yet.
    pub figures: Vec<Option<Spread>>,
    pub running: bool,
    /// Run in progress. If there is none, the latest run; `None` if single runs are not observed.
    pub run: Option<Box<Frame>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}
