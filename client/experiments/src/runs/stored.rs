//! Runs that were done before, in shards: handed over as if they were done now.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use loadgen_core::Conservation;
use results::TaskRecord;

use super::driver::{Driver, Outcome, Tasks, Watcher};
use super::stop::Stop;
use crate::error::{ErrorKind, refusal};
use crate::runs::one_run::Finished;

/// Hands over runs by their place in the document. Whoever drives several times goes through the document in turn. What is missing is left
/// out.
pub struct Stored {
    runs: Mutex<BTreeMap<u64, TaskRecord>>,
    /// The place at which those begin that are driven next.
    next: AtomicU64,
}

impl Stored {
    /// These runs.
    pub fn new(runs: BTreeMap<u64, TaskRecord>) -> Self {
        Self { runs: Mutex::new(runs), next: AtomicU64::new(0) }
    }

    /// When the first of them began; nothing when they were simulated.
    pub fn began(&self) -> Option<String> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        // Such times are in the order of their texts.
        runs.values().filter_map(|task| task.run.started_at.clone()).min()
    }

    fn take(&self, place: u64) -> Option<TaskRecord> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).remove(&place)
    }

    /// Refuses a run that was not planned.
    ///
    /// # Errors
    /// When a run is of another strategy or seed than its task.
    pub fn check(&self, tasks: &Tasks<'_>) -> anyhow::Result<()> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        for number in 0..tasks.count() {
            let place = tasks.in_document(number) as u64;
            let Some(TaskRecord { run, .. }) = runs.get(&place) else { continue };
            let task = tasks.task(number);
            let strategy = task.experiment.strategy.to_string();
            if run.seed != task.seed || run.strategy != strategy {
                let words = format!(
                    "task {place} is a run of {}, seed {}, where {strategy}, seed {}, was planned: a document was changed",
                    run.strategy, run.seed, task.seed
                );
                return Err(refusal(ErrorKind::Usage, words));
            }
        }
        Ok(())
    }
}

impl Driver for Stored {
    fn drive(
        &self,
        tasks: &Tasks<'_>,
        stop: &dyn Stop,
        watcher: &dyn Watcher,
        take: &mut dyn FnMut(usize, Outcome) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let first = self.next.fetch_add(tasks.count() as u64, Ordering::Relaxed);
        for number in 0..tasks.count() {
            if stop.asked_by().is_some() {
                break;
            }
            let Some(task) = self.take(first + tasks.in_document(number) as u64) else { continue };
            let outcome = Outcome::new((finished(task), None), number, Instant::now(), watcher)?;
            watcher.on_over(number, &outcome);
            take(number, outcome)?;
        }
        Ok(())
    }
}

/// A run as it was when it was done; one whose counts did not add up is in no shard.
fn finished(task: TaskRecord) -> Finished {
    let TaskRecord { server_compared, generator_share, answered, bottleneck, run, .. } = task;
    let conservation = Conservation { mismatches: Vec::new(), server_compared };
    Finished { result: run, conservation, generator_share, answered, bottleneck, latencies: None }
}
