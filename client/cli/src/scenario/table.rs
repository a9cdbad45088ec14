//! Tables of a scenario, as a reader of its document recognises them.

use std::fmt::Write as _;

use super::cell::{Cell, text};
use super::claim::{Judged, over_seeds};
use super::file::{Column, Experiment, Scenario};
use super::run::Data;
use crate::figures::short;
use crate::wrapping::wrapped;

/// One experiment's figures: a row for every strategy, or, when it has several points, a row for every point.
pub(crate) fn experiment_table(
    scenario: &Scenario,
    name: &str,
    experiment: &Experiment,
    cells: &[Cell],
    data: &Data,
) -> String {
    let own: Vec<(usize, &Cell)> = cells
        .iter()
        .enumerate()
        .filter(|(index, cell)| cell.experiment == name && data.has(*index))
        .collect();
    let Some((first, cell)) = own.first() else { return String::new() };
    if experiment.columns.is_empty() {
        return String::new();
    }
    let runs = data.values(*first, "").len();
    let title = if experiment.title.is_empty() { name } else { &experiment.title };
    let mut rows: Vec<Vec<String>> = Vec::new();
    if cell.point.is_empty() {
        let mut head = vec![String::new()];
        head.extend(experiment.columns.iter().map(|column| column.title.clone()));
        rows.push(head);
        for (index, cell) in &own {
            let mut row = vec![cell.label.clone()];
            row.extend(experiment.columns.iter().map(|column| with_spread(column, *index, data)));
            rows.push(row);
        }
    } else {
        let labels = scenario.labels(experiment);
        let titles: Vec<&str> = experiment.columns.iter().map(|column| column.title.as_str()).collect();
        let varied: Vec<&str> = cell.point.iter().map(|(key, _)| key.as_str()).collect();
        let mut head = vec![varied.join(", ")];
        head.extend(labels.iter().map(|label| (*label).to_owned()));
        rows.push(head);
        for chunk in own.chunks(labels.len()) {
            let values: Vec<String> = chunk[0].1.point.iter().map(|(_, value)| text(value)).collect();
            let mut row = vec![values.join(", ")];
            row.extend(chunk.iter().map(|(index, _)| {
                let figures = experiment.columns.iter().map(|column| plain(column, *index, data));
                figures.collect::<Vec<_>>().join(" / ")
            }));
            rows.push(row);
        }
        return format!("\n  {title} · {} · {runs} seeds\n{}", titles.join(" / "), aligned(&rows));
    }
    format!("\n  {title} · {runs} seeds\n{}", aligned(&rows))
}

/// Every claim: what it says, the published figure, ours, and the verdict.
pub(crate) fn claims_table(judged: &[Judged<'_>]) -> String {
    let mut table = String::from("\n");
    for one in judged {
        let mark = if one.as_expected() { ' ' } else { '!' };
        let head = format!(" {mark} {:<13} ", one.verdict.words());
        let _ = writeln!(table, "{}", wrapped(&one.claim.says, &head, &" ".repeat(17)));
        let published = if one.claim.published.is_empty() {
            String::new()
        } else {
            format!("published {}, ", one.claim.published)
        };
        let mut ours = format!("{published}here {}", one.ours);
        if !one.as_expected() {
            let _ = write!(
                ours,
                "; expected was {:?} within {}–{}",
                one.claim.expect,
                short(one.accept[0]),
                short(one.accept[1])
            );
        }
        if !one.claim.note.is_empty() {
            let _ = write!(ours, ". {}", one.claim.note);
        }
        let _ = writeln!(table, "{}", wrapped(&ours, &" ".repeat(19), &" ".repeat(19)));
    }
    table
}

fn with_spread(column: &Column, cell: usize, data: &Data) -> String {
    let values: Vec<f64> =
        data.values(cell, &column.figure).into_iter().map(|value| column.scaled(value)).collect();
    match over_seeds(&values) {
        None => "–".to_owned(),
        Some(seeds) => match seeds.deviation {
            Some(deviation) => format!("{} ± {}", short(seeds.mean), short(deviation)),
            None => short(seeds.mean),
        },
    }
}

fn plain(column: &Column, cell: usize, data: &Data) -> String {
    let values: Vec<f64> =
        data.values(cell, &column.figure).into_iter().map(|value| column.scaled(value)).collect();
    over_seeds(&values).map_or_else(|| "–".to_owned(), |seeds| short(seeds.mean))
}

/// Rows with their columns in line; the first to the left, the others to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut table = String::new();
    for row in rows {
        let mut line = String::from("    ");
        for (column, cell) in row.iter().enumerate() {
            let padding = " ".repeat(widths[column] - cell.chars().count());
            let _ = match column {
                0 => write!(line, "{cell}{padding}"),
                _ => write!(line, "   {padding}{cell}"),
            };
        }
        let _ = writeln!(table, "{}", line.trim_end());
    }
    table
}
