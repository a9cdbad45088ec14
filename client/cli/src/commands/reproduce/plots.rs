//! The plots that scenarios ask for: one run of every cell that they are drawn from, and what was kept of it.

use std::collections::BTreeMap;

use experiments::scenario::{Basis, Cell, Column, Judged, Plot, Scale, Scenario};
use loadgen_sim::{Steer, side_by_side};
use serde_json::{Map, Value, json};

use super::Reproduction;
use super::args::ReproduceArgs;
use crate::interrupt::Interrupt;
use crate::recording::{Recorder, Recording};
use crate::scenario::basis_of;
use crate::settings::Settings;
use crate::simulated::{self, threads};

/// What was kept, by the numbers of plot and cell.
pub(super) type Kept = BTreeMap<(usize, usize), Value>;

/// Who takes what of a run of one cell, plot by plot.
pub(super) struct Takers {
    plots: Vec<usize>,
    pub(super) recording: Recording,
}

impl Takers {
    /// The plots that need a run of this cell; none when no one does.
    pub(super) fn of(scenario: &Scenario, cells: &[Cell], cell: usize) -> Option<Self> {
        let mut plots = Vec::new();
        let mut recorders = Vec::new();
        for (number, plot) in scenario.plot.values().enumerate() {
            let Some(basis) = basis_of(plot) else { continue };
            let recorder = Recorder::of(plot, basis, &cells[cell]);
            if let Some(recorder) = recorder.filter(|_| plot.cells(scenario, cells).contains(&cell)) {
                plots.push(number);
                recorders.push(recorder);
            }
        }
        (!plots.is_empty()).then(|| Self { plots, recording: Recording::new(recorders) })
    }

    /// Adds what was kept of the cell.
    pub(super) fn finish(
        self,
        cell: usize,
        label: &str,
        result: &results::RunResult,
        kept: &mut Kept,
    ) -> anyhow::Result<()> {
        let values = self.recording.finish(label, result)?;
        kept.extend(self.plots.into_iter().map(|plot| (plot, cell)).zip(values));
        Ok(())
    }
}

/// Repeats the run in the middle of every cell that is drawn, and keeps what its plots need.
pub(super) fn record_all(
    reproductions: &mut [Reproduction],
    args: &ReproduceArgs,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    let mut tasks = Vec::new();
    for (number, Reproduction { scenario, cells, data, .. }) in reproductions.iter().enumerate() {
        let drawn = (0..cells.len()).filter(|cell| Takers::of(scenario, cells, *cell).is_some());
        tasks.extend(drawn.filter_map(|cell| Some((number, cell, data.middle_run(cell)?))));
    }
    let mut results = Vec::with_capacity(tasks.len());
    let held = &*reproductions;
    side_by_side(
        tasks.len(),
        threads(args.output.threads),
        |task| {
            let (number, cell, repeat) = tasks[task];
            let Reproduction { scenario, cells, .. } = &held[number];
            record(scenario, cells, cell, repeat, interrupt)
        },
        |taken| {
            results.extend(taken);
            interrupt.exit().is_none()
        },
    );
    for ((number, ..), kept) in tasks.into_iter().zip(results) {
        reproductions[number].kept.extend(kept?);
    }
    Ok(())
}

fn record(
    scenario: &Scenario,
    cells: &[Cell],
    cell: usize,
    repeat: usize,
    interrupt: &Interrupt,
) -> anyhow::Result<Kept> {
    let mut kept = Kept::new();
    let Some(takers) = Takers::of(scenario, cells, cell) else { return Ok(kept) };
    let Cell { settings, server, label, .. } = &cells[cell];
    // A run alone may have all points of its series.
    let settings = Settings { repeats: 1, ..settings.clone() };
    let seed = scenario.seed.wrapping_add(repeat as u64);
    let steer = |_: &loadgen_core::Run, _| if interrupt.exit().is_some() { Steer::Stop } else { Steer::On };
    let sink = Some(takers.recording.sink());
    let finished = simulated::simulate_with_samples(&settings, server, seed, sink, steer)?;
    let over = simulated::result(&settings, server, seed, &finished, interrupt);
    takers.finish(cell, label, &over.result, &mut kept)?;
    Ok(kept)
}

impl Reproduction {
    /// Every plot as JSON. `numbers` are those of the cells in the document.
    pub(super) fn plots(&self, judged: &[Judged<'_>], numbers: &BTreeMap<usize, usize>) -> Vec<Value> {
        let plots = self.scenario.plot.iter().enumerate();
        plots.filter_map(|(number, (name, plot))| self.plot(number, name, plot, judged, numbers)).collect()
    }

    /// One; nothing when nothing that it is drawn from was run.
    fn plot(
        &self,
        number: usize,
        name: &str,
        plot: &Plot,
        judged: &[Judged<'_>],
        numbers: &BTreeMap<usize, usize>,
    ) -> Option<Value> {
        let basis = basis_of(plot)?;
        let cells = plot.cells(&self.scenario, &self.cells);
        let claims: Vec<usize> = judged
            .iter()
            .enumerate()
            .filter(|(_, one)| one.claim.plot.as_deref() == Some(name))
            .map(|(index, _)| index)
            .collect();
        let mut written = Map::new();
        for (key, value) in [
            ("name", json!(name)),
            ("draw", json!(plot.draw)),
            ("title", json!(plot.title)),
            ("shows", json!(plot.shows)),
            ("experiment", json!(plot.experiment(&self.scenario))),
            ("claims", json!(claims)),
            ("logarithmic", json!(plot.scale == Scale::Logarithmic)),
            ("note", json!(plot.note)),
            ("until_s", json!(plot.until_s())),
            ("smooth_s", json!(plot.smooth_s())),
            ("time_unit", json!(plot.time_unit().map(|(s, name)| json!({ "s": s, "name": name })))),
        ] {
            written.insert(key.to_owned(), value);
        }
        if basis.is_of_cells() {
            let there: Vec<usize> = cells.iter().filter_map(|cell| numbers.get(cell).copied()).collect();
            if there.is_empty() {
                return None;
            }
            written.insert("cells".to_owned(), json!(there));
        } else {
            let runs: Vec<&Value> = cells.iter().filter_map(|cell| self.kept.get(&(number, *cell))).collect();
            if runs.is_empty() {
                return None;
            }
            written.insert("runs".to_owned(), json!(runs));
        }
        if basis == Basis::Columns || basis == Basis::Chosen && !plot.columns.is_empty() {
            let column = |column: &Column| json!({ "title": column.title, "figure": column.figure, "minus": column.minus, "times": column.times });
            let columns: Vec<Value> = plot.columns(&self.scenario).into_iter().map(column).collect();
            written.insert("columns".to_owned(), json!(columns));
        }
        Some(Value::Object(written))
    }
}
