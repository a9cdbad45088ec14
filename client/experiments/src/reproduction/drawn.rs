//! The plots that scenarios ask for: what is kept of one run of every cell that they are drawn from.

use std::collections::BTreeMap;

use loadgen_core::SampleSink;
use results::{DrawnRun, RunResult};

use crate::recording::{Recorder, Recording};
use crate::scenario::{Cell, Scenario};

/// What was kept of runs, by the numbers of plot and cell.
pub type Kept = BTreeMap<(usize, usize), DrawnRun>;

/// Records of a run of one cell what every plot needs of it.
pub(super) struct PlotRecording {
    cell: usize,
    label: String,
    plots: Vec<usize>,
    recording: Recording,
}

impl PlotRecording {
    /// For the plots that need a run of this cell; none when no one does.
    pub(super) fn of(scenario: &Scenario, cells: &[Cell], cell: usize) -> Option<Self> {
        let mut plots = Vec::new();
        let mut recorders = Vec::new();
        for (number, plot) in scenario.plot.values().enumerate() {
            let Some(basis) = plot.basis() else { continue };
            let recorder = Recorder::of(plot, basis, &cells[cell]);
            if let Some(recorder) = recorder.filter(|_| plot.cells(scenario, cells).contains(&cell)) {
                plots.push(number);
                recorders.push(recorder);
            }
        }
        let label = cells[cell].label.clone();
        (!plots.is_empty()).then(|| Self { cell, label, plots, recording: Recording::new(recorders) })
    }

    /// To be given every attempt of the run.
    pub(super) fn sink(&self) -> SampleSink {
        self.recording.sink()
    }

    /// What was kept of the run.
    pub(super) fn finish(self, result: &RunResult) -> Kept {
        let runs = self.recording.finish(&self.label, result);
        let keys = self.plots.into_iter().map(|plot| (plot, self.cell));
        keys.zip(runs).collect()
    }
}
