//! The figures of a sweep, in 80 columns.

use std::fmt::Write as _;

use experiments::judge::cell::Cell;
use experiments::runs::point::Point;
use results::Score;

use super::args::SweepArgs;
use super::axis::Axis;
use crate::text::figures::{percent, short};
use crate::text::table::{Column, LongNames, Table};

/// Every strategy at every point.
pub(super) fn table(args: &SweepArgs, points: &[Point], cells: &[Cell], labels: &[String]) -> String {
    let third = args.several.by.beside_makespan_and_attempts();
    let keys: Vec<String> = args.vary.iter().map(|axis| axis.key.to_string()).collect();
    let widths: Vec<usize> = args.vary.iter().zip(&keys).map(|(axis, key)| width(axis, key)).collect();
    let name = |at: &[String], strategy: &str| {
        let at = at.iter().zip(&widths).fold(String::new(), |mut text, (value, width)| {
            let _ = write!(text, "{value:>width$}  ");
            text
        });
        if labels.len() > 1 { format!("{at}{strategy}") } else { at.trim_end().to_owned() }
    };
    let by_share = leaves_ops_undone(cells);
    let widths = if by_share { [6, 6, 10, 11, 9, 7] } else { [10, 7, 9, 7, 7, 9] };
    let mut table = Table::new(30, widths.map(Column::Right), LongNames::OwnLine);
    table.line("");
    let titles = if by_share {
        let done = if cells.iter().any(|cell| cell.standing.limit.is_some()) { "in time" } else { "done" };
        [done, "± sd", "per succ.", "makespan s", "attempts", &third.heading()]
    } else {
        ["makespan s", "± sd", "attempts", "± sd", "per op", &third.heading()]
    };
    table.row("  ", &name(&keys, "strategy"), &titles.map(str::to_owned));
    for cell in cells {
        let figures = if by_share { by_shares(cell, third) } else { by_makespan(cell, third) };
        let mark = match cell.rank {
            None if !by_share => "– ",
            Some(1) if labels.len() > 1 => "◆ ",
            _ => "  ",
        };
        table.row(mark, &name(&points[cell.point].at, &labels[cell.strategy]), &figures);
    }
    table.into_text()
}

/// Whether some left ops undone: then what each got done comes before all else, as in comparisons.
pub(super) fn leaves_ops_undone(cells: &[Cell]) -> bool {
    cells.iter().any(|cell| cell.standing.share < 1.0)
}

fn by_makespan(cell: &Cell, third: Score) -> [String; 6] {
    let comparable = |text: String| if cell.rank.is_some() { text } else { dash() };
    let (makespan, attempts) = (Score::makespan().path(), Score::attempts().path());
    [
        comparable(mean(cell, makespan)),
        comparable(spread(cell, makespan)),
        mean(cell, attempts),
        spread(cell, attempts),
        mean(cell, "amplification"),
        mean(cell, third.path()),
    ]
}

fn by_shares(cell: &Cell, third: Score) -> [String; 6] {
    let standing = &cell.standing;
    let deviation = standing.figure(Score::done_share().path()).and_then(|share| share.deviation);
    [
        standing.share_text(),
        deviation.map_or_else(dash, percent),
        standing.figure_of_all(Score::attempts_per_success()).map_or_else(dash, |effort| short(effort.mean)),
        // Alone at its point a strategy is comparable with itself, but who leaves ops undone is soon done.
        if standing.all_done() { mean(cell, Score::makespan().path()) } else { dash() },
        mean(cell, Score::attempts().path()),
        mean(cell, third.path()),
    ]
}

fn mean(cell: &Cell, path: &str) -> String {
    cell.standing.figure(path).map_or_else(dash, |figure| short(figure.mean))
}

fn spread(cell: &Cell, path: &str) -> String {
    cell.standing.figure(path).and_then(|figure| figure.deviation).map_or_else(dash, short)
}

fn dash() -> String {
    "–".to_owned()
}

fn width(axis: &Axis, key: &str) -> usize {
    axis.values.iter().map(|value| value.chars().count()).max().unwrap_or(0).max(key.chars().count())
}
