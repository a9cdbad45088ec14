//! A claim as it is written: a sentence of the source, where to look, and what must be so.

use serde::Deserialize;
use toml::Value;

/// One claim, and what is expected of it here.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "docs/scenarios.md says what the keys mean")]
pub struct Claim {
    /// In one line.
    pub says: String,
    /// The source's own words or figure; what is `printed`, when left out.
    #[serde(default)]
    published: String,
    /// A statement of this file, which the source does not make: shown apart and counted apart.
    #[serde(default)]
    pub ours: bool,
    /// The experiment; may be left out when there is only one.
    #[serde(default)]
    pub experiment: Option<String>,
    /// A figure of a run: its path in the result, or the name of a derived one.
    pub figure: String,
    /// Taken away from it.
    #[serde(default)]
    pub minus: f64,
    /// Multiplied with afterwards: another unit.
    #[serde(default = "unity")]
    pub times: f64,
    /// Whose figure it is, by label; of several, the claim is about each.
    pub of: Labels,
    /// What it is compared with: then the figure is a ratio.
    #[serde(default)]
    pub against: Option<Against>,
    /// The point, when the experiment has several: the value of what it varies.
    #[serde(default)]
    pub at: Option<Value>,
    /// Several points, at each of which the claim may hold or not.
    #[serde(default)]
    pub over: Vec<Value>,
    /// Two points: then the figure is the exponent with which it grows between them.
    #[serde(default)]
    pub growth: Option<[Value; 2]>,
    /// What is made of the values of all runs.
    #[serde(default)]
    pub stat: Option<Stat>,
    /// Whether the source speaks of one random run; what the scenario says, when left out.
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
    /// The source's figure as it is printed.
    #[serde(default)]
    pub(super) printed: Option<String>,
    /// How far the printed figure may be off, when that is not half a unit of its last digit.
    #[serde(default)]
    pub(super) precision: Option<f64>,
    /// What the source's words are taken to mean, and why.
    #[serde(default)]
    pub means: String,
    /// Whether it makes sense over real HTTP.
    #[serde(default = "yes")]
    pub http: bool,
    /// What is known of it.
    #[serde(default)]
    pub expect: Expectation,
    #[serde(default)]
    pub note: String,
    /// The figure of a report that shows it.
    #[serde(default)]
    pub plot: Option<String>,
}

impl Claim {
    /// The figure's value in the scenario's unit.
    pub fn scaled(&self, value: f64) -> f64 {
        (value - self.minus) * self.times
    }

    /// The source's words or figure.
    pub fn published(&self) -> &str {
        if self.published.is_empty() { self.printed.as_deref().unwrap_or_default() } else { &self.published }
    }

    /// Whether it is judged run by run, because the source had only one. Our own statements are not, unless they say so.
    pub fn one_run(&self, scenario: bool) -> bool {
        self.stat.is_none() && self.one_run.unwrap_or(scenario && !self.ours)
    }

    /// Every figure that it needs.
    pub fn figures(&self) -> impl Iterator<Item = &str> {
        let other = match &self.against {
            Some(Against::Place(place)) => place.figure.as_deref(),
            _ => None,
        };
        std::iter::once(self.figure.as_str()).chain(other)
    }

    /// Whether `stat` and `one_run` contradict each other.
    pub(super) fn judged_twice(&self) -> bool {
        self.stat.is_some() && self.one_run == Some(true)
    }
}

/// One side of a condition as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a number, or the source's own number in quotes")]
pub enum Bound {
    /// Our reading of words.
    Number(f64),
    /// As the source prints it.
    Printed(String),
}

/// One label or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a strategy's label, or a list of labels")]
#[expect(missing_docs, reason = "as their names say")]
pub enum Labels {
    One(String),
    Each(Vec<String>),
}

impl Labels {
    /// All of them.
    pub fn all(&self) -> &[String] {
        match self {
            Self::One(label) => std::slice::from_ref(label),
            Self::Each(labels) => labels,
        }
    }
}

/// What a figure is compared with.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "a strategy's label, a list of labels, a table of `of`, `at`, `experiment` and `figure`, or one of `published`"
)]
pub enum Against {
    /// The same figure of other strategies, at the same point.
    Labels(Labels),
    /// The figure of another place.
    Place(Place),
}

/// Where a figure stands; whatever is left out is as the claim says.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "docs/scenarios.md says what the keys mean")]
pub struct Place {
    #[serde(default)]
    pub of: Option<String>,
    /// The point; of a table only those keys differ.
    #[serde(default)]
    pub at: Option<Value>,
    #[serde(default)]
    pub experiment: Option<String>,
    #[serde(default)]
    pub figure: Option<String>,
    /// Instead of a place of ours: the source's own figure at every point of `over`.
    #[serde(default)]
    pub published: Vec<f64>,
}

/// What is made of the values of all runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "as their names say")]
pub enum Stat {
    /// The mean; of a ratio, the ratio of the means.
    #[default]
    Mean,
    Median,
    Min,
    Max,
    /// The standard deviation over runs.
    Deviation,
}

/// What a claim is expected to come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "as their names say")]
pub enum Expectation {
    #[default]
    Holds,
    /// At some of its points, or in some runs, only.
    HoldsPartly,
    DoesNotHold,
}

impl Expectation {
    /// In words.
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
