//! A scenario together with its cells (one strategy at one point each), the figures of its runs, and the data recorded for plots.

use std::collections::BTreeMap;

use loadgen_core::SampleSink;
use results::{DrawnRun, RunResult};

use crate::recording::{Recorder, Recording};
use crate::scenario::{Cell, Data, Judged, Scenario, judge};

pub struct Reproduction {
    pub scenario: Scenario,
    pub cells: Vec<Cell>,
    pub data: Data,
    pub kept: Kept,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Changes {
    pub repeats: Option<u32>,
    pub seed: Option<u64>,
}

impl Reproduction {
    pub fn new(mut scenario: Scenario, mut cells: Vec<Cell>, changes: Changes) -> Self {
        if let Some(repeats) = changes.repeats {
            for cell in &mut cells {
                cell.settings.repeats = repeats;
            }
        }
        if let Some(seed) = changes.seed {
            scenario.seed = seed;
        }
        let data = Data::new(cells.len());
        Self { scenario, cells, data, kept: Kept::new() }
    }

    pub fn seed(&self, repeat: u32) -> u64 {
        self.scenario.seed.wrapping_add(u64::from(repeat))
    }

    pub fn judged(&self, http: bool) -> Vec<Judged<'_>> {
        let claims = self.scenario.claim.iter().filter(|claim| claim.http || !http);
        claims.filter_map(|claim| judge(&self.scenario, claim, &self.cells, &self.data)).collect()
    }
}

/// Recorded data of runs. The key consists of the number of the plot and the number of the cell (one strategy at one point).
pub type Kept = BTreeMap<(usize, usize), DrawnRun>;

pub(super) struct PlotRecording {
    cell: usize,
    label: String,
    plots: Vec<usize>,
    recording: Recording,
}

impl PlotRecording {
    pub(super) fn new(scenario: &Scenario, cells: &[Cell], cell: usize) -> Option<Self> {
        let mut plots = Vec::new();
        let mut recorders = Vec::new();
        for (number, plot) in scenario.plot.values().enumerate() {
            let Some(basis) = plot.basis() else { continue };
            let recorder = Recorder::new(plot, basis, &cells[cell]);
            if let Some(recorder) = recorder.filter(|_| plot.cells(scenario, cells).contains(&cell)) {
                plots.push(number);
                recorders.push(recorder);
            }
        }
        let label = cells[cell].label.clone();
        (!plots.is_empty()).then(|| Self { cell, label, plots, recording: Recording::new(recorders) })
    }

    pub(super) fn sink(&self) -> SampleSink {
        self.recording.sink()
    }

    pub(super) fn finish(self, result: &RunResult) -> Kept {
        let runs = self.recording.finish(&self.label, result);
        let keys = self.plots.into_iter().map(|plot| (plot, self.cell));
        keys.zip(runs).collect()
    }
}
