//! `loadgen sweep`: every strategy at every point of what is varied, and the best point estimated again.

pub(crate) mod args;
pub(crate) mod axis;
mod grid;
mod points;
mod report;
mod table;

use std::process::ExitCode;

use experiments::judge::best_point::{BestPoint, best_points};
use experiments::judge::cell::{Cell, cells};
use experiments::judge::estimate::Estimate;
use experiments::runs::blocks::BlockRun;
use experiments::runs::in_turn::InTurn;
use experiments::runs::point::Point;
use results::RunFigures;

use crate::files::exporter::{Layout, RunsStand};
use crate::files::exports::Exports;
use crate::screen::board::Board;
use crate::screen::lanes::OnLanes;
use crate::session::Session;
use crate::shortfall::Shortfalls;
use args::SweepArgs;
use grid::Grid;

pub(crate) fn run(args: &SweepArgs) -> anyhow::Result<ExitCode> {
    let grid = Grid::new(args, &mockserver::arguments())?;
    let varied = args.vary.iter().map(|axis| axis.key.to_string()).collect();
    let layout = Layout { varied, runs: RunsStand::First };
    let mut exports = Exports::prepare(&args.exports.asked, &layout, None)?;
    let session = Session::begin(&args.several, &mut exports)?;
    let started_at = (!args.several.simulate).then(experiments::runs::wall_clock::now);
    let varied =
        grid.points.iter().flat_map(|point| &point.experiments).map(|experiment| &experiment.strategy);
    session.announce(&grid.announcement(), varied);

    let mut short = Shortfalls::default();
    let board = grid.board(&grid.labels, grid.points.len(), session.at_once);
    let cells = session.show(&board, || measured(&grid, &session, &board, &mut exports, &mut short))?;
    let choices = best_points(&grid.points, &cells, args.several.by);
    let names = ["the best".to_owned(), "the second best".to_owned()];
    let board = grid.board(&names, choices.len(), session.at_once);
    let estimates = session.show(&board, || estimated(&grid, &choices, &session, &board, &mut short))?;

    // Without a complete point there is nothing to write.
    let document = (!cells.is_empty()).then(|| grid.document(&cells, &estimates, started_at, &layout));
    session.tell(exports, document.as_ref(), || {
        report::text(&grid, &cells, (&estimates, choices.len()), session.stopped_by())
    })?;
    // What was cut off says nothing.
    let exit = session.cut_off().or_else(|| short.conclude());
    Ok(exit.map_or(ExitCode::SUCCESS, ExitCode::from))
}

/// Every strategy at every point, as long as nobody interrupts: half a point is no point. Runs go to files as soon as their point is
/// complete; it is judged while those of the next one go on.
fn measured(
    grid: &Grid<'_>,
    session: &Session,
    board: &Board,
    exports: &mut Exports,
    short: &mut Shortfalls,
) -> anyhow::Result<Vec<Cell>> {
    let by = grid.args.several.by;
    let figures: Vec<_> = RunFigures::ranked(by).collect();
    let files = exports.on_the_way();
    let names = grid.points.iter().map(|point| points::name(&grid.args.vary, &point.at)).collect();
    let at = grid.points.iter().map(|point| point.at.as_slice()).collect();
    let in_turn = InTurn::new(grid.points.iter().map(Point::blocks));
    let lanes = OnLanes::new(board, in_turn, names, Some(&files), at);
    let mut all = Vec::new();
    session.run_in_turn(&lanes, &figures, &mut |index, measured, runs| {
        for BlockRun { finished, texts, .. } in runs {
            exports.on_run(0, &finished, &texts);
            short.note([&finished]);
        }
        all.extend(cells(index, &grid.points[index], measured, by));
    })?;
    Ok(all)
}

/// What is best in every situation, on fresh seeds.
fn estimated(
    grid: &Grid<'_>,
    choices: &[BestPoint<'_>],
    session: &Session,
    board: &Board,
    short: &mut Shortfalls,
) -> anyhow::Result<Vec<Estimate>> {
    let by = grid.args.several.by;
    let figures: Vec<_> = RunFigures::ranked(by).collect();
    let names = choices.iter().map(BestPoint::name).collect();
    let in_turn = InTurn::new(choices.iter().map(BestPoint::blocks));
    let lanes = OnLanes::new(board, in_turn, names, None, Vec::new());
    let mut estimates = Vec::new();
    session.run_in_turn(&lanes, &figures, &mut |index, measured, runs| {
        short.note(runs.iter().map(|run| &run.finished));
        estimates.push(choices[index].estimated(measured, by));
    })?;
    Ok(estimates)
}
