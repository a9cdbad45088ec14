//! A figure that a scenario asks for: as it is written, and the cells that it is drawn from.

use std::time::Duration;

use anyhow::anyhow;
use dashboards::report::{Basis, Entry, FIGURES};
use serde::Deserialize;
use toml::Value;
use vocabulary::{did_you_mean, duration_text};

use super::cell::Cell;
use super::file::{Column, Scenario};
use super::judge::is_at;

/// A figure, what the source says of it, and what it is drawn from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plot {
    /// Its name in the registry of figures.
    pub(crate) draw: String,
    pub(crate) title: String,
    /// What the source says that it shows.
    #[serde(default)]
    pub(crate) shows: String,
    /// What else a reader should know.
    #[serde(default)]
    pub(crate) note: String,
    /// May be left out when there is only one.
    #[serde(default)]
    pub(crate) experiment: Option<String>,
    /// Labels; all of the experiment when left out.
    #[serde(default)]
    pub(crate) strategies: Vec<String>,
    /// The point, or the points, when the experiment has several.
    #[serde(default)]
    pub(crate) at: Option<Value>,
    /// Titles of the experiment's columns; all when left out.
    #[serde(default)]
    pub(crate) columns: Vec<String>,
    /// What is counted in steps; all but successes when left out.
    #[serde(default)]
    pub(crate) series: Vec<Counted>,
    /// How long a step is; the workload's bins when left out.
    #[serde(default)]
    step: Option<String>,
    /// What comes later is left out.
    #[serde(default)]
    until: Option<String>,
    /// Over how long courses are averaged: a whole number of the waves in which a server answers hides them.
    #[serde(default)]
    smooth: Option<String>,
    /// In what times are given; seconds when left out.
    #[serde(default)]
    time_unit: Option<String>,
    #[serde(default)]
    pub(crate) scale: Scale,
}

/// How values are spread over the vertical axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Scale {
    /// As the figure does it by itself.
    #[default]
    Plain,
    Logarithmic,
}

/// What is counted in steps of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Counted {
    /// Attempts sent.
    Sent,
    /// Attempts that were rejected or failed.
    TurnedAway,
    /// The first attempts of their op.
    First,
    /// Attempts that succeeded.
    Succeeded,
    /// Attempts under way that are going to succeed: accepted, and not yet answered.
    Queued,
}

/// A key of a plot, and what is wrong with it.
type Fault = (&'static str, anyhow::Error);

impl Plot {
    /// The registry's entry.
    pub(crate) fn entry(&self) -> Result<&'static Entry, Fault> {
        Entry::named(&self.draw).ok_or_else(|| {
            let names: Vec<&str> = FIGURES.iter().map(|entry| entry.name).collect();
            let suggestion = did_you_mean(&self.draw, names.iter().copied());
            (
                "draw",
                anyhow!(
                    "no figure is called `{}`{suggestion}; there are `{}`",
                    self.draw,
                    names.join("`, `")
                ),
            )
        })
    }

    /// The experiment that it is about.
    pub(crate) fn experiment<'a>(&'a self, scenario: &'a Scenario) -> Option<&'a str> {
        scenario.experiment_named(self.experiment.as_deref()).map(|(name, _)| name)
    }

    /// The experiment's columns that are drawn.
    pub(crate) fn columns<'a>(&'a self, scenario: &'a Scenario) -> Vec<&'a Column> {
        let Some((_, experiment)) = scenario.experiment_named(self.experiment.as_deref()) else {
            return Vec::new();
        };
        let all = &experiment.columns;
        if self.columns.is_empty() {
            return all.iter().collect();
        }
        self.columns.iter().filter_map(|title| all.iter().find(|column| column.title == *title)).collect()
    }

    /// The cells that it is drawn from: in the order of the strategies that it names.
    pub(crate) fn cells(&self, scenario: &Scenario, cells: &[Cell]) -> Vec<usize> {
        let name = self.experiment(scenario);
        let drawn = |cell: &Cell| {
            Some(cell.experiment.as_str()) == name && self.at.as_ref().is_none_or(|at| is_at(cell, at))
        };
        let indices = || (0..cells.len()).filter(|index| drawn(&cells[*index]));
        if self.strategies.is_empty() {
            return indices().collect();
        }
        self.strategies
            .iter()
            .flat_map(|label| indices().filter(move |index| cells[*index].label == *label))
            .collect()
    }

    /// The length of a step; of the bins of the first cell, unless it says so itself.
    pub(crate) fn step(&self, cells: &[&Cell]) -> Option<Duration> {
        let own = self.step.as_deref().and_then(|step| duration_text::parse(step).ok());
        own.or_else(|| cells.first()?.settings.run.bins)
    }

    /// Up to when it is drawn, in seconds.
    pub(crate) fn until_s(&self) -> Option<f64> {
        seconds(self.until.as_deref())
    }

    /// Over how long it is averaged, in seconds.
    pub(crate) fn smooth_s(&self) -> Option<f64> {
        seconds(self.smooth.as_deref())
    }

    /// What stands for one on axes of time: in seconds, and its name.
    pub(crate) fn time_unit(&self) -> Option<(f64, String)> {
        let written = self.time_unit.as_deref()?;
        let unit = duration_text::parse(written).ok()?;
        let name = match written {
            "1s" => "s".to_owned(),
            "1ms" => "ms".to_owned(),
            other => {
                let digits = other.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(other.len());
                format!("steps of {} {}", &other[..digits], &other[digits..])
            }
        };
        Some((unit.as_secs_f64(), name))
    }

    /// Refuses what cannot be drawn.
    pub(crate) fn check(&self, scenario: &Scenario, cells: &[Cell]) -> Result<(), Fault> {
        let basis = self.entry()?.basis;
        let Some((name, experiment)) = scenario.experiment_named(self.experiment.as_deref()) else {
            return Err(("experiment", scenario.no_experiment(self.experiment.as_deref(), "the figure")));
        };
        let labels = scenario.labels(experiment);
        if let Some(unknown) = self.strategies.iter().find(|label| !labels.contains(&label.as_str())) {
            let suggestion = did_you_mean(unknown, labels.iter().copied());
            return Err(("strategies", anyhow!("`{unknown}` is not run in experiment `{name}`{suggestion}")));
        }
        let own = self.cells(scenario, cells);
        if own.is_empty() {
            let at = self.at.as_ref().map(ToString::to_string).unwrap_or_default();
            return Err(("at", anyhow!("experiment `{name}` has no point {at}")));
        }
        if !basis.is_of_cells() {
            let twice = |index: &&usize| {
                own.iter().filter(|other| cells[**other].label == cells[**index].label).count() > 1
            };
            if own.iter().find(twice).is_some() {
                let words = anyhow!(
                    "`{}` is drawn of one run, and experiment `{name}` has several points: say which, with `at`",
                    self.draw
                );
                return Err(("at", words));
            }
        }
        self.check_options(basis, name, &experiment.columns)?;
        let own: Vec<&Cell> = own.iter().map(|index| &cells[*index]).collect();
        if basis == Basis::Steps && self.step(&own).is_none() {
            return Err((
                "draw",
                anyhow!("`{}` needs to know how long a step is: `step = \"100ms\"`", self.draw),
            ));
        }
        Ok(())
    }

    fn check_options(&self, basis: Basis, name: &str, columns: &[Column]) -> Result<(), Fault> {
        let idle = [
            ("columns", !self.columns.is_empty() && !matches!(basis, Basis::Columns | Basis::Chosen)),
            ("series", !self.series.is_empty() && basis != Basis::Steps),
            ("step", self.step.is_some() && basis != Basis::Steps),
        ];
        if let Some((key, _)) = idle.into_iter().find(|(_, idle)| *idle) {
            return Err((key, anyhow!("`{key}` means nothing to `{}`; leave it out", self.draw)));
        }
        for title in &self.columns {
            if !columns.iter().any(|column| column.title == *title) {
                let suggestion = did_you_mean(title, columns.iter().map(|column| column.title.as_str()));
                return Err((
                    "columns",
                    anyhow!("no column of experiment `{name}` is titled `{title}`{suggestion}"),
                ));
            }
        }
        for (key, written) in [
            ("step", &self.step),
            ("until", &self.until),
            ("smooth", &self.smooth),
            ("time_unit", &self.time_unit),
        ] {
            let Some(written) = written else { continue };
            match duration_text::parse(written) {
                Ok(Duration::ZERO) => return Err((key, anyhow!("`{key}` must be longer than zero"))),
                Ok(_) => {}
                Err(error) => return Err((key, anyhow!("`{key}`: {error}"))),
            }
        }
        Ok(())
    }
}

fn seconds(written: Option<&str>) -> Option<f64> {
    duration_text::parse(written?).ok().map(|duration| duration.as_secs_f64())
}
