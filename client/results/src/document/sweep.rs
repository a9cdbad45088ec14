//! Document that `loadgen sweep` writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::comparison::PairRecord;
use crate::document::config::ConfigRecord;
use crate::document::run::RunResult;
use crate::document::setting::At;
use crate::figures::over_runs::{FiguresOverRuns, OverRuns};
use crate::shards::Incomplete;

/// Several strategies at every point of one or two axes (loadgen sweep). Runs stand by point, of each by seed; they have no
/// series.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Sweep<R = RunResult> {
    /// All that were made.
    pub runs: Vec<R>,
    /// What they come to.
    pub sweep: Swept,
}

/// What was varied, and what came out.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
pub struct Swept {
    /// When it began, in UTC (RFC 3339); null when simulated.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: Option<String>,
    /// One or two.
    #[schemars(length(min = 1))]
    pub axes: Vec<Axis>,
    /// Path of the figure that the best point has least of.
    pub by: String,
    /// The same in words.
    pub by_name: String,
    /// Of the first strategy at the first point.
    pub config: Option<ConfigRecord>,
    /// What intervals are over.
    pub intervals: Option<String>,
    /// Every strategy at every point.
    pub cells: Vec<SweepCell>,
    /// What is best in which situation.
    #[serde(deserialize_with = "crate::document::fields::or_default")]
    pub best: Vec<Best>,
    /// What was missing when shards were merged; absent where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<Incomplete>,
}

/// What was varied.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Axis {
    /// As typed.
    pub key: String,
    /// Its values.
    #[serde(default)]
    pub values: Vec<String>,
}

/// One strategy at one point, over seeds.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct SweepCell {
    /// `sweep`: cells of a reproduction name their experiment here.
    #[schemars(extend("const" = "sweep"))]
    pub experiment: String,
    /// The strategy as typed.
    pub label: String,
    /// The strategy at this point.
    pub strategy: String,
    /// The point.
    #[serde(default)]
    pub at: At,
    /// Whether it got as many ops done as the best there.
    #[serde(default = "yes")]
    pub complete: bool,
    /// Why it did not.
    pub incomplete_because: Option<String>,
    /// At this point, from 1, the same for strategies that cannot be distinguished; null when incomplete.
    pub rank: Option<u64>,
    /// Over seeds.
    #[serde(deserialize_with = "crate::document::fields::known")]
    pub figures: FiguresOverRuns,
}

/// Default for files of earlier versions. They contain no cells of incomplete strategies, so all their cells are complete.
fn yes() -> bool {
    true
}

/// The best that could be chosen in a situation, estimated again on seeds that had no part in the choice.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
pub struct Best {
    /// The situation: what nobody chooses.
    pub at: At,
    /// The best of the sweep.
    pub strategy: Option<String>,
    /// Who has the least on fresh seeds, by more than chance; null for a tie, or too few repeats to say. Files of earlier
    /// versions do not say.
    #[serde(deserialize_with = "crate::document::fields::winner")]
    #[schemars(with = "Option<String>")]
    pub winner: Winner,
    /// What was found, in words.
    pub words: String,
    /// Path of the figure: the one that the sweep ranks by, or the share of ops done where those differ.
    pub figure: String,
    /// The mean in the sweep.
    pub in_sweep: Option<f64>,
    /// On fresh seeds; null when there is none.
    pub fresh: Option<OverRuns>,
    /// Whether every op was done on fresh seeds, too.
    pub complete: bool,
    /// Against the others there.
    pub pairs: Vec<PairRecord>,
    /// Answer of the point, if all strategies ran at every point; absent if parameters of strategies are varied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lead: Option<LeadRecord>,
}

/// Best strategy of a point on fresh seeds, and its lead: geometric means, Student's t on logarithms of paired ratios.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Lead")]
#[serde(default, expecting = "an object")]
pub struct LeadRecord {
    /// Strategy with the best figure.
    pub strategy: String,
    /// Whether it can be distinguished from every other strategy of the point.
    pub certain: bool,
    /// Path of the figure.
    pub figure: String,
    /// Geometric mean of the figure over fresh seeds; null if a run lacks it.
    pub value: Option<f64>,
    /// Lead over the next best strategy, above 1 if it is ahead; null if the others did not do the same work.
    pub ratio: Option<f64>,
    /// Lower end of the interval of the ratio; null below five fresh seeds.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// Confidence level of the interval; all intervals of the sweep hold together in 95 % of sweeps.
    pub level: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Winner {
    /// The file contains a winner, or null (`None`) if no strategy is distinguishably best.
    Known(Option<String>),
    #[default]
    Unknown,
}

impl Best {
    /// Returns the best strategy; `None` for a tie. For files of earlier versions, which lack the winner, returns the best strategy of the
    /// sweep.
    pub fn winner(&self) -> Option<&str> {
        match &self.winner {
            Winner::Known(winner) => winner.as_deref(),
            Winner::Unknown => self.strategy.as_deref(),
        }
    }
}
