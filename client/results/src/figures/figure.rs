//! Description of a figure: its path, its name, and how it is read from a run.

use crate::RunResult;

#[derive(Clone, Copy, Debug)]
pub struct Figure {
    pub path: &'static str,
    /// Name of the figure for sentences. Empty if the path of the figure is clear enough to be used as its name.
    pub name: &'static str,
    /// Unit: `s`, `ms`, `/s` or `bytes`; empty for counts and ratios.
    pub unit: &'static str,
    pub better: Direction,
    /// True if the figure is meaningful only for runs in which every op was done. In other runs, a client that gives up
    /// would look fast, because its run ends early.
    pub of_complete_runs_only: bool,
    pub kind: Kind,
    pub summed: bool,
    pub ranked: Option<Ranked>,
    of: fn(&RunResult) -> Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Less,
    More,
    /// Neither higher nor lower is better, because the figure follows from others or is a matter of taste.
    Neutral,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Count,
    Measure,
    /// Figure that is true or false, represented by 1 for true and 0 for false.
    Truth,
}

#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    /// Value of the flag `--by` with which a user selects the score.
    pub key: &'static str,
    pub help: &'static str,
    pub title: &'static str,
    /// Heading of the score's column in tables. If `None`, the heading consists of the key and the unit of the score.
    pub heading: Option<&'static str>,
}

impl Figure {
    pub fn of(&self, run: &RunResult) -> Option<f64> {
        (self.of)(run)
    }

    pub fn cell(&self, run: &RunResult) -> String {
        let Some(value) = self.of(run) else { return String::new() };
        match self.kind {
            Kind::Count => format!("{value:.0}"),
            Kind::Truth => (value != 0.0).to_string(),
            // Measures are formatted as in JSON, so that a value has the same text in every kind of file.
            Kind::Measure => serde_json::to_string(&value).unwrap_or_default(),
        }
    }

    pub(super) const fn new(path: &'static str, kind: Kind, of: fn(&RunResult) -> Option<f64>) -> Self {
        let (name, unit, better) = ("", "", Direction::Neutral);
        Self { path, name, unit, better, of_complete_runs_only: false, kind, summed: false, ranked: None, of }
    }

    pub(super) const fn count(path: &'static str, of: fn(&RunResult) -> Option<f64>) -> Self {
        Self::new(path, Kind::Count, of)
    }

    pub(super) const fn measure(
        path: &'static str,
        unit: &'static str,
        of: fn(&RunResult) -> Option<f64>,
    ) -> Self {
        Self { unit, ..Self::new(path, Kind::Measure, of) }
    }

    pub(super) const fn truth(path: &'static str, of: fn(&RunResult) -> Option<f64>) -> Self {
        Self::new(path, Kind::Truth, of)
    }

    pub(super) const fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    pub(super) const fn less(self) -> Self {
        Self { better: Direction::Less, ..self }
    }

    pub(super) const fn more(self) -> Self {
        Self { better: Direction::More, ..self }
    }

    pub(super) const fn of_complete(self) -> Self {
        Self { of_complete_runs_only: true, ..self }
    }

    pub(super) const fn summed(self) -> Self {
        Self { summed: true, ..self }
    }

    pub(super) const fn headed(self, heading: &'static str) -> Self {
        match self.ranked {
            Some(ranked) => Self { ranked: Some(Ranked { heading: Some(heading), ..ranked }), ..self },
            None => self,
        }
    }

    pub(super) const fn ranked(self, key: &'static str, help: &'static str, title: &'static str) -> Self {
        Self { ranked: Some(Ranked { key, help, title, heading: None }), ..self }
    }
}
