//! Document that `loadgen sweep` writes.

use serde::{Deserialize, Serialize};

use crate::{
    At, ConfigRecord, FiguresOverRuns, Incomplete, OverRuns, PairRecord, RunResult, Setting, ShardRecord, at,
};

#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sweep<R = RunResult> {
    pub runs: Vec<R>,
    pub sweep: Swept,
    /// Shard of the command that this document is; absent unless `--shard` was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardRecord>,
}

/// Varied parameters of a sweep, and its results.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Swept {
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub started_at: Option<String>,
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub axes: Vec<Axis>,
    /// Path of the figure that strategies are compared by; the lowest value is best.
    pub by: String,
    pub by_name: String,
    /// Configuration of the first strategy at the sweep's first point.
    pub config: Option<ConfigRecord>,
    /// Population of runs that the confidence intervals describe, in words, such as `over seeds, for this server model`.
    pub intervals: Option<String>,
    pub cells: Vec<SweepCell>,
    #[serde(deserialize_with = "crate::document::fields::or_default")]
    pub best: Vec<Best>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<Incomplete>,
}

/// Parameter that a sweep varies, with its values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Axis {
    /// Key of the varied parameter, as given on the command line.
    pub key: String,
    #[serde(default)]
    pub values: Vec<String>,
}

impl Axis {
    /// Returns every combination of values, one value per axis.
    pub fn combinations(axes: &[Self]) -> Vec<Vec<String>> {
        axes.iter().fold(vec![Vec::new()], |points, axis| {
            let with = |point: &Vec<String>, value: &String| point.iter().chain([value]).cloned().collect();
            points.iter().flat_map(|point| axis.values.iter().map(move |value| with(point, value))).collect()
        })
    }

    /// Returns the place of a point, from one value per axis.
    pub fn at(axes: &[Self], values: &[String]) -> At {
        at(axes.iter().map(|axis| axis.key.as_str()).zip(values.iter().map(String::as_str)))
    }

    /// Returns the value that the varied parameter has in a run, as given on the command line.
    pub fn value_at(&self, run: &RunResult) -> &str {
        let at = run.at.as_ref().and_then(|at| at.get(&self.key.replace('-', "_")));
        let same = |value: &&String| Some(&Setting::typed(value)) == at;
        self.values.iter().find(same).map_or("", String::as_str)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepCell {
    /// Always `sweep`. The key exists because cells of a reproduction have it, too: it contains the name of the experiment that they belong
    /// to.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "sweep")))]
    pub experiment: String,
    /// Strategy as given on the command line.
    pub label: String,
    /// Strategy with the parameter values that it has at one point of the sweep.
    pub strategy: String,
    #[serde(default)]
    pub at: At,
    #[serde(default = "yes")]
    pub complete: bool,
    pub incomplete_because: Option<String>,
    pub rank: Option<u64>,
    /// Statistics of each figure over seeds. The key is the path of the figure.
    #[serde(deserialize_with = "crate::document::fields::known")]
    pub figures: FiguresOverRuns,
}

/// Returns the value of `complete` for files of earlier versions, which lack this key. These files contain only cells of complete
/// strategies, so the value is always true.
fn yes() -> bool {
    true
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Best {
    pub at: At,
    pub strategy: Option<String>,
    #[serde(deserialize_with = "crate::document::fields::winner")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub winner: Winner,
    /// Result of measuring the best two strategies of the sweep with fresh seeds, in words.
    pub words: String,
    /// Path of the compared figure. It is the figure that ranks the sweep or, if the strategies did different work, the share of ops done.
    pub figure: String,
    pub in_sweep: Option<f64>,
    pub fresh: Option<OverRuns>,
    /// Whether the best strategy of the sweep got at least as many ops done as the second best one with fresh seeds.
    pub complete: bool,
    /// Comparisons of the best two strategies of the sweep, measured with fresh seeds.
    pub pairs: Vec<PairRecord>,
    /// Best strategy of a point of the sweep, and its lead over the other strategies. Present only if all strategies ran at every point.
    /// Absent if parameters of strategies are varied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lead: Option<LeadRecord>,
}

/// Best strategy at a point of a sweep, measured with fresh seeds, and its lead over the other strategies. Values are geometric means.
/// Intervals use Student's t on the logarithms of ratios that are paired by seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Lead"))]
#[serde(default)]
pub struct LeadRecord {
    pub strategy: String,
    /// Whether the best strategy can be distinguished from every other strategy of the point.
    pub certain: bool,
    /// Path of the figure in which strategies are compared, such as `makespan_s`.
    pub figure: String,
    /// Geometric mean of the figure over fresh seeds. For the share of ops done, it is the arithmetic mean. Null if a run lacks the figure.
    pub value: Option<f64>,
    /// Lead of the best strategy over the next best one, as a ratio of their figures. The ratio is above 1 if the best strategy is ahead.
    /// Null if no other strategy did the same work.
    pub ratio: Option<f64>,
    /// Lower end of the confidence interval of the ratio; null with fewer than five fresh seeds.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Confidence level of the interval. The level is so high that all intervals of the sweep together are correct in 95 % of sweeps.
    pub level: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Winner {
    /// The file contains the key `winner`. Its value is the winner or, if no strategy is distinguishably best, null (`None`).
    Known(Option<String>),
    #[default]
    Unknown,
}

impl Best {
    /// Returns the winner that was measured with fresh seeds, or `None` for a tie. Files of earlier versions lack the winner. For such
    /// files, returns the strategy that was best in the sweep.
    pub fn winner(&self) -> Option<&str> {
        match &self.winner {
            Winner::Known(winner) => winner.as_deref(),
            Winner::Unknown => self.strategy.as_deref(),
        }
    }
}
