//! Planning and execution of the runs of scenarios. They are executed in virtual time, or over HTTP if the scenario allows it.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use experiments::runs::driver::{Driver, Nobody, Outcome, RealRun, Task, Tasks, Watcher};
use experiments::runs::stop::Stop;
use experiments::runs::virtual_time::{self, Configs};
use experiments::servers::server_under_test::ServerUnderTest;
use experiments::{Error, Experiment};
use loadgen_core::SampleSink;
use vocabulary::TimeScale;

use crate::recording::PlotRecording;
use crate::reproduction::state::Reproduction;
use crate::scenario::{Cell, Scenario, figures_of};

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
    /// True if the figures of claims are taken from the planned runs. False if the runs are repetitions from which only plots are recorded.
    figures: bool,
}

struct PlannedRun {
    run: ScenarioRun,
    cell: Arc<PlannedCell>,
    seed: u64,
    /// Recording that plots need from this run, made while the run is executed.
    recording: Option<PlotRecording>,
}

struct PlannedCell {
    experiment: Experiment,
    server_under_test: ServerUnderTest,
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
        let mut plan = Self { runs: Vec::new(), figures: true };
        for (scenario, reproduction) in reproductions.iter().enumerate() {
            for (number, cell) in reproduction.cells.iter().enumerate() {
                let first = ScenarioRun { scenario, cell: number, repeat: 0 };
                plan.add(reproduction, first, cell.settings.repeats, cell.settings.clone(), None);
            }
        }
        plan.runs.sort_by_key(|PlannedRun { run, .. }| (run.repeat, run.scenario, run.cell));
        plan
    }

    /// Plans the runs that scenarios allow over HTTP, one cell after another. The first run of a cell is recorded for plots. It is recorded
    /// at once, because a run over HTTP cannot be repeated exactly.
    ///
    /// # Errors
    /// Fails if a scenario that was selected by name cannot be run over HTTP.
    pub fn over_http(reproductions: &[Reproduction], changes: HttpChanges) -> Result<Self, Error> {
        let mut plan = Self { runs: Vec::new(), figures: true };
        for (scenario, reproduction) in reproductions.iter().enumerate() {
            let Reproduction { scenario: Scenario { name, http, .. }, cells, .. } = reproduction;
            let Some(http) = http else {
                if !changes.by_name {
                    continue;
                }
                let words = format!("scenario `{name}` cannot be run over HTTP; leave out `--http`");
                return Err(Error::usage(words));
            };
            let scale = TimeScale::parse(&http.time_scale.to_string()).map_err(Error::usage)?;
            for (number, cell) in cells.iter().enumerate() {
                if http.experiments.contains(&cell.experiment) {
                    let first = ScenarioRun { scenario, cell: number, repeat: 0 };
                    let time_scale = changes.time_scale.unwrap_or(scale);
                    let experiment = Experiment { time_scale, ..cell.settings.clone() };
                    let recording = PlotRecording::new(&reproduction.scenario, cells, number);
                    let repeats = changes.repeats.unwrap_or(http.repeats);
                    plan.add(reproduction, first, repeats, experiment, recording);
                }
            }
        }
        Ok(plan)
    }

    /// Plans one more run of every cell that a plot shows. This run repeats the cell's run with median makespan, and is recorded for the
    /// plot.
    pub fn drawn(reproductions: &[Reproduction]) -> Self {
        let mut plan = Self { runs: Vec::new(), figures: false };
        for (scenario, reproduction) in reproductions.iter().enumerate() {
            let Reproduction { scenario: written, cells, data, .. } = reproduction;
            for (cell, Cell { settings, .. }) in cells.iter().enumerate() {
                let middle = data.middle_run(cell).and_then(|repeat| u32::try_from(repeat).ok());
                let recording = PlotRecording::new(written, cells, cell);
                if let (Some(_), Some(repeat)) = (&recording, middle) {
                    // The repetition is planned as the only run of its file. With more runs in the file, each time series could have
                    // fewer points.
                    let alone = Experiment { repeats: 1, ..settings.clone() };
                    plan.add(reproduction, ScenarioRun { scenario, cell, repeat }, 1, alone, recording);
                }
            }
        }
        plan
    }

    /// Adds runs of a cell with consecutive repeat numbers. If a recording is given, the first run is recorded.
    fn add(
        &mut self,
        reproduction: &Reproduction,
        first: ScenarioRun,
        runs: u32,
        experiment: Experiment,
        mut recording: Option<PlotRecording>,
    ) {
        let server = reproduction.cells[first.cell].server.clone();
        let server_under_test = ServerUnderTest::Own(Box::new(server));
        let cell = Arc::new(PlannedCell { experiment, server_under_test });
        self.runs.extend((first.repeat..first.repeat + runs).map(|repeat| PlannedRun {
            run: ScenarioRun { repeat, ..first },
            cell: cell.clone(),
            seed: reproduction.seed(repeat),
            recording: recording.take(),
        }));
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
        driver.drive(&tasks, stop, &Recorded { plan: self, watcher }, &mut |task, over| {
            let PlannedRun { run, seed, recording, .. } = &self.runs[task];
            let Reproduction { scenario, data, kept, .. } = &mut reproductions[run.scenario];
            if self.figures {
                over.finished.sound(*seed)?;
                data.push(run.cell, figures_of(scenario, &over.finished.result, over.bins.as_ref()));
            }
            kept.extend(recording.iter().flat_map(|recording| recording.finish(&over.finished.result)));
            Ok(())
        })
    }
}

struct Recorded<'a> {
    plan: &'a Plan,
    watcher: &'a dyn Watcher,
}

impl Watcher for Recorded<'_> {
    fn attempts_of(&self, number: usize, seed: u64) -> anyhow::Result<Option<SampleSink>> {
        self.watcher.attempts_of(number, seed)?;
        Ok(self.plan.runs[number].recording.as_ref().map(PlotRecording::sink))
    }

    fn on_real(&self, number: usize, run: &RealRun<'_>) {
        self.watcher.on_real(number, run);
    }

    fn on_over(&self, number: usize, outcome: &Outcome) {
        self.watcher.on_over(number, outcome);
    }

    fn on_tick(&self) {
        self.watcher.on_tick();
    }
}
