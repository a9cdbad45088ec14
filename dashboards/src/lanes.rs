//! Input of the dashboard for several strategies side by side, one lane each.

use std::time::Duration;

use crate::Frame;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LanesHeader {
    pub title: String,
    pub workload: String,
    pub target: String,
    /// Wall time per experiment time; shown when it is not 1.
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
    /// Seconds of experiment time.
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
    /// Finished runs that left ops undone. Figures that this would make meaningless leave them out.
    pub short: usize,
    /// Figure of the finished runs, by column; `None` if there is none yet.
    pub figures: Vec<Option<Spread>>,
    pub running: bool,
    /// Run in progress or, without one, the latest one; `None` if single runs are not observed.
    pub run: Option<Box<Frame>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}
