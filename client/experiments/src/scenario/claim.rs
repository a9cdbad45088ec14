//! A claim as written in a scenario file: a sentence of the source, the figure that it is about, and the condition on
//! this figure.

use serde::Deserialize;
use toml::Value;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub says: String,
    /// Words of the source, or the figure that the source prints; defaults to the value of `printed`.
    #[serde(default)]
    published: String,
    /// True if the claim is made by the scenario file and not by the source. Such claims are shown and counted separately.
    #[serde(default)]
    pub ours: bool,
    /// Name of the experiment that the claim is about; may be left out if the scenario has only one experiment.
    #[serde(default)]
    pub experiment: Option<String>,
    /// Figure of a run: its path in the result, or the name of a derived figure.
    pub figure: String,
    #[serde(default)]
    pub minus: f64,
    /// Factor that converts the unit of the figure; applied after `minus` is subtracted.
    #[serde(default = "unity")]
    pub times: f64,
    /// Labels of the strategies that the claim is about. With several labels, the claim is about each of these strategies.
    pub of: Labels,
    /// Figure to compare with. If set, the claim is about the ratio of the two figures.
    #[serde(default)]
    pub against: Option<Against>,
    /// Point of the experiment at which the claim is judged: the value of the varied parameter, or a table of the values of several
    /// parameters. Used if the experiment has several points.
    #[serde(default)]
    pub at: Option<Value>,
    /// Several points of the experiment, at each of which the claim is judged separately.
    #[serde(default)]
    pub over: Vec<Value>,
    /// Two points of the experiment. If set, the claim is about the exponent with which the figure grows between these points.
    #[serde(default)]
    pub growth: Option<[Value; 2]>,
    #[serde(default)]
    pub stat: Option<Stat>,
    /// Whether the source describes one random run; defaults to the scenario's `one_run`.
    #[serde(default)]
    one_run: Option<bool>,
    #[serde(default)]
    pub(super) above: Option<Bound>,
    #[serde(default)]
    pub(super) at_least: Option<Bound>,
    #[serde(default)]
    pub(super) below: Option<Bound>,
    #[serde(default)]
    pub(super) at_most: Option<Bound>,
    #[serde(default)]
    pub(super) printed: Option<String>,
    /// Tolerance of the printed figure; defaults to half a unit of its last digit.
    #[serde(default)]
    pub(super) precision: Option<f64>,
    /// Interpretation of the source's words as the condition of this claim, and the reason for the interpretation.
    #[serde(default)]
    pub means: String,
    /// Whether the claim can also be judged on runs over real HTTP.
    #[serde(default = "yes")]
    pub http: bool,
    #[serde(default)]
    pub expect: Expectation,
    #[serde(default)]
    pub note: String,
    #[serde(default)]
    pub plot: Option<String>,
}

impl Claim {
    pub fn scaled(&self, value: f64) -> f64 {
        (value - self.minus) * self.times
    }

    pub fn published(&self) -> &str {
        if self.published.is_empty() { self.printed.as_deref().unwrap_or_default() } else { &self.published }
    }

    /// Returns true if the claim is judged run by run, because the source had only one run. Claims that the scenario makes itself are
    /// judged run by run only if they set `one_run`.
    pub fn one_run(&self, scenario: bool) -> bool {
        self.stat.is_none() && self.one_run.unwrap_or(scenario && !self.ours)
    }

    pub fn figures(&self) -> impl Iterator<Item = &str> {
        let other = match &self.against {
            Some(Against::Place(place)) => place.figure.as_deref(),
            _ => None,
        };
        std::iter::once(self.figure.as_str()).chain(other)
    }

    pub(super) fn judged_twice(&self) -> bool {
        self.stat.is_some() && self.one_run == Some(true)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a number, or a number quoted from the source, in quotation marks")]
pub enum Bound {
    Number(f64),
    Printed(String),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a strategy's label, or a list of labels")]
pub enum Labels {
    One(String),
    Each(Vec<String>),
}

impl Labels {
    pub fn all(&self) -> &[String] {
        match self {
            Self::One(label) => std::slice::from_ref(label),
            Self::Each(labels) => labels,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "a strategy's label, a list of labels, a table of `of`, `at`, `experiment` and `figure`, or one of `published`"
)]
pub enum Against {
    /// Other strategies: the claim's figure is compared with the same figure of each of these strategies, at the same point.
    Labels(Labels),
    Place(ComparedFigure),
}

/// Figure that a claim's figure is compared with: its strategy, point, experiment and name. Keys that are left out have the same values as
/// in the claim.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparedFigure {
    #[serde(default)]
    pub of: Option<String>,
    /// Point of the figure to compare with. If the point is a table, keys that the table leaves out have the same values as in the claim.
    #[serde(default)]
    pub at: Option<Value>,
    #[serde(default)]
    pub experiment: Option<String>,
    #[serde(default)]
    pub figure: Option<String>,
    /// Figures that the source prints for the points of `over`. If set, our figures are compared with the printed ones.
    #[serde(default)]
    pub published: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stat {
    /// Mean over runs. For a claim about a ratio, the ratio of the two means.
    #[default]
    Mean,
    Median,
    Min,
    Max,
    Deviation,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expectation {
    #[default]
    Holds,
    /// The claim holds only at some of its points, or only in some runs.
    HoldsPartly,
    DoesNotHold,
}

impl Expectation {
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::HoldsPartly => "holds partly",
            Self::DoesNotHold => "does not hold",
        }
    }
}

fn unity() -> f64 {
    1.0
}

fn yes() -> bool {
    true
}
