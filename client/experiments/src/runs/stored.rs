//! Driver that returns the stored runs of shards as if it executed them now.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use loadgen_core::Conservation;
use results::TaskRecord;

use super::driver::{Driver, Outcome, Task, Tasks, Watcher};
use super::stop::Stop;
use crate::error::{ErrorKind, refusal};
use crate::runs::one_run::Finished;

/// Function that returns the stored run at a given place in the document, or `None` if the run is missing. It is called once for each
/// place.
pub type StoredRun = dyn Fn(u64) -> anyhow::Result<Option<TaskRecord>> + Send + Sync;

/// Driver that returns stored runs instead of executing them. Runs are found by their place in the document. Each call of `drive` continues
/// after the last run of the previous call. Missing runs are left out.
pub struct Stored {
    run: Box<StoredRun>,
    /// Place in the document of the first run that the next call of `drive` will return.
    next: AtomicU64,
}

impl Stored {
    pub fn new(run: Box<StoredRun>) -> Self {
        Self { run, next: AtomicU64::new(0) }
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
            let begun = Instant::now();
            let Some(record) = (self.run)(first + tasks.in_document(number) as u64)? else { continue };
            check(&record, &tasks.task(number))?;
            let outcome = Outcome::new((finished(record), None), number, begun, watcher)?;
            watcher.on_over(number, &outcome);
            take(number, outcome)?;
        }
        Ok(())
    }
}

fn check(record: &TaskRecord, task: &Task<'_>) -> anyhow::Result<()> {
    let (run, strategy) = (&record.run, task.experiment.strategy.to_string());
    if run.seed == task.seed && run.strategy == strategy {
        return Ok(());
    }
    let words = format!(
        "task {} is a run of {} with seed {}, but the plan has {strategy} with seed {}: a document was changed",
        record.task, run.strategy, run.seed, task.seed
    );
    Err(refusal(ErrorKind::Usage, words))
}

/// Restores a run as it was when it completed. Its counts have no mismatches, because shards store only runs whose counts of ops and
/// attempts match.
fn finished(record: TaskRecord) -> Finished {
    let TaskRecord { server_compared, generator_share, answered, last_arrived, bottleneck, run, .. } = record;
    let conservation = Conservation { mismatches: Vec::new(), server_compared };
    Finished {
        result: run,
        conservation,
        generator_share,
        answered,
        last_arrived,
        bottleneck,
        latencies: None,
    }
}
