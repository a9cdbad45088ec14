//! A claim as written in a scenario file. It consists of a sentence of the scenario's source (such as a paper), a figure, and a condition
//! that the figure must meet.

use results::ClaimVerdict;
use serde::Deserialize;
use toml::Value;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub says: String,
    /// Quotation of the source, or the figure that the source prints. The default is the value of `printed`.
    #[serde(default)]
    published: String,
    /// True if the scenario file makes the claim and its source does not. Such claims are shown and counted separately.
    #[serde(default)]
    pub ours: bool,
    /// Name of the experiment that the claim is about. It may be left out if the scenario has only one experiment.
    pub experiment: Option<String>,
    /// Figure that the claim is about: the path of the figure in a run's result, or the name of a derived figure.
    pub figure: String,
    #[serde(default)]
    pub minus: f64,
    /// Factor by which the figure is multiplied to convert its unit. `minus` is subtracted first.
    #[serde(default = "crate::scenario::file::one")]
    pub times: f64,
    /// Labels of the strategies that the claim is about. The claim must be true of each of them.
    pub of: Labels,
    /// Figure to compare with. If it is set, the claim is about the ratio of the claim's figure to this figure.
    pub against: Option<Against>,
    /// Point at which the claim is judged, for an experiment with several points. It is the value of the varied parameter, or a table of
    /// the values of several parameters.
    pub at: Option<Value>,
    /// Points of the experiment at which the claim is judged. Each point is judged separately.
    #[serde(default)]
    pub over: Vec<Value>,
    /// Two points of the experiment. If they are set, the claim is about the exponent with which the figure grows from the first to the
    /// second.
    pub growth: Option<[Value; 2]>,
    pub stat: Option<Stat>,
    /// Whether the source describes one random run. The default is the value of `one_run` for the whole scenario.
    one_run: Option<bool>,
    pub(super) above: Option<Bound>,
    pub(super) at_least: Option<Bound>,
    pub(super) below: Option<Bound>,
    pub(super) at_most: Option<Bound>,
    pub(super) printed: Option<String>,
    /// Accepted difference from the printed figure. The default is half a unit of the figure's last digit.
    pub(super) precision: Option<f64>,
    /// Explanation of the condition, for readers: the interpretation of the source's words, and its reason.
    #[serde(default)]
    pub means: String,
    /// Whether the claim can also be judged if the experiment is run over real HTTP.
    #[serde(default = "yes")]
    pub http: bool,
    #[serde(default)]
    pub expect: Expectation,
    #[serde(default)]
    pub note: String,
    pub plot: Option<String>,
}

impl Claim {
    pub fn scaled(&self, value: f64) -> f64 {
        (value - self.minus) * self.times
    }

    pub fn published(&self) -> &str {
        if self.published.is_empty() { self.printed.as_deref().unwrap_or_default() } else { &self.published }
    }

    /// Returns true if the claim is judged run by run, because the source describes a single run. A claim that the scenario itself makes is
    /// judged run by run only if the claim sets `one_run`.
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
    /// Labels of the strategies that a claim compares its own strategy with. The same figure is compared, and at the same point.
    Labels(Labels),
    Place(ComparedFigure),
}

/// Description of the figure that a claim compares its own figure with. A key that is left out here has the value that it has in the claim.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ComparedFigure {
    pub of: Option<String>,
    /// Point of the figure that a claim's own figure is compared with. The point may be a table. A key that the table leaves out has the
    /// value that it has in the claim.
    pub at: Option<Value>,
    pub experiment: Option<String>,
    pub figure: Option<String>,
    /// Figures that the source prints, one for each point in `over`. If they are set, our figures are compared with them.
    pub published: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stat {
    /// Mean over runs. If a claim is about a ratio of two figures, the mean of the first figure is divided by the mean of the second.
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
    /// The claim holds at some of its points and not at others, or in some runs and not in others.
    HoldsPartly,
    DoesNotHold,
}

impl Expectation {
    pub fn verdict(self) -> ClaimVerdict {
        match self {
            Self::Holds => ClaimVerdict::Holds,
            Self::HoldsPartly => ClaimVerdict::HoldsPartly,
            Self::DoesNotHold => ClaimVerdict::DoesNotHold,
        }
    }
}

fn yes() -> bool {
    true
}
