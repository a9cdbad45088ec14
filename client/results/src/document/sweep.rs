//! Document that `loadgen sweep` writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::comparison::PairRecord;
use crate::document::config::ConfigRecord;
use crate::document::run::RunResult;
use crate::document::setting::At;
use crate::figures::over_runs::{FiguresOverRuns, OverRuns};
use crate::shards::Incomplete;

/// Several strategies at every point of one or two varied parameters (loadgen sweep). Runs are sorted by point, then by seed, then by
/// strategy. They have no time series.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Sweep<R = RunResult> {
    /// All runs that were made.
    pub runs: Vec<R>,
    /// Results of the sweep.
    pub sweep: Swept,
}

/// Varied parameters of a sweep, and its results.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
pub struct Swept {
    /// Start time of the sweep, in UTC (RFC 3339); null if simulated.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: Option<String>,
    /// Varied parameters, one or two.
    #[schemars(length(min = 1))]
    pub axes: Vec<Axis>,
    /// Path of the figure that strategies are compared by; the lowest value is best.
    pub by: String,
    /// Name of the figure that strategies are compared by, in words.
    pub by_name: String,
    /// Configuration of the first strategy at the first point.
    pub config: Option<ConfigRecord>,
    /// Description of the runs that intervals cover, such as `over seeds, for this server model`.
    pub intervals: Option<String>,
    /// Results of every strategy at every point.
    pub cells: Vec<SweepCell>,
    /// Best strategy and parameters in each situation.
    #[serde(deserialize_with = "crate::document::fields::or_default")]
    pub best: Vec<Best>,
    /// Runs that are missing, because shards were missing in a merge or because a run could not be done; absent if no run is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<Incomplete>,
}

/// Varied parameter of a sweep.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Axis {
    /// Key of the varied parameter, as given on the command line.
    pub key: String,
    /// Values of the varied parameter.
    #[serde(default)]
    pub values: Vec<String>,
}

/// Results of one strategy at one point of a sweep, over seeds.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct SweepCell {
    /// Always `sweep`. In cells of a reproduction, this key contains the name of the experiment.
    #[schemars(extend("const" = "sweep"))]
    pub experiment: String,
    /// Strategy as given on the command line.
    pub label: String,
    /// Strategy with the parameter values of this point.
    pub strategy: String,
    /// Point of the cell: varied keys with their values.
    #[serde(default)]
    pub at: At,
    /// Whether the strategy got as many ops done as the best strategy at this point.
    #[serde(default = "yes")]
    pub complete: bool,
    /// Reason why the strategy is not complete; null if it is complete.
    pub incomplete_because: Option<String>,
    /// Rank at this point, from 1, with equal ranks for strategies that cannot be distinguished; null if the strategy is not complete.
    pub rank: Option<u64>,
    /// Figures over seeds, by path.
    #[serde(deserialize_with = "crate::document::fields::known")]
    pub figures: FiguresOverRuns,
}

/// Returns the value of `complete` for files of earlier versions. They contain no cells of incomplete strategies, so all their cells are
/// complete.
fn yes() -> bool {
    true
}

/// Best strategy and parameters in a situation, estimated again on fresh seeds, which had no part in the choice.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
pub struct Best {
    /// Situation: values of the varied flags that a client cannot choose.
    pub at: At,
    /// Strategy that was best in the sweep.
    pub strategy: Option<String>,
    /// Strategy that is better on fresh seeds, by more than chance; null for a tie, or with too few repeats to decide. Files of earlier
    /// versions lack this key.
    #[serde(deserialize_with = "crate::document::fields::winner")]
    #[schemars(with = "Option<String>")]
    pub winner: Winner,
    /// Result of the estimate, in words.
    pub words: String,
    /// Path of the compared figure: the one that the sweep ranks by, or the share of ops done if these shares differ.
    pub figure: String,
    /// Mean of the figure in the sweep, for the strategy that was best in the sweep.
    pub in_sweep: Option<f64>,
    /// Figure of the strategy that was best in the sweep, over fresh seeds; null if unknown.
    pub fresh: Option<OverRuns>,
    /// Whether, on fresh seeds, the best strategy of the sweep also got as many ops done as the second best.
    pub complete: bool,
    /// Comparisons of the best two strategies of the sweep on fresh seeds.
    pub pairs: Vec<PairRecord>,
    /// Best strategy of the point and its lead, if all strategies ran at every point; absent if parameters of strategies are varied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lead: Option<LeadRecord>,
}

/// Best strategy of a point on fresh seeds, and its lead. Values are geometric means; intervals are Student's t on logarithms of paired
/// ratios.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Lead")]
#[serde(default, expecting = "an object")]
pub struct LeadRecord {
    /// Strategy with the best figure on fresh seeds.
    pub strategy: String,
    /// Whether the best strategy can be distinguished from every other strategy of the point.
    pub certain: bool,
    /// Path of the compared figure.
    pub figure: String,
    /// Geometric mean of the figure over fresh seeds (mean, if the figure is the share of ops done); null if a run lacks the figure.
    pub value: Option<f64>,
    /// Lead over the next best strategy, as a ratio above 1 if the best strategy is ahead; null if the others did not do the same work.
    pub ratio: Option<f64>,
    /// Lower end of the interval of the ratio; null below five fresh seeds.
    pub low: Option<f64>,
    /// Upper end of the interval of the ratio.
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
