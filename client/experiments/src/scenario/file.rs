//! A scenario file as it is written.

use indexmap::IndexMap;
use serde::Deserialize;
use toml::{Table, Value};
use vocabulary::did_you_mean;

use super::claim::Claim;
use super::derived::Derived;
use super::plot::Plot;

/// A scenario: experiments and the claims that their figures are held against.
#[expect(missing_docs, reason = "docs/scenarios.md says what the keys mean")]
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Kebab-case; how it is asked for.
    pub name: String,
    pub title: String,
    /// Title for tables, at most 31 characters.
    #[serde(default)]
    pub short_title: Option<String>,
    /// The document, paper or system that the claims are about.
    #[serde(default)]
    pub source: String,
    /// What is modelled, and what a reader must know.
    #[serde(default)]
    pub about: String,
    /// The first seed; repeat r uses seed + r.
    #[serde(default = "one")]
    pub seed: u64,
    /// Seeds of every cell, unless its experiment says otherwise.
    #[serde(default = "ten")]
    pub repeats: u32,
    /// Whether the source's figures and sentences come from one random run each.
    #[serde(default)]
    pub one_run: bool,
    /// Workload of all experiments.
    #[serde(default)]
    pub workload: Table,
    /// Server of all experiments, in the words of `PATCH /_mock/config`.
    #[serde(default)]
    pub server: Table,
    /// Strategies by the label under which tables and claims know them.
    pub strategies: IndexMap<String, String>,
    /// Figures that are computed from calls in bins.
    #[serde(default)]
    pub figure: IndexMap<String, Derived>,
    pub experiment: IndexMap<String, ExperimentSection>,
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// Figures for a report, by name.
    #[serde(default)]
    pub plot: IndexMap<String, Plot>,
    /// How it is run over real HTTP, if it can be.
    #[serde(default)]
    pub http: Option<Http>,
}

/// Strategies against one server under one workload, perhaps at several points.
#[expect(missing_docs, reason = "docs/scenarios.md says what the keys mean")]
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentSection {
    #[serde(default)]
    pub title: String,
    /// Labels; all when left out.
    #[serde(default)]
    pub strategies: Vec<String>,
    #[serde(default)]
    pub repeats: Option<u32>,
    #[serde(default)]
    pub workload: Table,
    #[serde(default)]
    pub server: Table,
    /// Keys of the workload or the server, or `strategy.` and a parameter, and the values they take in turn.
    #[serde(default)]
    pub vary: IndexMap<String, Vec<Value>>,
    /// What its table shows.
    #[serde(default)]
    pub columns: Vec<Column>,
}

/// A column of an experiment's table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "docs/scenarios.md says what the keys mean")]
pub struct Column {
    pub title: String,
    /// A figure of a run: its path in the result, or the name of a derived one.
    pub figure: String,
    /// Taken away from it.
    #[serde(default)]
    pub minus: f64,
    /// Multiplied with afterwards: another unit.
    #[serde(default = "unity")]
    pub times: f64,
}

impl Column {
    /// The figure's value in the scenario's unit.
    pub fn scaled(&self, value: f64) -> f64 {
        (value - self.minus) * self.times
    }
}

/// How a scenario is run over real HTTP.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "docs/scenarios.md says what the keys mean")]
pub struct Http {
    /// The experiments that are worth the time.
    pub experiments: Vec<String>,
    #[serde(default = "unity")]
    pub time_scale: f64,
    #[serde(default = "one_repeat")]
    pub repeats: u32,
}

impl Scenario {
    /// The labels of an experiment's strategies.
    pub fn labels<'a>(&'a self, experiment: &'a ExperimentSection) -> Vec<&'a str> {
        if experiment.strategies.is_empty() {
            self.strategies.keys().map(String::as_str).collect()
        } else {
            experiment.strategies.iter().map(String::as_str).collect()
        }
    }

    /// The experiment that a claim is about.
    pub fn experiment_of<'a>(&'a self, claim: &'a Claim) -> Option<(&'a str, &'a ExperimentSection)> {
        self.experiment_named(claim.experiment.as_deref())
    }

    /// The experiment of this name; the only one when no name is given.
    pub fn experiment_named(&self, name: Option<&str>) -> Option<(&str, &ExperimentSection)> {
        let name = match (name, self.experiment.first()) {
            (Some(name), _) => name,
            (None, Some((only, _))) if self.experiment.len() == 1 => only,
            (None, _) => return None,
        };
        self.experiment.get_key_value(name).map(|(name, experiment)| (name.as_str(), experiment))
    }

    /// Why there is no experiment of this name for `what`.
    pub(super) fn no_experiment(&self, name: Option<&str>, what: &str) -> String {
        let known = self.experiment.keys().cloned().collect::<Vec<_>>().join("`, `");
        match name {
            Some(unknown) => {
                let suggestion = did_you_mean(unknown, self.experiment.keys().map(String::as_str));
                format!("no experiment is called `{unknown}`{suggestion}; there are `{known}`")
            }
            None => format!("name the experiment that {what} is about; there are `{known}`"),
        }
    }
}

fn one() -> u64 {
    1
}

fn one_repeat() -> u32 {
    1
}

fn ten() -> u32 {
    10
}

fn unity() -> f64 {
    1.0
}
