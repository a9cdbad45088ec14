//! Progress of a shard's runs, and the record that each run gets in the shard's document.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use experiments::runs::driver::{Outcome, RealRun, Watcher};
use experiments::runs::one_run::Finished;
use results::{RunResult, TaskRecord};

use crate::runner::interrupt::Interrupt;
use crate::screen::watch::{Watch, watch};
use crate::text::progress::Progress;
use crate::text::summary;

/// Progress display of a shard's runs. Over HTTP it shows each run, and in virtual time the number of completed runs.
pub(super) struct Watching<'a> {
    pub(super) mode: Watch,
    pub(super) interrupt: &'a Interrupt,
    /// Numbers of this shard's runs. The runs of all shards are numbered together.
    pub(super) tasks: &'a [u64],
    pub(super) courses_before: u64,
    pub(super) started: Instant,
    pub(super) progress: Mutex<(Progress, usize)>,
}

impl Watcher for Watching<'_> {
    fn wait(&self, _number: usize, run: &RealRun<'_>) {
        watch(self.mode, run, self.interrupt);
    }

    fn texts_of(&self, number: usize, run: &Finished) -> anyhow::Result<Vec<Vec<u8>>> {
        let task = self.tasks[number];
        let Finished { result, conservation, generator_share, answered, last_arrived, bottleneck, .. } = run;
        let record = TaskRecord {
            task,
            server_compared: conservation.server_compared,
            generator_share: *generator_share,
            answered: *answered,
            last_arrived: last_arrived.clone(),
            bottleneck: *bottleneck,
            run: result,
        };
        if task < self.courses_before {
            return Ok(vec![serde_json::to_vec(&record)?]);
        }
        let (series, op_latency_curve) = (Vec::new(), Vec::new());
        let bare = RunResult { series, op_latency_curve, ..result.clone() };
        Ok(vec![serde_json::to_vec(&TaskRecord { run: &bare, ..record })?])
    }

    fn on_over(&self, _number: usize, _outcome: &Outcome) {
        let (progress, over) = &mut *self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        *over += 1;
        let over = *over;
        progress.line(|| summary::progress(over, self.tasks.len(), self.started.elapsed()));
    }
}
