//! The figures of runs, as tables and claims ask for them.

use std::collections::{BTreeMap, BTreeSet};

use loadgen_core::{Bins, RunResult};
use serde_json::Value;

use super::cell::Cell;
use super::claim::Claim;
use super::file::Scenario;
use crate::interrupt::Interrupt;
use crate::record::ConfigRecord;

/// What the runs of a cell are put in order by; kept of every run, whatever a scenario asks for.
const MAKESPAN: &str = "makespan_s";
const COMPLETE: &str = "makespan_complete";

/// The figures of one run, by name; what a run does not have is missing.
pub(crate) type Measured = BTreeMap<String, f64>;

/// The figures of all runs of all cells of a scenario, cell by cell and in the order of seeds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Data {
    runs: Vec<Vec<Measured>>,
}

impl Data {
    /// No figures yet of this many cells.
    pub(crate) fn new(cells: usize) -> Self {
        Self { runs: vec![Vec::new(); cells] }
    }

    /// Adds a run of a cell.
    pub(crate) fn push(&mut self, cell: usize, run: Measured) {
        self.runs[cell].push(run);
    }

    /// A figure of every run of a cell, in the order of seeds; not a number where a run does not have it.
    pub(crate) fn values(&self, cell: usize, figure: &str) -> Vec<f64> {
        let value = |run: &Measured| run.get(figure).copied().unwrap_or(f64::NAN);
        self.runs[cell].iter().map(value).collect()
    }

    /// Which run of a cell is in the middle by makespan; one that did not complete comes after all that did.
    pub(crate) fn middle_run(&self, cell: usize) -> Option<usize> {
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

    /// Whether a cell was run at all.
    pub(crate) fn has(&self, cell: usize) -> bool {
        !self.runs[cell].is_empty()
    }
}

/// Every figure that a scenario asks for.
pub(crate) fn wanted(scenario: &Scenario) -> BTreeSet<&str> {
    let columns = scenario.experiment.values().flat_map(|experiment| &experiment.columns);
    let columns = columns.map(|column| column.figure.as_str());
    columns.chain(scenario.claim.iter().flat_map(Claim::figures)).collect()
}

/// The wanted figures of a run.
pub(crate) fn figures_of(
    scenario: &Scenario,
    result: &RunResult<ConfigRecord>,
    bins: Option<&Bins>,
) -> anyhow::Result<Measured> {
    let complete = f64::from(u8::from(result.makespan_complete));
    let result = serde_json::to_value(result)?;
    let figure = |name: &str| match scenario.figure.get(name) {
        Some(derived) => derived.of(bins?),
        None => at_path(&result, name)?.as_f64(),
    };
    let named = wanted(scenario).into_iter().chain([MAKESPAN]);
    let figures = named.filter_map(|name| Some((name.to_owned(), figure(name)?)));
    Ok(figures.chain([(COMPLETE.to_owned(), complete)]).collect())
}

fn at_path<'a>(result: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(result, |value, key| value.get(key))
}

/// Every path at which a result has a number, or could have one.
pub(crate) fn known_figures() -> Vec<String> {
    fn collect(value: &Value, path: &str, known: &mut Vec<String>) {
        match value {
            Value::Object(inner) if path != "config" => {
                for (key, value) in inner {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    collect(value, &path, known);
                }
            }
            Value::Number(_) | Value::Null => known.push(path.to_owned()),
            _ => {}
        }
    }
    let mut known = Vec::new();
    // A run of one op has every key that any run has.
    if let Ok(result) = smallest_run().and_then(|result| Ok(serde_json::to_value(&result)?)) {
        collect(&result, "", &mut known);
    }
    known
}

fn smallest_run() -> anyhow::Result<RunResult<ConfigRecord>> {
    let run = loadgen_core::RunConfig {
        workload: loadgen_core::Workload { ops: Some(1), ..loadgen_core::Workload::default() },
        ..loadgen_core::RunConfig::default()
    };
    let settings = crate::settings::Settings::of_run("none".parse()?, run);
    let server = mockserver::core::Config::default();
    let finished = crate::simulated::simulate(&settings, &server, 1, |_, _| loadgen_sim::Steer::On)?;
    Ok(crate::simulated::result(&settings, &server, 1, &finished, &Interrupt::default()).result)
}

/// Simulates one run of a cell.
pub(crate) fn simulate(
    scenario: &Scenario,
    cell: &Cell,
    repeat: u32,
    interrupt: &Interrupt,
) -> anyhow::Result<Measured> {
    let seed = scenario.seed.wrapping_add(u64::from(repeat));
    let steer = |_: &loadgen_core::Run, _| {
        if interrupt.exit().is_some() { loadgen_sim::Steer::Stop } else { loadgen_sim::Steer::On }
    };
    let finished = crate::simulated::simulate(&cell.settings, &cell.server, seed, steer)?;
    let over = crate::simulated::result(&cell.settings, &cell.server, seed, &finished, interrupt);
    over.sound(seed)?;
    figures_of(scenario, &over.result, finished.run.measurements().bins.as_ref())
}
