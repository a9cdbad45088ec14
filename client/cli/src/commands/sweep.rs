//! `loadgen sweep`: every strategy at every point of what is varied, and the best point estimated again.

pub(crate) mod args;
pub(crate) mod axis;
mod best;
mod cell;
mod point;
mod table;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::process::ExitCode;

use results::Swept;

use dashboards::LanesHeader;
use experiments::record::config_record;
use experiments::runs::blocks::{Blocks, Measured};
use experiments::runs::driver::Driver;
use experiments::servers::opponent::Opponent;

use crate::commands::compare::{COLUMNS, OnLanes, driver};
use crate::exit::Exit;
use crate::files::exporter::{ExportedRun, Layout};
use crate::files::exports::Exports;
use crate::files::output::to_stdout;
use crate::interrupt::{Interrupt, by_whom};
use crate::screen::board::Board;
use crate::screen::watch::Watch;
use crate::settings::Settings;
use crate::several::refuse_twice;
use crate::shortfall::Shortfalls;
use crate::text::figures::{counted, thousands};
use crate::text::stderr::to_stderr;
use crate::text::summary;
use crate::text::wrapping::wrapped;
use args::SweepArgs;
use best::{Choice, Estimate, choices};
use cell::{Cell, cells};
use point::{Point, points};

pub(crate) fn run(args: &SweepArgs) -> anyhow::Result<ExitCode> {
    let typed: Vec<OsString> = mockserver::arguments();
    let strategies: Vec<_> = args.strategies.iter().flat_map(|list| list.0.iter().cloned()).collect();
    refuse_twice(&strategies)?;
    if args.vary.len() > 2 {
        let words = "`--vary` is given more than twice; two axes at most can be seen at once";
        return Err(crate::exit::Fatal::error(Exit::Usage, words));
    }
    let points = points(args, &typed)?;
    let labels: Vec<String> = strategies.iter().map(ToString::to_string).collect();
    let interrupt = Interrupt::listen()?;
    let varied = args.vary.iter().map(|axis| axis.key.to_string()).collect();
    let layout = Layout { varied, streams: true };
    let mut exports = Exports::prepare(&args.exports.asked, &layout, None)?;
    exports.begin()?;
    let started_at = (!args.several.simulate).then(experiments::runs::wall_clock::now);
    let stdout_is_data = exports.take_stdout();
    let repeats = points.first().map_or(0, |point| point.settings[0].repeats);
    if !args.several.output.quiet {
        announce(args, &points, &labels, repeats);
        summary::doubts(&strategies);
    }
    let mode = Watch::wanted(args.several.output.quiet, args.several.screen, stdout_is_data);
    let (driver, at_once) = driver(args.several.simulate, args.several.output.threads)?;
    let runs = Runs {
        driver,
        interrupt: &interrupt,
        board: lanes(args, &points, &labels, at_once, points.len(), labels.clone()),
    };
    let mut short = Shortfalls::default();
    let held =
        runs.board.show(mode, &interrupt, || measured(args, &points, &mut exports, &mut short, &runs))?;
    let choices = choices(&args.vary, &points, &held, args.several.by);
    let asked = choices.len();
    let best = vec!["the best".into(), "the second best".into()];
    let runs = Runs { board: lanes(args, &points, &labels, at_once, choices.len(), best), ..runs };
    let estimates =
        runs.board.show(mode, &interrupt, || estimated(args, &points, choices, &mut short, &runs))?;
    // Without a complete point there is nothing to write, and nothing that was there is overwritten.
    let written = if held.is_empty() {
        Ok(())
    } else {
        let sweep = document(args, &points, &held, &labels, &estimates, started_at, &layout);
        exports.finish(&results::sorted(&sweep)?)
    };
    if !args.several.output.quiet {
        let text = text(args, &points, &held, &labels, (&estimates, asked), interrupt.cause());
        if stdout_is_data {
            to_stderr(&text);
        } else {
            to_stdout(text.as_bytes())?;
        }
    }
    written?;
    // What was cut off says nothing.
    let short = if interrupt.exit().is_none() { short.conclude() } else { None };
    Ok(interrupt.exit().or(short).map_or(ExitCode::SUCCESS, ExitCode::from))
}

/// What does runs, who stops them, and where they are shown.
struct Runs<'a> {
    driver: Box<dyn Driver>,
    interrupt: &'a Interrupt,
    board: Board,
}

impl Runs<'_> {
    /// All strategies with all seeds; nothing when that was cut off: half a point is no point.
    fn of(
        &self,
        strategies: &[Settings],
        opponent: &Opponent,
        name: &str,
    ) -> anyhow::Result<Option<Measured>> {
        let blocks = Blocks { strategies, opponent };
        let measured = blocks.run(&*self.driver, self.interrupt, &OnLanes::new(&self.board, blocks, name))?;
        Ok(Some(measured).filter(|_| self.interrupt.exit().is_none()))
    }
}

/// Every strategy at every point, as long as nobody interrupts; runs go to files at once.
fn measured(
    args: &SweepArgs,
    points: &[Point],
    exports: &mut Exports,
    short: &mut Shortfalls,
    runs: &Runs<'_>,
) -> anyhow::Result<Vec<Cell>> {
    let mut held = Vec::new();
    for (index, point) in points.iter().enumerate() {
        let Some(measured) = runs.of(&point.settings, &point.opponent, &point.name(args))? else { break };
        for run in measured.by_block() {
            exports.on_run(&ExportedRun { result: &run.result, latencies: None, at: &point.at });
        }
        short.note(measured.runs.iter().flatten());
        held.extend(cells(index, point, &measured, args.several.by));
    }
    Ok(held)
}

/// What is best in every situation, on fresh seeds.
fn estimated(
    args: &SweepArgs,
    points: &[Point],
    choices: Vec<Choice>,
    short: &mut Shortfalls,
    runs: &Runs<'_>,
) -> anyhow::Result<Vec<Estimate>> {
    let mut estimates = Vec::new();
    for choice in choices {
        let opponent = &points[choice.point].opponent;
        let Some(measured) = runs.of(&choice.settings, opponent, &choice.name())? else { break };
        short.note(measured.runs.iter().flatten());
        estimates.push(choice.estimated(&measured, args.several.by));
    }
    Ok(estimates)
}

/// A lane for each name, with the seeds of so many points.
fn lanes(
    args: &SweepArgs,
    points: &[Point],
    labels: &[String],
    at_once: usize,
    stages: usize,
    names: Vec<String>,
) -> Board {
    let first = points.first().and_then(|point| point.settings.first());
    let repeats = first.map_or(0, |first| first.repeats as usize);
    let header = LanesHeader {
        title: format!("{} of {}", counted(points.len() as u64, "point"), axes(args)),
        workload: match labels.len() {
            1 => format!("one strategy, {}", counted(repeats as u64, "seed")),
            more => format!("{more} strategies, {}", counted(repeats as u64, "seed")),
        },
        target: who(args, points),
        time_scale: first.map_or(1.0, |first| first.time_scale.factor()),
    };
    Board::new(header, COLUMNS.to_vec(), names.into_iter(), stages * repeats, at_once)
}

/// Who is asked.
fn who(args: &SweepArgs, points: &[Point]) -> String {
    points.first().map(|point| point.opponent.words(args.several.simulate)).unwrap_or_default()
}

fn axes(args: &SweepArgs) -> String {
    let keys: Vec<String> = args.vary.iter().map(|axis| axis.key.to_string()).collect();
    keys.join(" and ")
}

fn announce(args: &SweepArgs, points: &[Point], labels: &[String], repeats: u32) {
    let runs = points.len() * labels.len() * repeats as usize;
    let how = who(args, points);
    to_stderr(&format!(
        "{} of {} · strategies: {} · {} · {}\n{how}\n",
        counted(points.len() as u64, "point"),
        axes(args),
        labels.join(", "),
        counted(u64::from(repeats), "seed"),
        counted(runs as u64, "run")
    ));
}

/// All but the runs, which were written before.
fn document(
    args: &SweepArgs,
    points: &[Point],
    held: &[Cell],
    labels: &[String],
    estimates: &[Estimate],
    started_at: Option<String>,
    layout: &Layout,
) -> results::Sweep {
    let axis = |axis: &axis::Axis| results::Axis { key: axis.key.to_string(), values: axis.values.clone() };
    let cell = |cell: &Cell| cell.record(&labels[cell.strategy], layout.at(&points[cell.point].at));
    let config = points.first().map(|point| {
        let record = point.opponent.record(args.several.simulate);
        config_record(&point.settings[0], &record, point.settings[0].run.seed)
    });
    let sweep = Swept {
        started_at,
        axes: args.vary.iter().map(axis).collect(),
        by: args.several.by.path().to_owned(),
        by_name: args.several.by.name().to_owned(),
        config,
        intervals: points.first().map(|point| point.opponent.intervals().to_owned()),
        cells: held.iter().map(cell).collect(),
        best: estimates.iter().map(Estimate::record).collect(),
    };
    results::Sweep { runs: Vec::new(), sweep }
}

fn text(
    args: &SweepArgs,
    points: &[Point],
    held: &[Cell],
    labels: &[String],
    (estimates, asked): (&[Estimate], usize),
    stopped: Option<&str>,
) -> String {
    if held.is_empty() {
        return "no point was complete: there is nothing to show\n".to_owned();
    }
    let repeats = points.first().map_or(0, |point| point.settings[0].repeats);
    let mut text = table::table(args, points, held, labels);
    if !estimates.is_empty() {
        text.push_str(
            "\nthe best, estimated again: whoever is picked as the best of many was partly lucky\n",
        );
    }
    for estimate in estimates {
        text.push_str(&estimate.text());
    }
    if let Some(words) = table::skewed(points, held) {
        let _ = writeln!(text, "{}", wrapped(&words, "warning: ", "         "));
    }
    if let Some(words) = points.first().and_then(|point| point.opponent.changed()) {
        let _ = writeln!(text, "{}", wrapped(&words, "warning: ", "         "));
    }
    let modelled = points.first().is_some_and(|point| point.opponent.model().is_some());
    let incomplete = held.iter().any(|cell| cell.rank.is_none());
    text.push_str(&table::notes(args, labels.len() > 1, incomplete, repeats, modelled));
    if let Some(cause) = stopped {
        let done = held.len() / labels.len().max(1);
        let (done, all) = (thousands(done as u64), thousands(points.len() as u64));
        let _ = writeln!(
            text,
            "\nstopped by {}: {done} of {all} points were complete, and only those count",
            by_whom(cause)
        );
        if estimates.len() < asked {
            let (done, asked) = (thousands(estimates.len() as u64), thousands(asked as u64));
            let _ = writeln!(text, "the best was estimated again in {done} of {asked} situations");
        }
    }
    text
}
