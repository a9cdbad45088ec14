//! What plots need of single runs: which runs are recorded, and what is kept of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use experiments::scenario::{Cell, Scenario};
use loadgen_core::SampleSink;
use results::RunResult;
use serde_json::Value;

use crate::recording::{Recorder, Recording};
use crate::runs::driver::Watcher;
use crate::scenario::basis_of;

/// What was kept, by the numbers of plot and cell.
pub(super) type Kept = BTreeMap<(usize, usize), Value>;

/// What every plot takes of a run of one cell.
pub(super) struct Recorders {
    plots: Vec<usize>,
    recording: Recording,
}

impl Recorders {
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
}

/// The recordings of runs, by the numbers of their tasks; of many runs there is none.
#[derive(Default)]
pub(super) struct Recordings(Vec<Mutex<Option<Recorders>>>);

impl Recordings {
    pub(super) fn new(recorders: impl Iterator<Item = Option<Recorders>>) -> Self {
        Self(recorders.map(Mutex::new).collect())
    }

    /// Adds what was kept of a run of this cell.
    pub(super) fn finish(
        &self,
        task: usize,
        cell: usize,
        label: &str,
        result: &RunResult,
        kept: &mut Kept,
    ) -> anyhow::Result<()> {
        let there =
            self.0.get(task).and_then(|one| one.lock().unwrap_or_else(PoisonError::into_inner).take());
        let Some(Recorders { plots, recording }) = there else { return Ok(()) };
        let values = recording.finish(label, result)?;
        kept.extend(plots.into_iter().map(|plot| (plot, cell)).zip(values));
        Ok(())
    }
}

impl Watcher for Recordings {
    fn attempts_of(&self, number: usize, _seed: u64) -> anyhow::Result<Option<SampleSink>> {
        let Some(recorders) = self.0.get(number) else { return Ok(None) };
        let recorders = recorders.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(recorders.as_ref().map(|recorders| recorders.recording.sink()))
    }
}
