//! The runs of scenarios: in virtual time side by side, or over HTTP where a scenario can be.

use std::time::Duration;

use anyhow::anyhow;
use experiments::reproduction::{PlotRecording, Reproduction};
use experiments::runs::driver::{Driver, Nobody, Task, Tasks};
use experiments::runs::over_http::OverHttp;
use experiments::runs::stop::Stop;
use experiments::runs::virtual_time::{self, VirtualTime};
use experiments::scenario::{Cell, figures_of};
use experiments::servers::opponent::Opponent;
use vocabulary::TimeScale;

use super::args::ReproduceArgs;
use super::recordings::Recordings;
use super::remaining::{Key, Remaining};
use super::watching::Watching;
use crate::exit::{Exit, Fatal};
use crate::interrupt::Interrupt;
use crate::settings::Settings;
use crate::text::progress::Live;

/// One run to do: of which scenario and cell, and the how manyth.
type Number = (usize, usize, u32);

/// A cell as it is run.
struct Planned {
    experiment: Settings,
    opponent: Opponent,
}

impl Planned {
    fn of(cell: &Cell) -> Self {
        let opponent = Opponent::Own(Box::new(cell.server.clone()));
        Self { experiment: cell.settings.clone(), opponent }
    }

    fn task(&self, seed: u64) -> Task<'_> {
        let Self { experiment, opponent } = self;
        Task { experiment, opponent, seed, runs_of_file: experiment.repeats }
    }
}

/// Runs every cell of every scenario as often as was asked for.
pub(super) fn run_all(
    reproductions: &mut [Reproduction],
    args: &ReproduceArgs,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    let mut planned: Vec<Vec<Planned>> =
        reproductions.iter().map(|one| one.cells.iter().map(Planned::of).collect()).collect();
    let live = Live::new(!args.output.quiet);
    if args.http {
        let driver = OverHttp::new()?;
        let numbers = over_http(reproductions, &mut planned, args)?;
        let mut remaining = Remaining::of(numbers.iter().map(key));
        for (number, cell, _) in numbers.iter().filter(|(_, _, repeat)| *repeat == 0) {
            let takes = thought(&planned[*number][*cell], reproductions[*number].scenario.seed, interrupt)?;
            remaining.think((*number, *cell), takes);
        }
        // Over HTTP no run can be repeated: the first one is drawn.
        let recorders = |&(number, cell, repeat): &Number| {
            let Reproduction { scenario, cells, .. } = &reproductions[number];
            PlotRecording::of(scenario, cells, cell).filter(|_| repeat == 0)
        };
        let recordings = Recordings::new(numbers.iter().map(recorders));
        let names = |number: usize| {
            let (scenario, cell, _) = numbers[number];
            let Reproduction { scenario, cells, .. } = &reproductions[scenario];
            format!("{}: {}", scenario.name, cells[cell].label)
        };
        let names: Vec<String> = (0..numbers.len()).map(names).collect();
        let watching =
            Watching::new(live, remaining, numbers.iter().map(key).collect(), names, &recordings, 1);
        return drive(reproductions, &planned, &numbers, &driver, interrupt, &watching, &recordings);
    }
    let driver = VirtualTime::on_threads(args.output.threads);
    let mut numbers: Vec<Number> = Vec::new();
    for (number, reproduction) in reproductions.iter().enumerate() {
        for (cell, there) in reproduction.cells.iter().enumerate() {
            numbers.extend((0..there.settings.repeats).map(|repeat| (number, cell, repeat)));
        }
    }
    // The first run of every cell first: then it is known what the others take.
    numbers.sort_by_key(|(number, cell, repeat)| (*repeat, *number, *cell));
    let remaining = Remaining::of(numbers.iter().map(key));
    let recordings = Recordings::default();
    let keys = numbers.iter().map(key).collect();
    let watching = Watching::new(live, remaining, keys, Vec::new(), &recordings, driver.threads);
    drive(reproductions, &planned, &numbers, &driver, interrupt, &watching, &recordings)
}

fn key((number, cell, _): &Number) -> Key {
    (*number, *cell)
}

/// What every scenario offers over HTTP, as fast as it or the user says.
fn over_http(
    reproductions: &[Reproduction],
    planned: &mut [Vec<Planned>],
    args: &ReproduceArgs,
) -> anyhow::Result<Vec<Number>> {
    // All first, so that progress knows how many there are.
    let mut numbers = Vec::new();
    for (number, Reproduction { scenario, cells, .. }) in reproductions.iter().enumerate() {
        let Some(http) = &scenario.http else {
            if args.names.is_empty() && args.scenario.is_none() {
                continue;
            }
            let words = format!("scenario `{}` cannot be run over HTTP; leave out `--http`", scenario.name);
            return Err(Fatal::error(Exit::Usage, words));
        };
        let scale = TimeScale::parse(&http.time_scale.to_string()).map_err(|error| anyhow!("{error}"))?;
        let repeats = args.repeats.unwrap_or(http.repeats);
        for (cell, _) in
            cells.iter().enumerate().filter(|(_, cell)| http.experiments.contains(&cell.experiment))
        {
            planned[number][cell].experiment.time_scale = args.time_scale.unwrap_or(scale);
            numbers.extend((0..repeats).map(|repeat| (number, cell, repeat)));
        }
    }
    Ok(numbers)
}

/// Does these runs, and keeps their figures and what was recorded.
fn drive(
    reproductions: &mut [Reproduction],
    planned: &[Vec<Planned>],
    numbers: &[Number],
    driver: &dyn Driver,
    stop: &dyn Stop,
    watching: &Watching<'_>,
    recordings: &Recordings,
) -> anyhow::Result<()> {
    let seeds: Vec<u64> = reproductions.iter().map(|one| one.scenario.seed).collect();
    let tasks = Tasks::new(numbers.len(), |task| {
        let (number, cell, repeat) = numbers[task];
        planned[number][cell].task(seeds[number].wrapping_add(u64::from(repeat)))
    });
    driver.drive(&tasks, stop, watching, &mut |task, over| {
        over.finished.sound(tasks.task(task).seed)?;
        let (number, cell, _) = numbers[task];
        let Reproduction { scenario, data, kept, .. } = &mut reproductions[number];
        kept.extend(recordings.finish(task, &over.finished.result));
        data.push(cell, figures_of(scenario, &over.finished.result, over.bins.as_ref()));
        Ok(())
    })
}

/// What a run of a cell will take over HTTP: as long as in virtual time, and a moment to begin and to end.
fn thought(planned: &Planned, seed: u64, stop: &dyn Stop) -> anyhow::Result<Duration> {
    const AROUND: Duration = Duration::from_millis(300);
    let over = virtual_time::one_run(&planned.task(seed), 0, stop, &Nobody)?;
    let makespan_s = over.finished.result.makespan_s.unwrap_or_default();
    let experiment = Duration::try_from_secs_f64(makespan_s).unwrap_or_default();
    Ok(planned.experiment.time_scale.to_real(experiment) + AROUND)
}

/// Repeats the run in the middle of every cell that is drawn, and keeps what its figures need.
pub(super) fn record_all(
    reproductions: &mut [Reproduction],
    args: &ReproduceArgs,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    let mut numbers = Vec::new();
    let (mut planned, mut seeds, mut recorders) = (Vec::new(), Vec::new(), Vec::new());
    for (number, Reproduction { scenario, cells, data, .. }) in reproductions.iter().enumerate() {
        for (index, cell) in cells.iter().enumerate() {
            let (Some(recorder), Some(middle)) =
                (PlotRecording::of(scenario, cells, index), data.middle_run(index))
            else {
                continue;
            };
            numbers.push(number);
            // A run alone may have all points of its series.
            let mut alone = Planned::of(cell);
            alone.experiment.repeats = 1;
            planned.push(alone);
            seeds.push(scenario.seed.wrapping_add(middle as u64));
            recorders.push(Some(recorder));
        }
    }
    let recordings = Recordings::new(recorders.into_iter());
    let tasks = Tasks::new(numbers.len(), |task| planned[task].task(seeds[task]));
    let driver = VirtualTime::on_threads(args.output.threads);
    driver.drive(&tasks, interrupt, &recordings, &mut |task, over| {
        reproductions[numbers[task]].kept.extend(recordings.finish(task, &over.finished.result));
        Ok(())
    })
}
