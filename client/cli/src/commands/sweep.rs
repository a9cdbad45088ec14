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

use crate::files::exporter::{ExportedRun, Layout};
use crate::files::exports::Exports;
use crate::screen::board::Board;
use crate::session::Session;
use crate::shortfall::Shortfalls;
use args::SweepArgs;
use grid::Grid;

pub(crate) fn run(args: &SweepArgs) -> anyhow::Result<ExitCode> {
    let grid = Grid::new(args, &mockserver::arguments())?;
    let varied = args.vary.iter().map(|axis| axis.key.to_string()).collect();
    let layout = Layout { varied, streams: true };
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

/// Every strategy at every point, as long as nobody interrupts: half a point is no point. Runs go to files at once.
fn measured(
    grid: &Grid<'_>,
    session: &Session,
    board: &Board,
    exports: &mut Exports,
    short: &mut Shortfalls,
) -> anyhow::Result<Vec<Cell>> {
    let mut all = Vec::new();
    for (index, point) in grid.points.iter().enumerate() {
        let name = points::name(&grid.args.vary, &point.at);
        let Some(measured) = session.run_whole(board, point.blocks(), &name)? else { break };
        for run in measured.by_block() {
            exports.on_run(&ExportedRun { result: &run.result, latencies: None, at: &point.at });
        }
        short.note(measured.runs.iter().flatten());
        all.extend(cells(index, point, &measured, grid.args.several.by));
    }
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
    let mut estimates = Vec::new();
    for choice in choices {
        let Some(measured) = session.run_whole(board, choice.blocks(), &choice.name())? else { break };
        short.note(measured.runs.iter().flatten());
        estimates.push(choice.estimated(&measured, grid.args.several.by));
    }
    Ok(estimates)
}
