//! Recordings that plots need from single runs, made while these runs are executed.

use std::sync::{Mutex, PoisonError};

use loadgen_core::{Run, SampleSink};
use results::RunResult;
use vocabulary::Instant;

use super::drawn::{Kept, PlotRecording};
use crate::runs::driver::{Outcome, RealRun, Watcher};

#[derive(Default)]
pub(super) struct Recordings(Vec<Mutex<Option<PlotRecording>>>);

impl Recordings {
    pub(super) fn new(recordings: impl IntoIterator<Item = Option<PlotRecording>>) -> Self {
        Self(recordings.into_iter().map(Mutex::new).collect())
    }

    pub(super) fn finish(&self, task: usize, result: &RunResult) -> Kept {
        let recording =
            self.0.get(task).and_then(|one| one.lock().unwrap_or_else(PoisonError::into_inner).take());
        recording.map(|recording| recording.finish(result)).unwrap_or_default()
    }

    fn sink(&self, task: usize) -> Option<SampleSink> {
        let recording = self.0.get(task)?.lock().unwrap_or_else(PoisonError::into_inner);
        recording.as_ref().map(PlotRecording::sink)
    }
}

pub(super) struct Recorded<'a> {
    pub(super) recordings: &'a Recordings,
    pub(super) watcher: &'a dyn Watcher,
}

impl Watcher for Recorded<'_> {
    fn attempts_of(&self, number: usize, seed: u64) -> anyhow::Result<Option<SampleSink>> {
        self.watcher.attempts_of(number, seed)?;
        Ok(self.recordings.sink(number))
    }

    fn on_simulated(&self, number: usize, run: &Run, now: Instant) {
        self.watcher.on_simulated(number, run, now);
    }

    fn on_real(&self, number: usize, run: &RealRun<'_>) {
        self.watcher.on_real(number, run);
    }

    fn wait(&self, number: usize, run: &RealRun<'_>) {
        self.watcher.wait(number, run);
    }

    fn on_over(&self, number: usize, outcome: &Outcome) {
        self.watcher.on_over(number, outcome);
    }

    fn on_tick(&self) {
        self.watcher.on_tick();
    }
}
