//! Selection of the data for a scenario's plot: cells, columns and the length of time steps. Plots that cannot be drawn are rejected.

use std::time::Duration;

use results::Basis;
use vocabulary::{did_you_mean, duration_text};

use crate::scenario::cells::{Cell, is_at};
use crate::scenario::file::{Column, Scenario};
use crate::scenario::plot::Plot;
use crate::scenario::wrong::Wrong;

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

    pub fn step(&self, cells: &[&Cell]) -> Option<Duration> {
        let own = self.step.as_deref().and_then(|step| duration_text::parse(step).ok());
        own.or_else(|| cells.first()?.settings.run.bins)
    }

    fn offered(&self, drawables: &[Drawable]) -> Result<Basis, Wrong> {
        let found = drawables.iter().find(|drawable| drawable.name == self.draw);
        found.map(|drawable| drawable.basis).ok_or_else(|| {
            let names: Vec<&str> = drawables.iter().map(|drawable| drawable.name).collect();
            let suggestion = did_you_mean(&self.draw, names.iter().copied());
            let words =
                format!("unknown figure `{}`{suggestion}; there are `{}`", self.draw, names.join("`, `"));
            Wrong::new("draw", words)
        })
    }

    pub(super) fn check(
        &self,
        scenario: &Scenario,
        cells: &[Cell],
        drawables: &[Drawable],
    ) -> Result<Basis, Wrong> {
        let basis = self.offered(drawables)?;
        let Some((name, experiment)) = scenario.experiment_named(self.experiment.as_deref()) else {
            return Err(Wrong::new(
                "experiment",
                scenario.no_experiment(self.experiment.as_deref(), "the figure"),
            ));
        };
        let labels = scenario.labels(experiment);
        if let Some(unknown) = self.strategies.iter().find(|label| !labels.contains(&label.as_str())) {
            let suggestion = did_you_mean(unknown, labels.iter().copied());
            return Err(Wrong::new(
                "strategies",
                format!("`{unknown}` is not run in experiment `{name}`{suggestion}"),
            ));
        }
        let own = self.cells(scenario, cells);
        if own.is_empty() {
            let at = self.at.as_ref().map(ToString::to_string).unwrap_or_default();
            return Err(Wrong::new("at", format!("experiment `{name}` has no point {at}")));
        }
        if !basis.is_of_cells() {
            let twice = |index: &&usize| {
                own.iter().filter(|other| cells[**other].label == cells[**index].label).count() > 1
            };
            if own.iter().find(twice).is_some() {
                let words = format!(
                    "`{}` draws a single run, but experiment `{name}` has several points; choose one with `at`",
                    self.draw
                );
                return Err(Wrong::new("at", words));
            }
        }
        self.check_options(basis, name, &experiment.columns)?;
        let own: Vec<&Cell> = own.iter().map(|index| &cells[*index]).collect();
        if basis == Basis::Steps && self.step(&own).is_none() {
            return Err(Wrong::new(
                "draw",
                format!("`{}` needs the length of a step, such as `step = \"100ms\"`", self.draw),
            ));
        }
        Ok(basis)
    }

    fn check_options(&self, basis: Basis, name: &str, columns: &[Column]) -> Result<(), Wrong> {
        let idle = [
            ("columns", !self.columns.is_empty() && !matches!(basis, Basis::Columns | Basis::Chosen)),
            ("series", !self.series.is_empty() && basis != Basis::Steps),
            ("step", self.step.is_some() && basis != Basis::Steps),
        ];
        if let Some((key, _)) = idle.into_iter().find(|(_, idle)| *idle) {
            return Err(Wrong::new(
                key,
                format!("`{key}` has no effect on plots of kind `{}`; leave it out", self.draw),
            ));
        }
        for title in &self.columns {
            if !columns.iter().any(|column| column.title == *title) {
                let suggestion = did_you_mean(title, columns.iter().map(|column| column.title.as_str()));
                return Err(Wrong::new(
                    "columns",
                    format!("no column of experiment `{name}` is titled `{title}`{suggestion}"),
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
                Ok(Duration::ZERO) => {
                    return Err(Wrong::new(key, format!("`{key}` must be longer than zero")));
                }
                Ok(_) => {}
                Err(error) => return Err(Wrong::new(key, format!("`{key}`: {error}"))),
            }
        }
        Ok(())
    }
}

/// A plot that scenarios can request by name.
#[derive(Clone, Copy, Debug)]
pub struct Drawable {
    pub name: &'static str,
    pub basis: Basis,
}
