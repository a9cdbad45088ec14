//! Selection of the data for a scenario's plot: cells, columns and the length of time steps. Plots that cannot be drawn are rejected.

use std::collections::BTreeSet;
use std::time::Duration;

use dashboards::report::{Entry, PLOTS};
use results::Basis;
use vocabulary::{did_you_mean, duration_text};

use crate::scenario::cells::{Cell, is_at};
use crate::scenario::wrong::{Wrong, refuse};
use crate::scenario::{Column, Plot, Scenario};

impl Plot {
    pub fn experiment<'a>(&'a self, scenario: &'a Scenario) -> Option<&'a str> {
        scenario.experiment_named(self.experiment.as_deref()).map(|(name, _)| name)
    }

    pub fn columns<'a>(&'a self, scenario: &'a Scenario) -> Vec<&'a Column> {
        let Some((_, experiment)) = scenario.experiment_named(self.experiment.as_deref()) else {
            return Vec::new();
        };
        let all = &experiment.columns;
        if self.columns.is_empty() {
            return all.iter().collect();
        }
        self.columns.iter().filter_map(|title| all.iter().find(|column| column.title == *title)).collect()
    }

    /// Returns the indices of the cells whose data the plot shows. If the plot names strategies, the cells are in the order of these
    /// strategies.
    pub fn cells(&self, scenario: &Scenario, cells: &[Cell]) -> Vec<usize> {
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

    /// Returns the length of a time step in the plot of one run of a cell.
    pub fn step(&self, cell: &Cell) -> Option<Duration> {
        let own = self.step.as_deref().and_then(|step| duration_text::parse(step).ok());
        own.or(cell.settings.run.bins)
    }

    /// Checks that the plot can be drawn, and returns the kind of data that it needs.
    pub(super) fn check(&self, scenario: &Scenario, cells: &[Cell]) -> Result<Basis, Wrong> {
        let Some(Entry { basis, .. }) = PLOTS.iter().find(|entry| entry.name == self.draw) else {
            let names: Vec<&str> = PLOTS.iter().map(|entry| entry.name).collect();
            let suggestion = did_you_mean(&self.draw, names.iter().copied());
            let words =
                format!("unknown figure `{}`{suggestion}; there are `{}`", self.draw, names.join("`, `"));
            return refuse("draw", words);
        };
        let (name, experiment) = scenario.existing(self.experiment.as_deref(), "the figure")?;
        let labels = scenario.labels(experiment);
        if let Some(unknown) = self.strategies.iter().find(|label| !labels.contains(&label.as_str())) {
            let suggestion = did_you_mean(unknown, labels.iter().copied());
            let words = format!("`{unknown}` is not run in experiment `{name}`{suggestion}");
            return refuse("strategies", words);
        }
        let own: Vec<&Cell> = self.cells(scenario, cells).into_iter().map(|index| &cells[index]).collect();
        let Some(first) = own.first() else {
            let at = self.at.as_ref().map(ToString::to_string).unwrap_or_default();
            return refuse("at", format!("experiment `{name}` has no point {at}"));
        };
        let labels: BTreeSet<&str> = own.iter().map(|cell| cell.label.as_str()).collect();
        if !basis.is_of_cells() && labels.len() < own.len() {
            let words = format!(
                "`{}` draws a single run, but experiment `{name}` has several points; choose one with `at`",
                self.draw
            );
            return refuse("at", words);
        }
        self.check_options(*basis, name, &experiment.columns)?;
        if *basis == Basis::Steps && self.step(first).is_none() {
            let words = format!("`{}` needs the length of a step, such as `step = \"100ms\"`", self.draw);
            return refuse("draw", words);
        }
        Ok(*basis)
    }

    fn check_options(&self, basis: Basis, name: &str, columns: &[Column]) -> Result<(), Wrong> {
        let idle = [
            ("columns", !self.columns.is_empty() && !matches!(basis, Basis::Columns | Basis::Chosen)),
            ("series", !self.series.is_empty() && basis != Basis::Steps),
            ("step", self.step.is_some() && basis != Basis::Steps),
        ];
        if let Some((key, _)) = idle.into_iter().find(|(_, idle)| *idle) {
            return refuse(
                key,
                format!("`{key}` has no effect on plots of kind `{}`; leave it out", self.draw),
            );
        }
        for title in &self.columns {
            if !columns.iter().any(|column| column.title == *title) {
                let suggestion = did_you_mean(title, columns.iter().map(|column| column.title.as_str()));
                return refuse(
                    "columns",
                    format!("no column of experiment `{name}` is titled `{title}`{suggestion}"),
                );
            }
        }
        for (key, written) in [
            ("step", &self.step),
            ("until", &self.until),
            ("smooth", &self.smooth),
            ("time_unit", &self.time_unit),
        ] {
            match written.as_deref().map(duration_text::parse) {
                Some(Ok(Duration::ZERO)) => return refuse(key, format!("`{key}` must be longer than zero")),
                Some(Err(error)) => return refuse(key, format!("`{key}`: {error}")),
                _ => {}
            }
        }
        Ok(())
    }
}
