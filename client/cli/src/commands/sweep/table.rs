//! The figures of a sweep, in 80 columns.

use std::fmt::Write as _;

use experiments::judge::cell::Cell;
use experiments::runs::point::Point;
use results::Score;

use super::args::SweepArgs;
use super::axis::Axis;
use crate::text::figures::short;
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
    let mut table = Table::new(30, [10, 7, 10, 7, 7, 9].map(Column::Right), LongNames::OwnLine);
    table.line("");
    let titles = ["makespan s", "± sd", "attempts", "± sd", "per op", &third.heading()];
    table.row("  ", &name(&keys, "strategy"), &titles.map(str::to_owned));
    for cell in cells {
        let standing = &cell.standing;
        let mean =
            |path: &str| standing.figure(path).map_or_else(|| "–".to_owned(), |figure| short(figure.mean));
        let spread = |path: &str| {
            let deviation = standing.figure(path).and_then(|figure| figure.deviation);
            deviation.map_or_else(|| "–".to_owned(), short)
        };
        let (makespan, attempts) = (Score::makespan().path(), Score::attempts().path());
        let comparable = |text: String| if cell.rank.is_some() { text } else { "–".to_owned() };
        let figures = [
            comparable(mean(makespan)),
            comparable(spread(makespan)),
            mean(attempts),
            spread(attempts),
            mean("amplification"),
            mean(third.path()),
        ];
        let mark = match cell.rank {
            None => "– ",
            Some(1) if labels.len() > 1 => "◆ ",
            Some(_) => "  ",
        };
        table.row(mark, &name(&points[cell.point].at, &labels[cell.strategy]), &figures);
    }
    table.into_text()
}

fn width(axis: &Axis, key: &str) -> usize {
    axis.values.iter().map(|value| value.chars().count()).max().unwrap_or(0).max(key.chars().count())
}
