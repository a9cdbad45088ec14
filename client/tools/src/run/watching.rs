//! Live display of runs. A single run is shown on the dashboard or as lines, and several runs as a count of finished runs.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use experiments::runs::driver::{Outcome, RealRun, Watcher};
use loadgen_core::{Run, SampleSink};

use shell::files::exporters::Samples;
use shell::runner::interrupt::Interrupt;
use shell::screen::live_figures::LiveFigures;
use shell::screen::watch::{Watch, watch};
use shell::text::progress::Progress;
use shell::text::summary;

pub(super) struct Watching<'a> {
    /// Writer of attempts, present with `--samples`.
    samples: Option<Samples>,
    mode: Watch,
    interrupt: &'a Interrupt,
    /// Writer of live figures, present with `--progress ndjson`.
    live_figures: Option<Mutex<LiveFigures>>,
    runs: usize,
    started: Instant,
    simulated: Mutex<Simulated>,
}

struct Simulated {
    progress: Progress,
    over: usize,
}

impl<'a> Watching<'a> {
    pub(super) fn new(
        samples: Option<Samples>,
        mode: Watch,
        interrupt: &'a Interrupt,
        quiet: bool,
        runs: usize,
    ) -> anyhow::Result<Self> {
        let live_figures = (mode == Watch::Ndjson).then(LiveFigures::on_stdout).transpose()?;
        let simulated = Mutex::new(Simulated { progress: Progress::new(!quiet), over: 0 });
        let live_figures = live_figures.map(Mutex::new);
        Ok(Self { samples, mode, interrupt, live_figures, runs, started: Instant::now(), simulated })
    }

    pub(super) fn conclude(self) -> anyhow::Result<()> {
        let live_figures =
            self.live_figures.map(|figures| figures.into_inner().unwrap_or_else(PoisonError::into_inner));
        live_figures.map_or(Ok(()), LiveFigures::conclude)
    }

    fn simulated(&self) -> MutexGuard<'_, Simulated> {
        self.simulated.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watcher for Watching<'_> {
    fn attempts_of(&self, _number: usize, seed: u64) -> anyhow::Result<Option<SampleSink>> {
        Ok(self.samples.as_ref().map(|samples| samples.of(seed)))
    }

    fn held_up(&self, _number: usize) -> Duration {
        self.samples.as_ref().map_or(Duration::ZERO, Samples::held_up)
    }

    fn on_simulated(&self, _number: usize, run: &Run, now: vocabulary::Instant) {
        if self.runs == 1 {
            self.simulated().progress.run(run, now);
        }
    }

    fn wait(&self, _number: usize, run: &RealRun<'_>) {
        match &self.live_figures {
            None => watch(self.mode, run, self.interrupt),
            Some(live_figures) => {
                let mut live_figures = live_figures.lock().unwrap_or_else(PoisonError::into_inner);
                live_figures.watch(run.underway, self.interrupt);
            }
        }
    }

    fn on_over(&self, _number: usize, _outcome: &Outcome) {
        self.simulated().over += 1;
    }

    fn on_tick(&self) {
        if self.runs > 1 {
            let Simulated { progress, over } = &mut *self.simulated();
            progress.line(|| summary::progress(*over, self.runs, self.started.elapsed()));
        }
    }
}
