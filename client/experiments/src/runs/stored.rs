//! Runs that were done before, in shards: handed over as if they were done now.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use loadgen_core::Conservation;
use results::TaskRecord;

use super::driver::{Driver, Outcome, Task, Tasks, Watcher};
use super::stop::Stop;
use crate::error::{ErrorKind, refusal};
use crate::runs::one_run::Finished;

/// A run by its place in the document; nothing where it is missing. Each is asked for once.
pub type StoredRun = dyn Fn(u64) -> anyhow::Result<Option<TaskRecord>> + Send + Sync;

/// Hands over runs by their place in the document. Whoever drives several times goes through the document in turn. What is missing is left
/// out.
pub struct Stored {
    run: Box<StoredRun>,
    /// The place at which those begin that are driven next.
    next: AtomicU64,
}

impl Stored {
    /// These runs.
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

/// Refuses a run that was not planned.
fn check(record: &TaskRecord, task: &Task<'_>) -> anyhow::Result<()> {
    let (run, strategy) = (&record.run, task.experiment.strategy.to_string());
    if run.seed == task.seed && run.strategy == strategy {
        return Ok(());
    }
    let words = format!(
        "task {} is a run of {}, seed {}, where {strategy}, seed {}, was planned: a document was changed",
        record.task, run.strategy, run.seed, task.seed
    );
    Err(refusal(ErrorKind::Usage, words))
}

/// A run as it was when it was done; one whose counts did not add up is in no shard.
fn finished(record: TaskRecord) -> Finished {
    let TaskRecord { server_compared, generator_share, answered, bottleneck, run, .. } = record;
    let conservation = Conservation { mismatches: Vec::new(), server_compared };
    Finished { result: run, conservation, generator_share, answered, bottleneck, latencies: None }
}
