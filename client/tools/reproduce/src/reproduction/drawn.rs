//! Recorded data for the plots that scenarios request. One run is recorded for each cell (one strategy at one point) that a plot shows.

use std::collections::BTreeMap;

use loadgen_core::SampleSink;
use results::{DrawnRun, RunResult};

use crate::recording::{Recorder, Recording};
use crate::scenario::{Cell, Scenario};

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
