//! Document that `loadgen reproduce` writes: experiments of source documents, claim by claim.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::recorded::DrawnRun;
use crate::document::setting::{At, Setting};
use crate::document::version::SchemaVersion;
use crate::figures::over_runs::FiguresOverRuns;

/// Experiments of documents, claim by claim (loadgen reproduce).
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Reproduction {
    /// Of this form.
    #[serde(default)]
    pub schema_version: SchemaVersion,
    /// When it began, in UTC (RFC 3339); null when simulated.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: Option<String>,
    /// One for each document.
    #[schemars(length(min = 1))]
    pub scenarios: Vec<Scenario>,
    /// How many claims came out how.
    #[serde(default)]
    pub claims: Tallies,
}

/// How many claims came out how: those of the sources, and those that scenarios make themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
pub struct Tallies {
    /// Those of the sources.
    pub source: Tally,
    /// Those that scenarios make themselves.
    pub ours: Tally,
}

/// Claims by their verdicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
pub struct Tally {
    /// All of them.
    pub claims: u64,
    pub holds: u64,
    pub holds_partly: u64,
    pub does_not_hold: u64,
    pub too_few_runs: u64,
    pub no_figure: u64,
    pub as_expected: u64,
    pub not_as_expected: u64,
}

/// One document's experiments.
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
    /// The first seed.
    pub seed: Option<u64>,
    #[serde(default)]
    pub claims: Vec<Claim>,
    #[serde(default)]
    pub cells: Vec<Cell>,
    /// The figures that it asks for.
    #[serde(default)]
    pub plots: Vec<Plot>,
}

/// What a document says, and what came out.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Claim {
    /// What it says.
    pub says: String,
    /// The document's own figure, in its words.
    #[serde(default)]
    pub published: String,
    /// Whether the scenario says it, and not the document.
    #[serde(default)]
    pub ours_alone: bool,
    /// Path of the figure that decides.
    #[serde(default)]
    pub figure: String,
    /// Labels of the cells that it is about.
    pub of: Option<String>,
    /// What came out, in words.
    #[serde(default)]
    pub ours: String,
    /// What came out in every case: for every strategy, against every other, at every point.
    #[serde(default)]
    pub values: Vec<ClaimValue>,
    /// The values that bear the claim out: from, to; null where it says nothing.
    #[serde(default, deserialize_with = "crate::document::fields::or_default")]
    pub accept: [Option<f64>; 2],
    /// The same in words, with whether the ends are included.
    #[serde(default)]
    pub condition: String,
    /// What must meet it: the mean over runs, the middle 95 % of runs, the share of runs …
    #[serde(default)]
    pub judged_by: String,
    /// What the document's words are taken to mean, and why.
    #[serde(default)]
    pub means: String,
    /// How it came out.
    pub verdict: ClaimVerdict,
    /// Whether the verdict is the one that the scenario expects; null when there were too few runs to say.
    pub as_expected: Option<bool>,
    /// What else a reader should know.
    #[serde(default)]
    pub note: String,
}

/// What came out in one case.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct ClaimValue {
    /// Which case; null when there is only one.
    pub at: Option<Setting>,
    /// The mean over runs, unless the claim says otherwise; null when no run has it, or it is infinite.
    pub value: Option<f64>,
    /// Runs that were made.
    #[serde(default)]
    pub runs: u64,
    /// In how many runs it is so, where that decides.
    pub so_in: Option<u64>,
    /// The lowest and the highest of the middle 95 % of runs, where they decide.
    pub middle: Option<[f64; 2]>,
    /// How this case came out.
    pub verdict: Option<ClaimVerdict>,
}

/// What a claim comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
pub enum ClaimVerdict {
    /// Everywhere that it was looked at.
    #[serde(rename = "holds")]
    Holds,
    /// At some points, or in some runs, only.
    #[serde(rename = "holds partly")]
    HoldsPartly,
    /// Nowhere.
    #[serde(rename = "does not hold")]
    DoesNotHold,
    /// No number that the source prints would lie outside of so few runs.
    #[serde(rename = "too few runs")]
    TooFewRuns,
    /// The runs do not have the figure: nothing can be said.
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

/// One strategy at one point of an experiment, over seeds.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Cell {
    pub experiment: String,
    pub label: String,
    pub strategy: String,
    /// What was varied, by its key.
    #[serde(default)]
    pub at: At,
    #[serde(deserialize_with = "crate::document::fields::known")]
    pub figures: FiguresOverRuns,
}

/// A figure that a scenario asks for, with what it is drawn from: cells, or one run of each strategy.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Plot {
    /// By which it can be asked for alone.
    pub name: String,
    /// The figure's name in `loadgen plot --list`.
    pub draw: String,
    /// Above it.
    pub title: String,
    /// What the source says that it shows.
    #[serde(default)]
    pub shows: String,
    /// What else a reader should know.
    #[serde(default)]
    pub note: String,
    /// Whose cells it is drawn from.
    #[serde(default)]
    pub experiment: String,
    /// The claims that it belongs to, by their place among the scenario's.
    #[serde(default)]
    pub claims: Vec<usize>,
    /// Whether its vertical axis is.
    #[serde(default)]
    pub logarithmic: bool,
    /// What is later is left out.
    pub until_s: Option<f64>,
    /// Over how long courses are averaged.
    pub smooth_s: Option<f64>,
    /// In what times are given; null for seconds.
    pub time_unit: Option<TimeUnit>,
    /// By their place among the scenario's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cells: Option<Vec<usize>>,
    /// Figures of the cells that are drawn: (figure - minus) times times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<DrawnColumn>>,
    /// One of each strategy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<Vec<DrawnRun>>,
}

/// In what times are given.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct TimeUnit {
    /// So many seconds.
    pub s: f64,
    /// Such as `ticks`.
    #[serde(default)]
    pub name: String,
}

/// A figure of cells under its own name and in its own unit: (figure - minus) times times.
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
