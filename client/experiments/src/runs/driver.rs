//! What does runs, whatever clock they go by; what they are told; and what they tell.

use std::time::{Duration, Instant};

use loadgen_core::{Bins, Run, SampleSink};
use tokio::runtime::Runtime;

use super::stop::Stop;
use crate::experiment::Experiment;
use crate::runs::one_run::{Finished, Underway};
use crate::servers::opponent::Opponent;
use crate::servers::target::Server;

/// How long a run over HTTP goes on before it is looked at again.
const LOOK: Duration = Duration::from_millis(200);

/// One run to do.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The client side, the request and the clock.
    pub experiment: &'a Experiment,
    /// The server.
    pub opponent: &'a Opponent,
    /// Of everything random in this run.
    pub seed: u64,
    /// Among how many runs of a file its series stands: the more there are, the fewer points each may have.
    pub runs_of_file: u32,
}

/// Runs to do, in this order; each is made when it is its turn.
pub struct Tasks<'a> {
    count: usize,
    task: Box<Numbered<'a>>,
}

/// A task by its number, and its place in the document.
type Numbered<'a> = dyn Fn(usize) -> (Task<'a>, usize) + Sync + 'a;

impl<'a> Tasks<'a> {
    /// As many as `count`, by their number.
    pub fn new(count: usize, task: impl Fn(usize) -> Task<'a> + Sync + 'a) -> Self {
        Self::in_another_order(count, move |number| (task(number), number))
    }

    /// The same where the document has them in another order: beside each stands its place there, which no other one has.
    pub fn in_another_order(count: usize, task: impl Fn(usize) -> (Task<'a>, usize) + Sync + 'a) -> Self {
        Self { count, task: Box::new(task) }
    }

    /// All of these, one after the other.
    pub fn in_turn(all: Vec<Self>) -> Self {
        let begin = |first: &mut usize, tasks: &Self| Some(std::mem::replace(first, *first + tasks.count));
        let first: Vec<usize> = all.iter().scan(0, begin).collect();
        let count = all.iter().map(Self::count).sum();
        Self::in_another_order(count, move |number| {
            // Where some have no tasks, the last that begins there has this one.
            let part = first.partition_point(|first| *first <= number) - 1;
            let (task, place) = (all[part].task)(number - first[part]);
            (task, first[part] + place)
        })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The one with this number.
    pub fn task(&self, number: usize) -> Task<'a> {
        (self.task)(number).0
    }

    /// The place of the task with this number among all that the document has.
    pub fn in_document(&self, number: usize) -> usize {
        (self.task)(number).1
    }
}

/// A run that is over.
pub struct Outcome {
    /// Its result, and what only this process knows of it.
    pub finished: Finished,
    /// The calls in bins, if the experiment asks for them.
    pub bins: Option<Bins>,
    /// How long it took whoever waited.
    pub took: Duration,
    /// What its watcher made of it for files; see [`Watcher::texts_of`].
    pub texts: Vec<Vec<u8>>,
}

impl Outcome {
    /// Of the run with this number, which began then and is over now.
    pub(super) fn new(
        (finished, bins): (Finished, Option<Bins>),
        number: usize,
        begun: Instant,
        watcher: &dyn Watcher,
    ) -> anyhow::Result<Self> {
        let texts = watcher.texts_of(number, &finished)?;
        Ok(Self { finished, bins, took: begun.elapsed(), texts })
    }
}

/// A run over HTTP that goes on.
pub struct RealRun<'a> {
    /// What can be looked into and stopped.
    pub underway: &'a Underway,
    /// What is run.
    pub experiment: &'a Experiment,
    /// Whom it meets.
    pub server: &'a Server,
    /// What the server can be asked on.
    pub runtime: &'a Runtime,
}

/// Who watches runs, by the numbers of their tasks. In virtual time many go on at once, each on a thread of its own.
pub trait Watcher: Sync {
    /// A run is about to begin: who takes its attempts.
    fn attempts_of(&self, _number: usize, _seed: u64) -> anyhow::Result<Option<SampleSink>> {
        Ok(None)
    }

    /// A run in virtual time goes on; called very often.
    fn on_simulated(&self, _number: usize, _run: &Run, _now: vocabulary::Instant) {}

    /// A run over HTTP goes on; called at once and then now and again.
    fn on_real(&self, _number: usize, _run: &RealRun<'_>) {}

    /// Waits until a run over HTTP is over.
    fn wait(&self, number: usize, run: &RealRun<'_>) {
        self.on_real(number, run);
        while run.underway.over.recv_timeout(LOOK).is_err() && !run.underway.is_over() {
            self.on_real(number, run);
        }
    }

    /// A run over HTTP is over: how long it was held up by whoever took its attempts.
    fn held_up(&self, _number: usize) -> Duration {
        Duration::ZERO
    }

    /// A run is over: what files will say of it. In virtual time many are asked at once, each where its run was done, so that whoever
    /// takes runs in their order has little to do.
    fn texts_of(&self, _number: usize, _run: &Finished) -> anyhow::Result<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }

    /// A run is over. These come in the order of the tasks.
    fn on_over(&self, _number: usize, _outcome: &Outcome) {}

    /// In virtual time: called now and then, and after every run that is over.
    fn on_tick(&self) {}
}

/// Nobody watches.
pub struct Nobody;

impl Watcher for Nobody {}

/// Brings runs about.
pub trait Driver: Sync {
    /// Does one run after the other, or several at once, and hands over what they came to, in the order of the tasks. It ends
    /// when all are over, at the first error, the taker's included, and when `stop` says so. After a stop, what was begun is
    /// handed over, cut off in the middle; after an error, nothing is.
    fn drive(
        &self,
        tasks: &Tasks<'_>,
        stop: &dyn Stop,
        watcher: &dyn Watcher,
        take: &mut dyn FnMut(usize, Outcome) -> anyhow::Result<()>,
    ) -> anyhow::Result<()>;
}
