//! Structure of a scenario file: its experiments, claims and plots.

use indexmap::IndexMap;
use serde::Deserialize;
use toml::{Table, Value};
use vocabulary::did_you_mean;

use crate::scenario::wrong::Wrong;
use crate::scenario::{Claim, Derived, Plot};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name by which the user selects the scenario, in kebab-case.
    pub name: String,
    pub title: String,
    /// Title of the scenario for use in tables, at most 31 characters.
    pub short_title: Option<String>,
    #[serde(default)]
    pub source: String,
    #[serde(default)]
    pub about: String,
    /// Seed of the first run of each cell. Run r of a cell (counted from 0) has the seed `seed + r`.
    #[serde(default = "one")]
    pub seed: u64,
    /// Number of runs of each cell (strategy at one point). Each run of a cell has its own seed. An experiment may set another number.
    #[serde(default = "ten")]
    pub repeats: u32,
    /// Whether the figures and sentences of the source describe a single random run.
    #[serde(default)]
    pub one_run: bool,
    #[serde(default)]
    pub workload: Table,
    /// Server configuration of all experiments, with the keys of `PATCH /_mock/config`.
    #[serde(default)]
    pub server: Table,
    /// Strategies of the scenario by label. The scenario's tables and claims refer to strategies by these labels.
    pub strategies: IndexMap<String, String>,
    #[serde(default)]
    pub figure: IndexMap<String, Derived>,
    pub experiment: IndexMap<String, ExperimentSection>,
    #[serde(default)]
    pub claim: Vec<Claim>,
    #[serde(default)]
    pub plot: IndexMap<String, Plot>,
    pub http: Option<Http>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExperimentSection {
    pub title: String,
    /// Labels of the strategies that the experiment runs. By default, all strategies of the scenario are run.
    pub strategies: Vec<String>,
    pub repeats: Option<u32>,
    pub workload: Table,
    pub server: Table,
    /// Varied parameters and their values. A parameter is a key of the workload or of the server, or a parameter of the strategies with the
    /// prefix `strategy.`.
    pub vary: IndexMap<String, Vec<Value>>,
    pub columns: Vec<Column>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    pub title: String,
    /// Figure that the column shows: the path of the figure in a run's result, or the name of a derived figure.
    pub figure: String,
    #[serde(default)]
    pub minus: f64,
    /// Factor by which the figure is multiplied to convert its unit. `minus` is subtracted first.
    #[serde(default = "one")]
    pub times: f64,
}

impl Column {
    pub fn scaled(&self, value: f64) -> f64 {
        (value - self.minus) * self.times
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    /// Names of the experiments that are short enough to be run over HTTP.
    pub experiments: Vec<String>,
    #[serde(default = "one")]
    pub time_scale: f64,
    #[serde(default = "one")]
    pub repeats: u32,
}

impl Scenario {
    pub fn labels<'a>(&'a self, experiment: &'a ExperimentSection) -> Vec<&'a str> {
        if experiment.strategies.is_empty() {
            self.strategies.keys().map(String::as_str).collect()
        } else {
            experiment.strategies.iter().map(String::as_str).collect()
        }
    }

    pub fn experiment_named(&self, name: Option<&str>) -> Option<(&str, &ExperimentSection)> {
        let name = match (name, self.experiment.first()) {
            (Some(name), _) => name,
            (None, Some((only, _))) if self.experiment.len() == 1 => only,
            (None, _) => return None,
        };
        self.experiment.get_key_value(name).map(|(name, experiment)| (name.as_str(), experiment))
    }

    /// Returns the experiment with a name, which may be left out if there is only one. `what` is the part of the file that names it.
    pub(super) fn existing(
        &self,
        name: Option<&str>,
        what: &str,
    ) -> Result<(&str, &ExperimentSection), Wrong> {
        self.experiment_named(name).ok_or_else(|| Wrong::new("experiment", self.no_experiment(name, what)))
    }

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

/// Returns the default of numbers that count or multiply.
pub(super) fn one<T: From<u8>>() -> T {
    T::from(1)
}

fn ten() -> u32 {
    10
}
