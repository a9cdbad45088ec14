//! Figures of a scenario's runs, for the tables and claims of the scenario.

use std::collections::{BTreeMap, BTreeSet};

use loadgen_core::Bins;
use results::{Figure, RunResult};

use crate::scenario::{Claim, Scenario};

/// Names of the figures that are recorded for every run, because runs are ordered by them. They are recorded even if the scenario does not
/// request them.
const MAKESPAN: &str = "makespan_s";
const COMPLETE: &str = "makespan_complete";

/// Figures of one run, by name. Figures that the run does not have are left out.
pub type Measured = BTreeMap<String, f64>;

/// Figures of all runs of a scenario. They are grouped by cell (one strategy at one point). Within a cell, runs are in the order of seeds.
#[derive(Clone, Debug, Default)]
pub struct Data {
    runs: Vec<Vec<Measured>>,
}

impl Data {
    pub fn new(cells: usize) -> Self {
        Self { runs: vec![Vec::new(); cells] }
    }

    pub fn finished(&self) -> usize {
        self.runs.iter().map(Vec::len).sum()
    }

    pub fn push(&mut self, cell: usize, run: Measured) {
        self.runs[cell].push(run);
    }

    /// Returns one figure for every run of a cell, in the order of seeds. For a run without the figure, the value is NaN.
    pub fn values(&self, cell: usize, figure: &str) -> Vec<f64> {
        let value = |run: &Measured| run.get(figure).copied().unwrap_or(f64::NAN);
        self.runs[cell].iter().map(value).collect()
    }

    /// Returns the index of the run with median makespan among the runs of a cell. In this order, every incomplete run comes after all
    /// complete runs.
    pub fn middle_run(&self, cell: usize) -> Option<usize> {
        let runs = &self.runs[cell];
        let key = |index: &usize| {
            let figure = |name: &str| runs[*index].get(name).copied();
            (figure(COMPLETE).unwrap_or(0.0) < 1.0, figure(MAKESPAN).unwrap_or(f64::MAX))
        };
        let mut order: Vec<usize> = (0..runs.len()).collect();
        order.sort_by(|a, b| {
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        order.get(runs.len().checked_sub(1)? / 2).copied()
    }

    pub fn has(&self, cell: usize) -> bool {
        !self.runs[cell].is_empty()
    }
}

pub fn wanted(scenario: &Scenario) -> BTreeSet<&str> {
    let columns = scenario.experiment.values().flat_map(|experiment| &experiment.columns);
    let columns = columns.map(|column| column.figure.as_str());
    columns.chain(scenario.claim.iter().flat_map(Claim::figures)).collect()
}

pub fn figures_of(scenario: &Scenario, result: &RunResult, bins: Option<&Bins>) -> Measured {
    let figure = |name: &str| match scenario.figure.get(name) {
        Some(derived) => derived.of(bins?),
        None => Figure::find(name)?.of(result),
    };
    let named = wanted(scenario).into_iter().chain([MAKESPAN, COMPLETE]);
    named.filter_map(|name| Some((name.to_owned(), figure(name)?))).collect()
}
