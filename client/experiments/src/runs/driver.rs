//! Tasks, drivers and watchers of runs, both in virtual time and over HTTP.

use std::time::Duration;

use loadgen_core::{Bins, Run, SampleSink};
use tokio::runtime::Runtime;

use super::stop::Stop;
use crate::experiment::Experiment;
use crate::runs::one_run::{Finished, Underway};
use crate::servers::server_under_test::ServerUnderTest;
use crate::servers::target::Server;

/// Interval between two observations of a run over HTTP.
const LOOK: Duration = Duration::from_millis(200);

#[derive(Clone, Copy)]
pub struct Task<'a> {
    pub experiment: &'a Experiment,
    pub server_under_test: &'a ServerUnderTest,
    pub seed: u64,
    /// Number of runs in the same output file. With more runs, each time series may have fewer points.
    pub runs_of_file: u32,
}

/// Sequence of runs to execute. Each task is created only when it is needed.
pub struct Tasks<'a> {
    count: usize,
    /// Numbers of the tasks to execute; `None` for all.
    only: Option<Vec<usize>>,
    task: Box<Numbered<'a>>,
}

/// Function that maps the number of a task to the task and to the place of its run in the document.
type Numbered<'a> = dyn Fn(usize) -> (Task<'a>, usize) + Sync + 'a;

impl<'a> Tasks<'a> {
    pub fn new(count: usize, task: impl Fn(usize) -> Task<'a> + Sync + 'a) -> Self {
        Self::in_another_order(count, move |number| (task(number), number))
    }

    /// Creates tasks whose order in the document differs from the order of execution. The function `task` returns a task and its place in
    /// the document. No two tasks may have the same place.
    pub fn in_another_order(count: usize, task: impl Fn(usize) -> (Task<'a>, usize) + Sync + 'a) -> Self {
        Self { count, only: None, task: Box::new(task) }
    }

    /// Returns the same tasks, of which only some are executed.
    pub fn only(&self, is_own: impl Fn(usize) -> bool) -> Tasks<'_> {
        let only = (0..self.count).filter(|number| is_own(*number)).collect();
        Tasks { count: self.count, only: Some(only), task: Box::new(|number| (self.task)(number)) }
    }

    /// Returns how many tasks are to be executed.
    pub(super) fn to_execute(&self) -> usize {
        self.only.as_ref().map_or(self.count, Vec::len)
    }

    /// Returns the number of a task to execute.
    pub(super) fn number(&self, place: usize) -> usize {
        self.only.as_ref().map_or(place, |only| only[place])
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn task(&self, number: usize) -> Task<'a> {
        (self.task)(number).0
    }

    pub fn in_document(&self, number: usize) -> usize {
        (self.task)(number).1
    }
}

pub struct Outcome {
    pub finished: Finished,
    pub bins: Option<Bins>,
    /// Real time that the run took.
    pub took: Duration,
}

pub struct RealRun<'a> {
    pub underway: &'a Underway,
    pub experiment: &'a Experiment,
    pub server: &'a Server,
    pub runtime: &'a Runtime,
}

/// Observer of runs. In virtual time many runs are in progress at once, each on its own thread. Calls therefore identify a run by the
/// number of its task.
pub trait Watcher: Sync {
    /// Called before a run begins. Returns a sink for the attempts of the run, or `None` if the observer does not need them.
    fn attempts_of(&self, _number: usize, _seed: u64) -> anyhow::Result<Option<SampleSink>> {
        Ok(None)
    }

    /// Called very often during a run in virtual time.
    fn on_simulated(&self, _number: usize, _run: &Run, _now: vocabulary::Instant) {}

    /// Called at the start of a run over HTTP, and repeatedly during it.
    fn on_real(&self, _number: usize, _run: &RealRun<'_>) {}

    fn wait(&self, number: usize, run: &RealRun<'_>) {
        self.on_real(number, run);
        while run.underway.over.recv_timeout(LOOK).is_err() && !run.underway.is_over() {
            self.on_real(number, run);
        }
    }

    /// Called after a run over HTTP. Returns the time by which the observer's sink for attempts delayed the run.
    fn held_up(&self, _number: usize) -> Duration {
        Duration::ZERO
    }

    /// Called after every run, in the order of the tasks.
    fn on_over(&self, _number: usize, _outcome: &Outcome) {}

    /// Called only in virtual time: from time to time while no run ends, and after every run.
    fn on_tick(&self) {}
}

pub struct Nobody;

impl Watcher for Nobody {}

/// Receiver of the outcomes of tasks, by task number.
pub type Take<'a> = dyn FnMut(usize, Outcome) -> anyhow::Result<()> + 'a;

pub trait Driver: Sync {
    /// Executes the tasks, one after another or several at once. Passes the outcomes to `take` in the order of the tasks. Returns when all
    /// tasks are done, after the first error (including an error of `take`), or when `stop` requests it. After a stop request, runs in
    /// progress are cut off, and their outcomes are still passed to `take`. After an error, runs in progress are dropped.
    fn drive(
        &self,
        tasks: &Tasks<'_>,
        stop: &dyn Stop,
        watcher: &dyn Watcher,
        take: &mut Take<'_>,
    ) -> anyhow::Result<()>;
}
