//! Document that `loadgen reproduce` writes: the experiments of source documents, and a verdict on each of their claims.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::recorded::DrawnRun;
use crate::document::setting::{At, Setting};
use crate::document::version::SchemaVersion;
use crate::figures::over_runs::FiguresOverRuns;

/// Experiments of source documents, with a verdict on each of their claims (loadgen reproduce).
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Reproduction {
    /// Version of the document format.
    #[serde(default)]
    pub schema_version: SchemaVersion,
    /// Start time of the reproduction, in UTC (RFC 3339); null if simulated.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: Option<String>,
    /// Scenarios, one for each source document.
    #[schemars(length(min = 1))]
    pub scenarios: Vec<Scenario>,
    /// Counts of claims by verdict.
    #[serde(default)]
    pub claims: Tallies,
}

/// Counts of claims by verdict: claims of the source documents, and claims that scenarios make themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
pub struct Tallies {
    /// Claims of the source documents.
    pub source: Tally,
    /// Claims that scenarios make themselves.
    pub ours: Tally,
}

/// Counts of claims by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
pub struct Tally {
    /// Number of all claims.
    pub claims: u64,
    pub holds: u64,
    pub holds_partly: u64,
    pub does_not_hold: u64,
    pub too_few_runs: u64,
    pub no_figure: u64,
    pub as_expected: u64,
    pub not_as_expected: u64,
}

/// Experiments of one source document.
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
    /// First seed of the runs.
    pub seed: Option<u64>,
    #[serde(default)]
    pub claims: Vec<Claim>,
    #[serde(default)]
    pub cells: Vec<Cell>,
    /// Plots that the scenario requests.
    #[serde(default)]
    pub plots: Vec<Plot>,
}

/// Claim of a source document, and the result of testing it.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Claim {
    /// Claim as a sentence.
    pub says: String,
    /// Figure that the source document states, in its own words.
    #[serde(default)]
    pub published: String,
    /// Whether the scenario makes the claim itself, and not the source document.
    #[serde(default)]
    pub ours_alone: bool,
    /// Path of the figure that decides the verdict.
    #[serde(default)]
    pub figure: String,
    /// Labels of the cells that the claim is about.
    pub of: Option<String>,
    /// Result of the runs, in words.
    #[serde(default)]
    pub ours: String,
    /// Results in every case: for every strategy, against every other strategy, at every point.
    #[serde(default)]
    pub values: Vec<ClaimValue>,
    /// Range of values that confirm the claim, as lower and upper bound; null for a bound that the claim does not set.
    #[serde(default, deserialize_with = "crate::document::fields::or_default")]
    pub accept: [Option<f64>; 2],
    /// Range of values that confirm the claim, in words, with whether its bounds are included.
    #[serde(default)]
    pub condition: String,
    /// Quantity that must lie in the accepted range: the mean over runs, the middle 95 % of runs, the share of runs …
    #[serde(default)]
    pub judged_by: String,
    /// Interpretation of the source document's words, and the reason for it.
    #[serde(default)]
    pub means: String,
    /// Verdict on the claim.
    pub verdict: ClaimVerdict,
    /// Whether the verdict is the one that the scenario expects; null if there were too few runs to decide.
    pub as_expected: Option<bool>,
    /// Further information for the reader.
    #[serde(default)]
    pub note: String,
}

/// Result of a claim in one case, such as one strategy at one point.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct ClaimValue {
    /// Description of the case; null if there is only one case.
    pub at: Option<Setting>,
    /// Mean of the figure over runs, unless the claim selects another statistic. Null if a run lacks the figure, or if the value is
    /// infinite.
    pub value: Option<f64>,
    /// Number of runs that were made.
    #[serde(default)]
    pub runs: u64,
    /// Number of runs in which the claim is true, if this number decides the verdict.
    pub so_in: Option<u64>,
    /// Lowest and highest value of the middle 95 % of runs, if they decide the verdict.
    pub middle: Option<[f64; 2]>,
    /// Verdict in this case.
    pub verdict: Option<ClaimVerdict>,
}

/// Verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
pub enum ClaimVerdict {
    /// The claim holds in every case that was tested.
    #[serde(rename = "holds")]
    Holds,
    /// The claim holds only at some points, or only in some runs.
    #[serde(rename = "holds partly")]
    HoldsPartly,
    /// The claim holds in no case.
    #[serde(rename = "does not hold")]
    DoesNotHold,
    /// There are too few runs to decide. For example, no number that the source document states could lie outside the range of so few runs.
    #[serde(rename = "too few runs")]
    TooFewRuns,
    /// The runs lack the figure, so there is no verdict.
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

/// Results of one strategy at one point of an experiment, over seeds.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Cell {
    pub experiment: String,
    pub label: String,
    pub strategy: String,
    /// Point of the experiment: varied keys with their values.
    #[serde(default)]
    pub at: At,
    #[serde(deserialize_with = "crate::document::fields::known")]
    pub figures: FiguresOverRuns,
}

/// Plot that a scenario requests, with its data: cells, or one run of each strategy.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Plot {
    /// Name by which the plot can be requested alone.
    pub name: String,
    /// Kind of plot, by its name in `loadgen plot --list`.
    pub draw: String,
    /// Title above the plot.
    pub title: String,
    /// Description that the source document gives of the plot.
    #[serde(default)]
    pub shows: String,
    /// Further information for the reader.
    #[serde(default)]
    pub note: String,
    /// Experiment whose cells the plot shows.
    #[serde(default)]
    pub experiment: String,
    /// Claims that the plot belongs to, as indices into the scenario's claims.
    #[serde(default)]
    pub claims: Vec<usize>,
    /// Whether the vertical axis of the plot is logarithmic.
    #[serde(default)]
    pub logarithmic: bool,
    /// End of the time axis in seconds. Later data is left out.
    pub until_s: Option<f64>,
    /// Length of the moving average of curves, in seconds.
    pub smooth_s: Option<f64>,
    /// Unit of times in the plot; null for seconds.
    pub time_unit: Option<TimeUnit>,
    /// Cells that the plot shows, as indices into the scenario's cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cells: Option<Vec<usize>>,
    /// Figures that the plot shows for each cell. Each is a figure of the result, less a constant (`minus`) and multiplied by a factor
    /// (`times`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<DrawnColumn>>,
    /// Recorded runs, one of each strategy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<Vec<DrawnRun>>,
}

/// Unit of times in a plot.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct TimeUnit {
    /// Length of the unit in seconds.
    pub s: f64,
    /// Name of the unit, such as `ticks`.
    #[serde(default)]
    pub name: String,
}

/// Figure of cells with its own title and unit: (figure - minus) × times.
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
