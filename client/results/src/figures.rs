//! The one list of the figures of a result. What ranks, columns, checks, baselines, sums over seeds, claims and tables of pages have
//! of figures is taken from here, by path; nobody else knows where in a result a figure stands.

mod list;

use crate::run::RunResult;

pub use list::{FIGURES, MAKESPAN_OVER_BOUND};

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
}

impl Figure {
    /// The figure at a path of a result.
    pub fn find(path: &str) -> Option<&'static Self> {
        FIGURES.iter().find(|figure| figure.path == path)
    }

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

    const fn new(path: &'static str, kind: Kind, of: fn(&RunResult) -> Option<f64>) -> Self {
        let (name, unit, better) = ("", "", Direction::Neutral);
        Self { path, name, unit, better, of_complete_runs_only: false, kind, summed: false, ranked: None, of }
    }

    const fn count(path: &'static str, of: fn(&RunResult) -> Option<f64>) -> Self {
        Self::new(path, Kind::Count, of)
    }

    const fn measure(path: &'static str, unit: &'static str, of: fn(&RunResult) -> Option<f64>) -> Self {
        Self { unit, ..Self::new(path, Kind::Measure, of) }
    }

    const fn truth(path: &'static str, of: fn(&RunResult) -> Option<f64>) -> Self {
        Self::new(path, Kind::Truth, of)
    }

    const fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    const fn less(self) -> Self {
        Self { better: Direction::Less, ..self }
    }

    const fn more(self) -> Self {
        Self { better: Direction::More, ..self }
    }

    const fn of_complete(self) -> Self {
        Self { of_complete_runs_only: true, ..self }
    }

    const fn summed(self) -> Self {
        Self { summed: true, ..self }
    }

    const fn ranked(self, key: &'static str, help: &'static str, title: &'static str) -> Self {
        Self { ranked: Some(Ranked { key, help, title }), ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::schema::run_leaves;

    #[test]
    fn every_number_of_a_result_is_a_figure_in_the_order_of_the_result() {
        let leaves = run_leaves();
        let numbers: Vec<&str> =
            leaves.iter().filter(|leaf| leaf.is_number).map(|leaf| leaf.path.as_str()).collect();
        let listed: Vec<&str> = FIGURES.iter().map(|figure| figure.path).collect();
        assert_eq!(listed, numbers);
    }

    #[test]
    fn every_path_and_every_key_of_a_ranking_is_there_once() {
        let paths: BTreeSet<&str> = FIGURES.iter().map(|figure| figure.path).collect();
        assert_eq!(paths.len(), FIGURES.len());
        let keys: Vec<&str> = FIGURES.iter().filter_map(|figure| Some(figure.ranked?.key)).collect();
        assert_eq!(keys.len(), keys.iter().collect::<BTreeSet<_>>().len());
        for figure in FIGURES.iter().filter(|figure| figure.ranked.is_some()) {
            assert!(!figure.name.is_empty() && figure.better == Direction::Less, "{}", figure.path);
        }
    }
}
