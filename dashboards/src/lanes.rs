//! Input of the dashboard for several strategies, which are shown side by side in lanes (one lane per strategy).

use std::time::Duration;

use crate::Frame;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LanesHeader {
    pub title: String,
    pub workload: String,
    pub target: String,
    /// Wall time divided by experiment time. The dashboard shows the scale if it is not 1.
    pub time_scale: f64,
}

#[derive(Clone, Debug, Default)]
pub struct Lanes {
    pub stage: String,
    /// Wall time since the command started its runs.
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
    /// Unit of figures that are times: seconds of experiment time.
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
    /// Total wall time of the strategy's finished runs.
    pub took: Duration,
    /// Number of finished runs in which some ops were not done. Such runs are left out of figures that are meaningful
    /// only for complete runs.
    pub short: usize,
    /// Median and range of each figure over the finished runs, in the order of the columns; `None` for figures without
    /// a value yet.
    pub figures: Vec<Option<Spread>>,
    pub running: bool,
    /// Measurements of the run in progress, or of the latest run if none is in progress. `None` if the dashboard
    /// receives no measurements of single runs.
    pub run: Option<Box<Frame>>,
}

impl Lane {
    /// Returns the state of the run in progress.
    pub(crate) fn going_on(&self) -> Option<&Frame> {
        self.run.as_deref().filter(|_| self.running)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}
