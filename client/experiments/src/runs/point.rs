//! One point of a grid: every strategy with the same workload and server.

use std::fmt;

use results::At;

use super::blocks::Blocks;
use crate::experiment::Experiment;
use crate::servers::opponent::Opponent;

/// A combination of the values of what is varied.
pub struct Point {
    /// The value of every axis.
    pub at: Vec<String>,
    /// Within which the best can be chosen.
    pub situation: Situation,
    /// One per strategy as typed, with this point's parameters.
    pub experiments: Vec<Experiment>,
    /// Whom all of them meet.
    pub opponent: Opponent,
}

impl Point {
    /// What is to be run here.
    pub fn blocks(&self) -> Blocks<'_> {
        Blocks { strategies: &self.experiments, opponent: &self.opponent }
    }
}

/// Keys and values of what no client chooses, such as the workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Situation(pub Vec<(String, String)>);

impl Situation {
    /// As it is written.
    pub fn at(&self) -> At {
        results::at(self.0.iter().map(|(key, value)| (key.as_str(), value.as_str())))
    }
}

impl fmt::Display for Situation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (key, value)) in self.0.iter().enumerate() {
            let between = if index > 0 { ", " } else { "" };
            write!(f, "{between}{key}={value}")?;
        }
        Ok(())
    }
}
