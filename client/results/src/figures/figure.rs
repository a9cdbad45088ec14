//! What is known of a figure: its place, its words, and how it is read from a run.

use crate::run::RunResult;

/// A number that stands in the result of every run that has it.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Its place in the result: `op_latency_ms.p99`.
    pub path: &'static str,
    /// What it is called in a sentence; empty where the path says it.
    pub name: &'static str,
    /// `s`, `ms`, `/s`, `bytes`; empty for counts and ratios.
    pub unit: &'static str,
    /// Whether more of it is better.
    pub better: Direction,
    /// Whether it says nothing about a run that left ops undone: who gives up is soon done.
    pub of_complete_runs_only: bool,
    /// How it is written.
    pub kind: Kind,
    /// Whether several runs are summed up by it.
    pub summed: bool,
    /// How strategies are ranked by it; nothing where they cannot be.
    pub ranked: Option<Ranked>,
    of: fn(&RunResult) -> Option<f64>,
}

/// Which of two values of a figure is to be preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The smaller one.
    Less,
    /// The larger one.
    More,
    /// Neither: it follows from others, or is a matter of taste.
    Neutral,
}

/// What a figure's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Count,
    /// Any number.
    Measure,
    /// 1 for true, 0 for false.
    Truth,
}

/// A figure that strategies are ranked by, the one with the least first.
#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    /// What `--by` takes.
    pub key: &'static str,
    /// What it is, for help texts.
    pub help: &'static str,
    /// What it is called on a page.
    pub title: &'static str,
    /// What heads its column, where that is not its key and its unit.
    pub heading: Option<&'static str>,
}

impl Figure {
    /// Its value in a run; nothing where the run does not have it.
    pub fn of(&self, run: &RunResult) -> Option<f64> {
        (self.of)(run)
    }

    /// Its value as a cell of a table for programs, empty where the run does not have it.
    pub fn cell(&self, run: &RunResult) -> String {
        let Some(value) = self.of(run) else { return String::new() };
        match self.kind {
            Kind::Count => format!("{value:.0}"),
            Kind::Truth => (value != 0.0).to_string(),
            // As JSON has it: the same value is the same text in every file.
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
