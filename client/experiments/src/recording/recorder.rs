//! Recorders of the data of one run that plots need. Each plot that shows the run has its own recorder.

use std::sync::{Arc, Mutex, PoisonError};

use loadgen_core::{Sample, SampleSink};
use results::{Basis, DrawnRun, RunResult};

use super::calls::CallRecorder;
use super::clients::ClientRecorder;
use super::series::{columns, outline};
use super::steps::StepRecorder;
use super::waits::WaitRecorder;
use crate::scenario::{Cell, Plot};

pub struct Recorder(Kind);

enum Kind {
    /// Recorder for a plot that needs only the time series. It records nothing, because the result already contains the time series.
    Series,
    Calls(CallRecorder),
    Clients(ClientRecorder),
    Steps(StepRecorder),
    Waits(WaitRecorder),
}

impl Recorder {
    /// Creates the recorder that a plot needs for one run of a cell (one strategy at one point). Returns `None` if the plot shows only
    /// figures over all seeds and therefore needs no recorded run.
    pub fn new(plot: &Plot, basis: Basis, cell: &Cell) -> Option<Self> {
        Some(Self(match basis {
            Basis::Cells | Basis::Chosen | Basis::Columns => return None,
            Basis::Runs => Kind::Series,
            Basis::Calls => Kind::Calls(CallRecorder::default()),
            Basis::Clients => Kind::Clients(ClientRecorder::new(cell.settings.run.clients)),
            Basis::Steps => Kind::Steps(StepRecorder::new(plot.step(&[cell])?, &plot.series)),
            Basis::Waits => Kind::Waits(WaitRecorder::default()),
        }))
    }

    fn note(&mut self, sample: &Sample) {
        match &mut self.0 {
            _ if !sample.is_sent => {}
            Kind::Series => {}
            Kind::Calls(calls) => calls.note(sample),
            Kind::Clients(clients) => clients.note(sample),
            Kind::Steps(steps) => steps.note(sample),
            Kind::Waits(waits) => waits.note(sample),
        }
    }

    fn finish(self, label: &str, result: &RunResult) -> DrawnRun {
        let run = outline(label, result);
        match self.0 {
            Kind::Series => DrawnRun { series: Some(columns(&result.series)), ..run },
            Kind::Calls(calls) => DrawnRun { calls: Some(calls.finish()), ..run },
            Kind::Clients(clients) => DrawnRun { clients: Some(clients.finish()), ..run },
            Kind::Steps(steps) => DrawnRun { steps: Some(steps.finish()), ..run },
            Kind::Waits(waits) => DrawnRun { waits: Some(waits.finish()), ..run },
        }
    }
}

#[derive(Clone)]
pub struct Recording(Arc<Mutex<Vec<Recorder>>>);

impl Recording {
    pub fn new(recorders: Vec<Recorder>) -> Self {
        Self(Arc::new(Mutex::new(recorders)))
    }

    /// Returns the sink that passes attempts to the recorders. The sink must receive every attempt of the run, from the first to the last.
    pub fn sink(&self) -> SampleSink {
        let recorders = self.0.clone();
        Box::new(move |sample| {
            for recorder in recorders.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
                recorder.note(sample);
            }
        })
    }

    pub fn finish(self, label: &str, result: &RunResult) -> Vec<DrawnRun> {
        let recorders = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        recorders.into_iter().map(|recorder| recorder.finish(label, result)).collect()
    }
}
