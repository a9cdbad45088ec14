//! Document that `loadgen reproduce` writes. It contains experiments from source documents (such as articles), and a verdict on each claim
//! of these documents.

use serde::{Deserialize, Serialize};

use crate::document::recorded::DrawnRun;
use crate::document::setting::{At, Setting};
use crate::document::version::SchemaVersion;
use crate::figures::over_runs::FiguresOverRuns;

/// Experiments from source documents such as articles, with a verdict on each claim of these documents (loadgen reproduce).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct Reproduction {
    #[serde(default)]
    pub schema_version: SchemaVersion,
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub started_at: Option<String>,
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub scenarios: Vec<Scenario>,
    #[serde(default)]
    pub claims: Tallies,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, expecting = "an object")]
pub struct Tallies {
    pub source: Tally,
    pub ours: Tally,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct Scenario {
    pub name: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub source: String,
    #[serde(default)]
    pub about: String,
    pub seed: Option<u64>,
    #[serde(default)]
    pub claims: Vec<Claim>,
    #[serde(default)]
    pub cells: Vec<Cell>,
    #[serde(default)]
    pub plots: Vec<Plot>,
}

/// Claim of a source document, and the result of testing it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct Claim {
    pub says: String,
    #[serde(default)]
    pub published: String,
    #[serde(default)]
    pub ours_alone: bool,
    #[serde(default)]
    pub figure: String,
    pub of: Option<String>,
    /// Results of testing the claim in our runs, in words.
    #[serde(default)]
    pub ours: String,
    #[serde(default)]
    pub values: Vec<ClaimValue>,
    #[serde(default, deserialize_with = "crate::document::fields::or_default")]
    pub accept: [Option<f64>; 2],
    #[serde(default)]
    pub condition: String,
    #[serde(default)]
    pub judged_by: String,
    #[serde(default)]
    pub means: String,
    pub verdict: ClaimVerdict,
    pub as_expected: Option<bool>,
    #[serde(default)]
    pub note: String,
}

/// Result of a claim in one case, such as one strategy at one point.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct ClaimValue {
    pub at: Option<Setting>,
    pub value: Option<f64>,
    #[serde(default)]
    pub runs: u64,
    pub so_in: Option<u64>,
    pub middle: Option<[f64; 2]>,
    pub verdict: Option<ClaimVerdict>,
}

/// Verdict on a claim of a source document: whether it holds in our runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ClaimVerdict {
    #[serde(rename = "holds")]
    Holds,
    #[serde(rename = "holds partly")]
    HoldsPartly,
    #[serde(rename = "does not hold")]
    DoesNotHold,
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
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct Plot {
    /// Name of the plot. A user who gives this name gets only this plot.
    pub name: String,
    pub draw: String,
    pub title: String,
    #[serde(default)]
    pub shows: String,
    #[serde(default)]
    pub note: String,
    #[serde(default)]
    pub experiment: String,
    /// Claims that the plot illustrates, as indices into the list of the scenario's claims.
    #[serde(default)]
    pub claims: Vec<usize>,
    #[serde(default)]
    pub logarithmic: bool,
    pub until_s: Option<f64>,
    pub smooth_s: Option<f64>,
    pub time_unit: Option<TimeUnit>,
    /// Cells that the plot shows, as indices into the scenario's cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cells: Option<Vec<usize>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<DrawnColumn>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<Vec<DrawnRun>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct TimeUnit {
    /// Length of the plot's time unit in seconds.
    pub s: f64,
    /// Name of the plot's time unit, such as `ticks`.
    #[serde(default)]
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
