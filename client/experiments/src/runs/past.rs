//! Driver that returns the runs of merged documents instead of executing them.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use loadgen_core::Conservation;
use results::{Bottleneck, Mode, RunResult};

use super::driver::{Driver, Outcome, Take, Tasks, Watcher};
use super::stop::Stop;
use crate::runs::one_run::Finished;

/// Runs in the order of the document of their command. Missing runs are left out.
pub struct Past(Mutex<Vec<Option<Box<RunResult>>>>);

impl Past {
    pub fn new(runs: Vec<Option<Box<RunResult>>>) -> Self {
        Self(Mutex::new(runs))
    }
}

impl Driver for Past {
    fn drive(
        &self,
        tasks: &Tasks<'_>,
        stop: &dyn Stop,
        watcher: &dyn Watcher,
        take: &mut Take<'_>,
    ) -> anyhow::Result<()> {
        for number in 0..tasks.count() {
            if stop.asked_by().is_some() {
                break;
            }
            let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(run) = runs.get_mut(tasks.in_document(number)).and_then(Option::take) else { continue };
            drop(runs);
            let outcome = Outcome { finished: finished(*run), bins: None, took: Duration::ZERO };
            watcher.on_over(number, &outcome);
            take(number, outcome)?;
        }
        Ok(())
    }
}

/// Restores a run as it was when it ended. Its counts matched, because a run whose counts do not match is not written to a document.
fn finished(result: RunResult) -> Finished {
    let kinds = || result.failures.iter().filter_map(|failure| failure.kind);
    let last_arrived = kinds().find(|kind| kind.has_arrived()).map(|kind| kind.words().to_owned());
    let answers = !result.statuses.is_empty() || last_arrived.is_some();
    let answered = result.mode == Mode::Simulated || result.attempts.failed == 0 || answers;
    Finished {
        conservation: Conservation { mismatches: Vec::new(), server_compared: result.server.is_some() },
        generator_share: None,
        answered,
        last_arrived,
        bottleneck: result.warnings.iter().any(|warning| Bottleneck::is_named_in(warning)),
        latencies: None,
        result,
    }
}
