//! One point of a grid of varied parameters: every strategy of the grid with the same workload and server.

use std::fmt;

use results::At;

use super::blocks::Blocks;
use crate::experiment::Experiment;
use crate::servers::server_under_test::ServerUnderTest;

pub struct Point {
    pub at: Vec<String>,
    /// Settings of a sweep's point that no client can choose, such as the workload. Points with equal settings compete with each other: the
    /// sweep selects the best of them.
    pub situation: SweepPoint,
    pub experiments: Vec<Experiment>,
    pub server_under_test: ServerUnderTest,
}

impl Point {
    pub fn blocks(&self) -> Blocks<'_> {
        Blocks { strategies: &self.experiments, server_under_test: &self.server_under_test }
    }
}

/// Settings that no client can choose, such as the workload, as pairs of key and value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepPoint(pub Vec<(String, String)>);

impl SweepPoint {
    pub fn at(&self) -> At {
        results::at(self.0.iter().map(|(key, value)| (key.as_str(), value.as_str())))
    }
}

impl fmt::Display for SweepPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (key, value)) in self.0.iter().enumerate() {
            let between = if index > 0 { ", " } else { "" };
            write!(f, "{between}{key}={value}")?;
        }
        Ok(())
    }
}
