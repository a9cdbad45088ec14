//! What a sweep tells people, in 80 columns.

use std::fmt::Write as _;

use experiments::Load;
use experiments::judge::cell::Cell;
use experiments::judge::estimate::Estimate;
use experiments::runs::point::Point;
use results::{Incomplete, Mode, Score};
use statistics::Summary;

use super::grid::Grid;
use super::table::{leaves_ops_undone, table};
use crate::interrupt::by_whom;
use crate::text::figures::{counted, short, thousands};
use crate::text::wrapping::wrapped;

/// Everything; `asked` is how many estimates there were to be.
pub(super) fn text(
    grid: &Grid<'_>,
    cells: &[Cell],
    (estimates, asked): (&[Estimate], usize),
    (incomplete, stopped_by): (Option<&Incomplete>, Option<&str>),
) -> String {
    if cells.is_empty() {
        let why = match incomplete {
            None => "no point was complete".to_owned(),
            Some(Incomplete { tasks, missing_tasks, .. }) => {
                let there = counted(tasks.saturating_sub(*missing_tasks), "run");
                format!("of no seed the runs of all strategies are among the {there} that are there")
            }
        };
        return format!("{why}: there is nothing to show\n");
    }
    let mut text = table(grid.args, &grid.points, cells, &grid.labels);
    if !estimates.is_empty() {
        text.push_str(
            "\nthe best, estimated again: whoever is picked as the best of many was partly lucky\n",
        );
    }
    for estimate in estimates {
        let _ = writeln!(text, "{}", wrapped(&estimate.words(), "  ", "    "));
        for pair in &estimate.pairs {
            let _ = writeln!(text, "{}", wrapped(&pair.words(), "    ", "      "));
        }
    }
    let changed = grid.points.first().and_then(|point| point.opponent.changed());
    for words in skewed(&grid.points, cells).into_iter().chain(changed) {
        let _ = writeln!(text, "{}", wrapped(&words, "warning: ", "         "));
    }
    text.push_str(&notes(grid, cells, incomplete));
    text.push_str(&load(grid));
    if let Some(cause) = stopped_by {
        let done = cells.len() / grid.labels.len().max(1);
        let (done, all) = (thousands(done as u64), thousands(grid.points.len() as u64));
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

/// That means cannot be trusted where makespans are skewed: the one that is worst, with what to look at, and how many others.
fn skewed(points: &[Point], cells: &[Cell]) -> Option<String> {
    let mut skewed: Vec<(f64, &Cell, &Summary)> = cells
        .iter()
        .filter(|cell| cell.standing.is_comparable())
        .filter_map(|cell| {
            let figure = cell.standing.figure(Score::makespan().path())?;
            Some((figure.too_skewed()?.abs(), cell, figure))
        })
        .collect();
    skewed.sort_by(|(skewness, ..), (other, ..)| other.total_cmp(skewness));
    let (_, worst, figure) = skewed.first()?;
    let name = format!("makespan of {} at {}", worst.standing.strategy, points[worst.point].at.join(", "));
    let words = crate::repeats::skewed(std::iter::once((name, *figure))).pop()?;
    Some(match skewed.len() {
        1 => words,
        2 => format!("{words}; so is one other line of the table"),
        more => format!("{words}; so are {} other lines of the table", more - 1),
    })
}

/// What must be known to read it.
fn notes(grid: &Grid<'_>, cells: &[Cell], incomplete: Option<&Incomplete>) -> String {
    let modelled = grid.points.first().is_some_and(|point| point.opponent.model().is_some());
    let server = if modelled { "for this server model" } else { "against this server" };
    let seeds = seeds(grid, cells, incomplete);
    let mut text = format!("Means over {seeds}, {server}; the best is chosen by the geometric mean. ");
    let by_share = leaves_ops_undone(cells);
    if grid.labels.len() > 1 && by_share {
        text.push_str("◆ largest share of ops done at its point, then fewest attempts per success. ");
    } else if grid.labels.len() > 1 {
        let by = grid.args.several.by.name();
        let _ = write!(text, "◆ least {by} at its point, the oracle included. ");
    }
    if by_share {
        text.push_str("– left ops undone: no makespan to compare with; its latencies are those of the ops that it did. ");
    } else if cells.iter().any(|cell| cell.rank.is_none()) {
        text.push_str("– left ops undone: no makespan to compare with. ");
    }
    format!("\n{}\n", wrapped(text.trim_end(), "", ""))
}

/// Returns how hard the load pushes at the points, if the capacity is known for all of them.
fn load(grid: &Grid<'_>) -> String {
    let mode = if grid.args.several.simulate { Mode::Simulated } else { Mode::Http };
    let of_point = |point: &Point| Load::new(point.experiments.first()?, point.opponent.model(), mode);
    let Some(loads) = grid.points.iter().map(of_point).collect::<Option<Vec<Load>>>() else {
        return String::new();
    };
    let Some(first) = loads.first() else { return String::new() };
    let factors = loads.iter().map(Load::factor);
    let (least, most) =
        factors.fold((f64::INFINITY, 0.0_f64), |(least, most), factor| (least.min(factor), most.max(factor)));
    let words = if loads.iter().all(|load| load.sentence() == first.sentence()) {
        format!("{}.", first.sentence())
    } else {
        format!("The load is {} to {} × capacity.", short(least), short(most))
    };
    format!("{}\n", wrapped(&words, "", ""))
}

/// Over how many seeds means are; of shards that were merged without others, those that every strategy of a point met.
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
            " ({} left out: not every strategy's run with their seed is there)",
            counted(runs, "more run")
        ),
    };
    format!("{met} of {planned}{left_out}")
}
