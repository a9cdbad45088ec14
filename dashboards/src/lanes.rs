//! Several strategies side by side: what their lanes on the dashboard are given.

use std::time::Duration;

use crate::Frame;

/// What stays the same while strategies are compared, as texts for the top line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LanesHeader {
    /// What is done, e.g. `3 strategies, 5 blocks`.
    pub title: String,
    /// What each run does, e.g. `2 000 ops, Poisson 1000/s`.
    pub workload: String,
    /// Who is asked to do it, e.g. `embedded mock server`.
    pub target: String,
    /// Wall time per experiment time; shown when it is not 1.
    pub time_scale: f64,
}

/// All lanes at one moment.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// What is being done, e.g. `block 2 of 5`.
    pub stage: String,
    /// Wall time since the beginning.
    pub elapsed: Duration,
    /// Runs that go on at the same time.
    pub at_once: usize,
    /// The figures that lanes show, in this order.
    pub columns: Vec<Column>,
    /// One per strategy.
    pub lanes: Vec<Lane>,
}

/// A figure that every run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// A word or two.
    pub name: &'static str,
    /// What its values are.
    pub unit: Unit,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A time in seconds of experiment time.
    Seconds,
    /// How many.
    Count,
    /// Anything else.
    Plain,
}

/// One strategy.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    /// The strategy as it was typed.
    pub name: String,
    /// Runs that are over.
    pub done: usize,
    /// Runs that it has in all.
    pub runs: usize,
    /// Wall time that the runs that are over took, all together.
    pub took: Duration,
    /// Runs that left ops undone; they are in no figure that this makes meaningless.
    pub short: usize,
    /// A figure of the runs that are over, by column; `None` where there is none yet.
    pub figures: Vec<Option<Spread>>,
    /// Whether one of its runs goes on just now.
    pub running: bool,
    /// The run that goes on or, after it, the latest one; `None` where nobody looks into single runs.
    pub run: Option<Box<Frame>>,
}

/// A figure of several runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
}
