//! Planning and execution of the runs of scenarios. They are executed in virtual time, or over HTTP if the scenario allows it.

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use experiments::runs::driver::{Driver, Nobody, Outcome, RealRun, Task, Tasks, Watcher};
use experiments::runs::stop::Stop;
use experiments::runs::virtual_time::{self, Configs};
use experiments::servers::server_under_test::ServerUnderTest;
use experiments::{Error, Experiment};
use loadgen_core::{Run, SampleSink};
use results::RunResult;
use vocabulary::{Instant, TimeScale};

use crate::reproduction::state::{Kept, PlotRecording, Reproduction};
use crate::scenario::{Cell, figures_of};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScenarioRun {
    pub scenario: usize,
    pub cell: usize,
    pub repeat: u32,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct HttpChanges {
    pub repeats: Option<u32>,
    pub time_scale: Option<TimeScale>,
    /// True if the user selected scenarios by name. A selected scenario that cannot be run over HTTP is then an error. If no scenario was
    /// selected by name, scenarios that cannot be run over HTTP are left out.
    pub by_name: bool,
}

pub struct Plan {
    runs: Vec<PlannedRun>,
    recordings: Recordings,
    /// True if the figures of claims are taken from the planned runs. False if the runs are repetitions from which only plots are recorded.
    figures: bool,
}

struct PlannedRun {
    run: ScenarioRun,
    cell: Arc<PlannedCell>,
    seed: u64,
}

struct PlannedCell {
    experiment: Experiment,
    server_under_test: ServerUnderTest,
}

impl PlannedCell {
    fn new(cell: &Cell) -> Self {
        let server_under_test = ServerUnderTest::Own(Box::new(cell.server.clone()));
        Self { experiment: cell.settings.clone(), server_under_test }
    }
}

impl PlannedRun {
    fn task(&self) -> Task<'_> {
        let PlannedCell { experiment, server_under_test } = &*self.cell;
        Task { experiment, server_under_test, seed: self.seed, runs_of_file: experiment.repeats }
    }
}

impl Plan {
    /// Plans every run of every cell in virtual time. The first runs of all cells come first, because their durations show how long the
    /// other runs will take.
    pub fn simulated(reproductions: &[Reproduction]) -> Self {
        let mut runs = Vec::new();
        for (scenario, reproduction) in reproductions.iter().enumerate() {
            for (number, cell) in reproduction.cells.iter().enumerate() {
                let of_cell = |repeat| ScenarioRun { scenario, cell: number, repeat };
                let runs_of_cell = (0..cell.settings.repeats).map(of_cell);
                runs.extend(planned(reproduction, PlannedCell::new(cell), runs_of_cell));
            }
        }
        runs.sort_by_key(|PlannedRun { run, .. }| (run.repeat, run.scenario, run.cell));
        Self { runs, recordings: Recordings::default(), figures: true }
    }

    /// Plans the runs that scenarios allow over HTTP, one cell after another. The first run of a cell is recorded for plots. It is recorded
    /// at once, because a run over HTTP cannot be repeated exactly.
    ///
    /// # Errors
    /// Fails if a scenario that was selected by name cannot be run over HTTP.
    pub fn over_http(reproductions: &[Reproduction], changes: HttpChanges) -> Result<Self, Error> {
        let (mut runs, mut recordings) = (Vec::new(), Vec::new());
        for (scenario, reproduction) in reproductions.iter().enumerate() {
            let Some(http) = &reproduction.scenario.http else {
                if !changes.by_name {
                    continue;
                }
                let name = &reproduction.scenario.name;
                let words = format!("scenario `{name}` cannot be run over HTTP; leave out `--http`");
                return Err(Error::usage(words));
            };
            let scale = TimeScale::parse(&http.time_scale.to_string()).map_err(Error::usage)?;
            let cells = &reproduction.cells;
            for (number, cell) in cells.iter().enumerate() {
                if !http.experiments.contains(&cell.experiment) {
                    continue;
                }
                let mut there = PlannedCell::new(cell);
                there.experiment.time_scale = changes.time_scale.unwrap_or(scale);
                let of_cell = |repeat| ScenarioRun { scenario, cell: number, repeat };
                let repeats = changes.repeats.unwrap_or(http.repeats);
                for run in planned(reproduction, there, (0..repeats).map(of_cell)) {
                    let recording = PlotRecording::new(&reproduction.scenario, cells, number);
                    recordings.push(recording.filter(|_| run.run.repeat == 0));
                    runs.push(run);
                }
            }
        }
        Ok(Self { runs, recordings: Recordings::new(recordings), figures: true })
    }

    /// Plans one more run of every cell that a plot shows. This run repeats the cell's run with median makespan, and is recorded for the
    /// plot.
    pub fn drawn(reproductions: &[Reproduction]) -> Self {
        let (mut runs, mut recordings) = (Vec::new(), Vec::new());
        for (scenario, reproduction) in reproductions.iter().enumerate() {
            let Reproduction { scenario: written, cells, data, .. } = reproduction;
            for (number, cell) in cells.iter().enumerate() {
                let middle = data.middle_run(number).and_then(|repeat| u32::try_from(repeat).ok());
                let (Some(recording), Some(repeat)) = (PlotRecording::new(written, cells, number), middle)
                else {
                    continue;
                };
                // The repetition is planned as the only run of its file. With more runs in the file, each time series could have fewer
                // points.
                let mut alone = PlannedCell::new(cell);
                alone.experiment.repeats = 1;
                runs.extend(planned(reproduction, alone, [ScenarioRun { scenario, cell: number, repeat }]));
                recordings.push(Some(recording));
            }
        }
        Self { runs, recordings: Recordings::new(recordings), figures: false }
    }

    pub fn runs(&self) -> impl Iterator<Item = ScenarioRun> {
        self.runs.iter().map(|planned| planned.run)
    }

    /// Returns the expected duration of the first run over HTTP of every cell, in real time. It is computed from the makespan of the same
    /// run in virtual time. The makespan is converted to real time, and 300 ms are added for the start and the end of the run.
    pub fn expected(&self, stop: &dyn Stop) -> anyhow::Result<Vec<(ScenarioRun, Duration)>> {
        const AROUND: Duration = Duration::from_millis(300);
        let first = self.runs.iter().filter(|planned| planned.run.repeat == 0);
        let expected = first.map(|planned| {
            let over = virtual_time::one_run(&planned.task(), 0, &Configs::default(), stop, &Nobody)?;
            let makespan_s = over.finished.result.makespan_s.unwrap_or_default();
            let lasts = Duration::try_from_secs_f64(makespan_s).unwrap_or_default();
            Ok((planned.run, planned.cell.experiment.time_scale.to_real(lasts) + AROUND))
        });
        expected.collect()
    }

    /// Executes the planned runs, and stores their figures and recordings in `reproductions`.
    ///
    /// # Errors
    /// Fails if a run cannot be executed, or if its counts of ops and attempts do not match.
    pub fn drive(
        &self,
        reproductions: &mut [Reproduction],
        driver: &dyn Driver,
        stop: &dyn Stop,
        watcher: &dyn Watcher,
    ) -> anyhow::Result<()> {
        let tasks = Tasks::new(self.runs.len(), |task| self.runs[task].task());
        let recorded = Recorded { recordings: &self.recordings, watcher };
        driver.drive(&tasks, stop, &recorded, &mut |task, over| {
            let PlannedRun { run, seed, .. } = &self.runs[task];
            let Reproduction { scenario, data, kept, .. } = &mut reproductions[run.scenario];
            if self.figures {
                over.finished.sound(*seed)?;
                data.push(run.cell, figures_of(scenario, &over.finished.result, over.bins.as_ref()));
            }
            kept.extend(self.recordings.finish(task, &over.finished.result));
            Ok(())
        })
    }
}

fn planned(
    reproduction: &Reproduction,
    cell: PlannedCell,
    runs: impl IntoIterator<Item = ScenarioRun>,
) -> impl Iterator<Item = PlannedRun> {
    let cell = Arc::new(cell);
    runs.into_iter().map(move |run| PlannedRun {
        seed: reproduction.seed(run.repeat),
        cell: cell.clone(),
        run,
    })
}

/// Recordings that plots need from single runs, made while these runs are executed.
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
