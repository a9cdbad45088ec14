//! Which of the runs that are done are recorded for plots.

use std::sync::{Mutex, PoisonError};

use experiments::reproduction::{Kept, PlotRecording};
use experiments::runs::driver::Watcher;
use loadgen_core::SampleSink;
use results::RunResult;

/// The recordings of runs, by the numbers of their tasks; of many runs there is none.
#[derive(Default)]
pub(super) struct Recordings(Vec<Mutex<Option<PlotRecording>>>);

impl Recordings {
    pub(super) fn new(recordings: impl Iterator<Item = Option<PlotRecording>>) -> Self {
        Self(recordings.map(Mutex::new).collect())
    }

    /// What was kept of a run.
    pub(super) fn finish(&self, task: usize, result: &RunResult) -> Kept {
        let recording =
            self.0.get(task).and_then(|one| one.lock().unwrap_or_else(PoisonError::into_inner).take());
        recording.map(|recording| recording.finish(result)).unwrap_or_default()
    }
}

impl Watcher for Recordings {
    fn attempts_of(&self, number: usize, _seed: u64) -> anyhow::Result<Option<SampleSink>> {
        let Some(recording) = self.0.get(number) else { return Ok(None) };
        let recording = recording.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(recording.as_ref().map(PlotRecording::sink))
    }
}
