//! Sections that `loadgen sweep --explain` adds: results of every strategy at every point, estimates on fresh seeds, figures with a skewed
//! distribution, and the seeds.

use std::fmt::Write as _;

use experiments::Load;
use experiments::evaluation::best_point::Cell;
use experiments::evaluation::estimate::Estimate;
use experiments::runs::point::Point;
use results::{Incomplete, Mode, Score};
use shell::runner::variance_warnings;
use shell::text::figures::extremes;
use shell::text::{counted, short, terminal_width, thousands, wrapped};

use crate::sweep::grid::Grid;
use crate::sweep::table::{leaves_ops_undone, table};

/// Returns all sections of `--explain`. The table of all results is left out if the normal output already contains it.
pub(super) fn sections(
    grid: &Grid<'_>,
    cells: &[Cell],
    estimates: &[Estimate],
    (incomplete, is_rows): (Option<&Incomplete>, bool),
) -> String {
    let mut text = String::new();
    if is_rows {
        text.push_str(&table(grid, cells, terminal_width()));
    }
    if !estimates.is_empty() && is_rows {
        text.push_str("\nthe best of each point on fresh seeds (choosing the best of many favours luck)\n");
        for estimate in estimates {
            let _ = writeln!(text, "{}", wrapped(&estimate.words(), "  ", "    "));
        }
    }
    let skewed = skewed(&grid.points, cells);
    for words in &skewed {
        let _ = writeln!(text, "{}", wrapped(words, "! ", "  "));
    }
    text.push_str(&notes(grid, cells, incomplete));
    text.push_str(&load(grid));
    text
}

pub(super) fn skewed(points: &[Point], cells: &[Cell]) -> Vec<String> {
    let mut skewed: Vec<(f64, String, &statistics::Summary)> = cells
        .iter()
        .filter(|cell| cell.standing.is_comparable())
        .filter_map(|cell| {
            let figure = cell.standing.figure(Score::makespan().path())?;
            let name =
                format!("makespan of {} at {}", cell.standing.strategy, points[cell.point].at.join(", "));
            Some((figure.too_skewed()?.abs(), name, figure))
        })
        .collect();
    skewed.sort_by(|(skewness, ..), (other, ..)| other.total_cmp(skewness));
    variance_warnings::skewed(skewed.into_iter().map(|(_, name, figure)| (name, figure)))
}

fn notes(grid: &Grid<'_>, cells: &[Cell], incomplete: Option<&Incomplete>) -> String {
    let modelled = grid.points.first().is_some_and(|point| point.server_under_test.model().is_some());
    let server = if modelled { "for this server model" } else { "against this server" };
    let seeds = seeds(grid, cells, incomplete);
    let mut text = format!("Means over {seeds}, {server}; the best is chosen by the geometric mean. ");
    let by_share = leaves_ops_undone(cells);
    if grid.labels.len() > 1 && by_share {
        text.push_str("◆ largest share of ops done at its point. ");
    } else if grid.labels.len() > 1 {
        let by = grid.args.several.by.name();
        let _ = write!(text, "◆ least {by} at its point, without the oracle. ");
    }
    if by_share {
        text.push_str("– left ops undone: no makespan to compare with; its latencies are those of the ops that it did. ");
    } else if cells.iter().any(|cell| cell.rank.is_none()) {
        text.push_str("– left ops undone: no makespan to compare with. ");
    }
    format!("\n{}\n", wrapped(text.trim_end(), "", ""))
}

fn load(grid: &Grid<'_>) -> String {
    let mode = Mode::new(grid.args.several.simulate);
    let of_point =
        |point: &Point| Load::new(point.experiments.first()?, point.server_under_test.model(), mode);
    let Some(loads) = grid.points.iter().map(of_point).collect::<Option<Vec<Load>>>() else {
        return String::new();
    };
    let Some(first) = loads.first() else { return String::new() };
    let (least, most) = extremes(loads.iter().map(Load::factor));
    let words = if loads.iter().all(|load| load.sentence() == first.sentence()) {
        format!("{}.", first.sentence())
    } else {
        format!("The load is {} to {} × capacity.", short(least), short(most))
    };
    format!("{}\n", wrapped(&words, "", ""))
}

/// Formats the number of seeds over which the means of a sweep were taken. If shards are missing, a point counts only seeds with which
/// every strategy ran at the point.
fn seeds(grid: &Grid<'_>, cells: &[Cell], incomplete: Option<&Incomplete>) -> String {
    let planned = counted(grid.repeats() as u64, "seed");
    let Some(Incomplete { tasks, missing_tasks, .. }) = incomplete else { return planned };
    let runs =
        |cell: &Cell| cell.standing.figures.iter().map(|(_, over)| over.count as u64).max().unwrap_or(0);
    let (least, most) =
        (cells.iter().map(runs).min().unwrap_or(0), cells.iter().map(runs).max().unwrap_or(0));
    let met =
        if least == most { thousands(most) } else { format!("{} to {}", thousands(least), thousands(most)) };
    let left_out = tasks.saturating_sub(*missing_tasks).saturating_sub(cells.iter().map(runs).sum());
    let left_out = match left_out {
        0 => String::new(),
        runs => format!(
            " ({} left out, because some strategies have no run with that seed)",
            counted(runs, "more run")
        ),
    };
    format!("{met} of {planned}{left_out}")
}
