//! Document that `loadgen reproduce` writes. It contains experiments from source documents (such as articles), and a verdict on each claim
//! of these documents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::recorded::DrawnRun;
use crate::document::setting::{At, Setting};
use crate::document::version::SchemaVersion;
use crate::figures::over_runs::FiguresOverRuns;

/// Experiments from source documents such as articles, with a verdict on each claim of these documents (loadgen reproduce).
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Reproduction {
    #[serde(default)]
    pub schema_version: SchemaVersion,
    /// Start time of the reproduction, in UTC (RFC 3339); null if simulated.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: Option<String>,
    #[schemars(length(min = 1))]
    pub scenarios: Vec<Scenario>,
    #[serde(default)]
    pub claims: Tallies,
}

/// Counts of claims by verdict. Claims of the source documents and additional claims of the scenarios are counted separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
pub struct Tallies {
    pub source: Tally,
    /// Counts of the claims that scenarios add to the claims of the source documents.
    pub ours: Tally,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
pub struct Tally {
    /// Number of all claims, whatever their verdict.
    pub claims: u64,
    pub holds: u64,
    pub holds_partly: u64,
    pub does_not_hold: u64,
    pub too_few_runs: u64,
    pub no_figure: u64,
    pub as_expected: u64,
    pub not_as_expected: u64,
}

/// Scenario: the experiments from one source document, with claims and plots.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Scenario {
    pub name: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub source: String,
    #[serde(default)]
    pub about: String,
    /// Seed of the first run of each cell in the scenario.
    pub seed: Option<u64>,
    #[serde(default)]
    pub claims: Vec<Claim>,
    #[serde(default)]
    pub cells: Vec<Cell>,
    #[serde(default)]
    pub plots: Vec<Plot>,
}

/// Claim of a source document, and the result of testing it.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Claim {
    pub says: String,
    /// Number that the source document states, in the words of the document.
    #[serde(default)]
    pub published: String,
    /// Whether the claim was added by the scenario and is not a claim of the source document.
    #[serde(default)]
    pub ours_alone: bool,
    /// Path of the figure that decides the verdict on the claim.
    #[serde(default)]
    pub figure: String,
    /// Labels of the cells (strategies at points of an experiment) that the claim is about.
    pub of: Option<String>,
    /// Results of testing the claim in our runs, in words.
    #[serde(default)]
    pub ours: String,
    /// Results of the claim in each case that it covers. Cases differ in the strategy, in the strategy that it is compared with, and in the
    /// point.
    #[serde(default)]
    pub values: Vec<ClaimValue>,
    /// Range of values that confirm the claim, as a pair of lower and upper bound. A bound that the claim does not set is null.
    #[serde(default, deserialize_with = "crate::document::fields::or_default")]
    pub accept: [Option<f64>; 2],
    /// Range of values that confirm the claim, in words. The text also states whether the bounds belong to the range.
    #[serde(default)]
    pub condition: String,
    /// Quantity that decides the verdict on a claim, such as `the mean over runs`, `the middle 95 % of runs` or `the share of runs`.
    #[serde(default)]
    pub judged_by: String,
    /// Interpretation of the source document's words on which the test of the claim is based, and the reason for this interpretation.
    #[serde(default)]
    pub means: String,
    pub verdict: ClaimVerdict,
    /// Whether the verdict on the claim is the one that the scenario expects; null if there were too few runs to decide.
    pub as_expected: Option<bool>,
    #[serde(default)]
    pub note: String,
}

/// Result of a claim in one case, such as one strategy at one point.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct ClaimValue {
    /// Description of the case in which the claim was tested; null if the claim has only one case.
    pub at: Option<Setting>,
    /// Mean of the figure over runs, unless the claim selects another statistic. Null if a run lacks the figure, or if the value is
    /// infinite.
    pub value: Option<f64>,
    #[serde(default)]
    pub runs: u64,
    /// Number of runs in which the claim is true; null if the verdict does not depend on this number.
    pub so_in: Option<u64>,
    /// Lowest and highest value of the middle 95 % of runs; null if the verdict does not depend on this range.
    pub middle: Option<[f64; 2]>,
    pub verdict: Option<ClaimVerdict>,
}

/// Verdict on a claim of a source document: whether it holds in our runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
pub enum ClaimVerdict {
    /// The claim holds in every case in which it was tested.
    #[serde(rename = "holds")]
    Holds,
    /// The claim holds only in some of the tested cases, or only in some runs.
    #[serde(rename = "holds partly")]
    HoldsPartly,
    /// The claim holds in no case in which it was tested.
    #[serde(rename = "does not hold")]
    DoesNotHold,
    /// There are too few runs to decide. For example, a published number can contradict the middle 95 % of our runs only if this range is
    /// based on enough runs.
    #[serde(rename = "too few runs")]
    TooFewRuns,
    /// The runs lack the figure that the claim is about, so there is no verdict.
    #[serde(rename = "no figure")]
    NoFigure,
}

impl ClaimVerdict {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::HoldsPartly => "holds partly",
            Self::DoesNotHold => "does not hold",
            Self::TooFewRuns => "too few runs",
            Self::NoFigure => "no figure",
        }
    }
}

/// Statistics, over runs with different seeds, of one strategy at one point of an experiment.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Cell {
    pub experiment: String,
    pub label: String,
    pub strategy: String,
    /// Point of the experiment: the key of each varied parameter, with its value.
    #[serde(default)]
    pub at: At,
    #[serde(deserialize_with = "crate::document::fields::known")]
    pub figures: FiguresOverRuns,
}

/// Plot that a scenario requests, with its data. The data is either a list of cells or one recorded run of each strategy.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Plot {
    /// Name of the plot. A user who gives this name gets only this plot.
    pub name: String,
    /// Kind of plot, by its name in `loadgen plot --list`.
    pub draw: String,
    pub title: String,
    /// Description of the plot that the source document contains.
    #[serde(default)]
    pub shows: String,
    #[serde(default)]
    pub note: String,
    #[serde(default)]
    pub experiment: String,
    /// Claims that the plot illustrates, as indices into the list of the scenario's claims.
    #[serde(default)]
    pub claims: Vec<usize>,
    /// Whether the vertical axis of the plot is logarithmic.
    #[serde(default)]
    pub logarithmic: bool,
    /// End of the time axis in seconds. Later data is left out.
    pub until_s: Option<f64>,
    /// Length of the moving average that smooths the curves, in seconds.
    pub smooth_s: Option<f64>,
    /// Unit of the times in the plot; null if times are in seconds.
    pub time_unit: Option<TimeUnit>,
    /// Cells that the plot shows, as indices into the scenario's cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cells: Option<Vec<usize>>,
    /// Figures that the plot shows for each cell. From each figure of the result, the constant `minus` is subtracted, and the difference is
    /// multiplied by the factor `times`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<DrawnColumn>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<Vec<DrawnRun>>,
}

#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct TimeUnit {
    /// Length of the plot's time unit in seconds.
    pub s: f64,
    /// Name of the plot's time unit, such as `ticks`.
    #[serde(default)]
    pub name: String,
}

/// Column of a plot: a figure of each cell, with its own title and scale. The plotted value is (`figure` - `minus`) × `times`.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct DrawnColumn {
    pub title: String,
    pub figure: String,
    #[serde(default)]
    pub minus: f64,
    #[serde(default = "once")]
    pub times: f64,
}

fn once() -> f64 {
    1.0
}
