//! `loadgen sweep`: runs every strategy at every point of a grid, then estimates the best points again with fresh seeds.

pub(crate) mod args;
pub(crate) mod axis;
mod explain;
mod grid;
mod points;
mod screen;
mod table;

use std::ffi::OsString;
use std::process::ExitCode;

use args::SweepArgs;
use axis::normal_key;
use experiments::evaluation::best_point::{BestPoint, Cell, best_points, cells};
use experiments::evaluation::estimate::Estimate;
use experiments::runs::blocks::BlockRun;
use experiments::runs::in_turn::InTurn;
use experiments::runs::past::Past;
use experiments::runs::point::Point;
use grid::Grid;
use results::{Document, Incomplete, RunFigures, RunResult};
use shell::screen::lanes::LaneWatcher;
use shell::text::{Styled, terminal_width};
use shell::{Board, Exports, Failures, Merging, Runner, exit_code, shards};

use crate::sweep::screen::add_leads;

struct Shown<'a> {
    cells: &'a [Cell],
    estimates: &'a [Estimate],
    /// Number of situations (combinations of values of the varied flags) for which an estimate of the best point was planned.
    planned: usize,
    incomplete: Option<&'a Incomplete>,
    stopped_by: Option<&'a str>,
    /// Width of the terminal in columns.
    width: usize,
}

/// Executes `loadgen sweep`. The argument `typed` is the whole command line. For each point of the grid, the point's values are appended to
/// it as flags.
pub(crate) fn run(args: &SweepArgs, typed: &[OsString]) -> anyhow::Result<ExitCode> {
    shards::refuse_conflicts(args.several.shard.shard, &args.exports.asked, None)?;
    conduct(&Grid::new(args, typed)?, None, None)
}

/// Reports on the runs of merged documents. In virtual time, the best points are then estimated again with fresh seeds.
pub(crate) fn merged(merging: Merging<'_>) -> anyhow::Result<ExitCode> {
    let mut args = SweepArgs::defaults();
    merging.set(&mut args.several)?;
    args.exports.asked = merging.args.asked();
    let Merging { merged, points, past, .. } = merging;
    args.vary = merged.common.axes;
    for axis in &mut args.vary {
        axis.key = normal_key(&axis.key);
    }
    let grid = Grid::of_points(&args, merged.common.labels, points);
    conduct(&grid, Some((past, merged.incomplete)), merged.began)
}

fn conduct(
    grid: &Grid<'_>,
    past: Option<(Past, Option<Incomplete>)>,
    began: Option<String>,
) -> anyhow::Result<ExitCode> {
    let args = grid.args;
    let mut exports = Exports::prepare(&args.exports.asked, &[])?;
    let session = Runner::begin(&args.several, grid.labels.len(), &mut exports, past)?;
    let started_at = (!args.several.simulate).then(|| began.unwrap_or_else(experiments::runs::one_run::now));
    let warning = grid.points.first().and_then(|point| point.server_under_test.counts_unknown());
    session.announce(&grid.announcement(), grid.strategies(), warning);

    let mut short = Failures::default();
    let board = grid.board(&grid.labels, grid.points.len(), session.at_once);
    let cells = session.show(&board, || measured(grid, &session, &board, &mut exports, &mut short))?;
    if let Some(shard) = args.several.shard.shard {
        let done = cells.iter().map(|cell| cell.runs).sum::<usize>() / grid.labels.len().max(1);
        let shard = shard.record(grid.points.len() * grid.repeats());
        return session.tell_of_shard(exports, shard, done, &short, |shard, runs| {
            let sweep = grid.swept(&cells, &[], started_at);
            Document::Sweep(Box::new(results::Sweep { runs, sweep, shard: Some(shard) }))
        });
    }
    let best = |_| best_points(&grid.points, &args.vary, &cells, args.several.by);
    let choices = session.fresh().map(best).unwrap_or_default();
    let lanes = choices.iter().map(|choice| choice.blocks().strategies.len()).max().unwrap_or_default();
    let names = ["the best", "the second best", "the third", "the fourth"].map(str::to_owned);
    if session.fresh().is_none() {
        session
            .note("the best point is not estimated again on fresh seeds, because merging sends no requests");
    }
    let board = grid.board(&names[..lanes.min(names.len())], choices.len(), session.at_once);
    let estimates = session.show(&board, || estimated(grid, &choices, &session, &board, &mut short))?;

    let document = (!cells.is_empty()).then(|| {
        let mut sweep = grid.swept(&cells, &estimates, started_at);
        add_leads(grid, &estimates, &mut sweep.best);
        sweep.incomplete.clone_from(&session.incomplete);
        |runs| Document::Sweep(Box::new(results::Sweep { runs, sweep, shard: None }))
    });
    session.tell(exports, document, || {
        let shown = Shown {
            cells: &cells,
            estimates: &estimates,
            planned: choices.len(),
            incomplete: session.incomplete.as_ref(),
            stopped_by: session.stopped_by(),
            width: terminal_width(),
        };
        Styled::from(screen::screen(grid, &shown).as_str())
    })?;
    // Missed expectations of an incomplete sweep are not reported, because its results are partial.
    let exit = session.cut_off().or_else(|| short.conclude());
    Ok(exit_code(exit))
}

/// Runs every strategy at every point until interrupted. Incomplete points are dropped. The strategies of a complete point are judged while
/// the next point runs.
fn measured(
    grid: &Grid<'_>,
    session: &Runner,
    board: &Board,
    exports: &mut Exports,
    short: &mut Failures,
) -> anyhow::Result<Vec<Cell>> {
    let by = grid.args.several.by;
    let figures: Vec<_> = RunFigures::ranked(by).collect();
    let names = grid.points.iter().map(|point| points::name(&grid.args.vary, &point.at)).collect();
    let in_turn = InTurn::new(grid.points.iter().map(Point::blocks));
    let lanes = LaneWatcher::new(board, in_turn, names);
    let mut all = Vec::new();
    session.run_in_turn(session.driver(), &lanes, &figures, &mut |index, measured, runs| {
        for BlockRun { mut finished, .. } in runs {
            short.note([&finished]);
            // Time series and latency curves are left out, because they are of little use among thousands of runs.
            let RunResult { at, series, op_latency_curve, .. } = &mut finished.result;
            (*at, *series, *op_latency_curve) = (Some(grid.at(index)), Vec::new(), Vec::new());
            exports.on_run(0, &finished);
        }
        all.extend(cells(index, &grid.points[index], measured, by));
    })?;
    Ok(all)
}

/// Runs the best point of every situation (combination of values of the varied flags) again with fresh seeds, because choosing the best of
/// many points favours lucky seeds.
fn estimated(
    grid: &Grid<'_>,
    choices: &[BestPoint<'_>],
    session: &Runner,
    board: &Board,
    short: &mut Failures,
) -> anyhow::Result<Vec<Estimate>> {
    let by = grid.args.several.by;
    let figures: Vec<_> = RunFigures::ranked(by).collect();
    let names = choices.iter().map(BestPoint::name).collect();
    let in_turn = InTurn::new(choices.iter().map(BestPoint::blocks));
    let lanes = LaneWatcher::new(board, in_turn, names);
    let mut estimates = Vec::new();
    if let Some(driver) = session.fresh() {
        session.run_in_turn(driver, &lanes, &figures, &mut |index, measured, runs| {
            short.note(runs.iter().map(|run| &run.finished));
            estimates.push(choices[index].estimated(measured, by));
        })?;
    }
    Ok(estimates)
}
