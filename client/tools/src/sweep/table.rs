//! Table of a sweep's results, one row per strategy and point, fitted to the width of the terminal.

use experiments::evaluation::best_point::Cell;
use results::{Axis, Score};
use shell::text::short_names::short_names;
use shell::text::{Column, LongNames, Table, dash, percent, short, widest};

use crate::sweep::args::SweepArgs;
use crate::sweep::grid::Grid;

const MARK: usize = 2;
const GAP: &str = "  ";
const HEADING: &str = "strategy";
/// Minimum width of strategy names in characters. On a narrow terminal, optional figures are left out before any name is cut below this
/// width.
const MIN_NAME: usize = 16;
const MAX_NAME: usize = 40;

struct Figure {
    title: String,
    width: usize,
    /// True if the figure is left out on a narrow terminal.
    is_optional: bool,
    cell: Box<dyn Fn(&Cell) -> String>,
}

/// Returns a row per strategy and point. On a narrow terminal, names are cut and optional figures are left out, so that no row wraps.
pub(super) fn table(grid: &Grid<'_>, cells: &[Cell], width: usize) -> String {
    let Grid { args, points, labels, .. } = grid;
    let keys: Vec<String> = args.vary.iter().map(|axis| axis.key.clone()).collect();
    let key_width = |axis: &Axis| widest(axis.values.iter().chain([&axis.key]));
    let key_widths: Vec<usize> = args.vary.iter().map(key_width).collect();
    let head = MARK + key_widths.iter().map(|width| width + GAP.len()).sum::<usize>();
    let mut figures = if leaves_ops_undone(cells) { by_shares(args, cells) } else { by_makespan(args) };
    let taken = |figures: &[Figure]| head + figures.iter().map(|figure| figure.width).sum::<usize>();
    let names: Vec<&str> = labels.iter().map(String::as_str).collect();
    let min_name = if names.len() > 1 { widest(&names).clamp(HEADING.len(), MIN_NAME) } else { 0 };
    while taken(&figures) + min_name >= width
        && let Some(place) = figures.iter().rposition(|figure| figure.is_optional)
    {
        figures.remove(place);
    }
    let room = width.saturating_sub(taken(&figures) + 1).clamp(MIN_NAME, MAX_NAME);
    let (names, numbered) = short_names(&names, room);
    let several = names.len() > 1;
    let name_width = if several { widest(&names).max(HEADING.len()) } else { 0 };
    let row = |mark: &str, at: &[String], name: &str| {
        let at = at.iter().zip(&key_widths);
        let at = at.map(|(value, width)| format!("{value:>width$}{GAP}")).collect::<Vec<_>>().concat();
        format!("{mark}{at}{:<name_width$}", if several { name } else { "" })
    };
    let mut table = Table::new(
        head + name_width,
        figures.iter().map(|figure| Column::Right(figure.width)),
        LongNames::Shift,
    );
    table.line("");
    let titles: Vec<String> = figures.iter().map(|figure| figure.title.clone()).collect();
    table.row("", &row("  ", &keys, HEADING), &titles);
    let by_share = leaves_ops_undone(cells);
    for cell in cells {
        let texts: Vec<String> = figures.iter().map(|figure| (figure.cell)(cell)).collect();
        let mark = match cell.rank {
            None if !by_share => "– ",
            Some(_) if several && is_first_at_its_point(args.several.by, cell, cells) => "◆ ",
            _ => "  ",
        };
        table.row("", &row(mark, &points[cell.point].at, &names[cell.strategy]), &texts);
    }
    for (short, full) in numbered {
        table.line(&format!("   {short} = {full}"));
    }
    table.into_text()
}

/// True if some strategy of the sweep left ops undone. The table then ranks strategies first by the share of ops that they completed, as
/// `loadgen compare` does.
pub(super) fn leaves_ops_undone(cells: &[Cell]) -> bool {
    cells.iter().any(|cell| cell.standing.share < 1.0)
}

/// True if the cell's strategy is the best one at its point. The best strategy has the largest share of completed ops. Among strategies
/// with equal shares, it has the lowest score.
fn is_first_at_its_point(by: Score, cell: &Cell, cells: &[Cell]) -> bool {
    let key = |cell: &Cell| (-cell.standing.share, cell.standing.score(by));
    let candidates = cells
        .iter()
        .filter(|other| other.point == cell.point && other.rank.is_some() && !other.standing.foresees);
    let best = candidates.min_by(|a, b| {
        let (a, b) = (key(a), key(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    best.is_some_and(|best| best.strategy == cell.strategy)
}

fn figure(title: &str, width: usize, cell: impl Fn(&Cell) -> String + 'static) -> Figure {
    Figure { title: title.to_owned(), width, is_optional: false, cell: Box::new(cell) }
}

fn optional(title: &str, width: usize, cell: impl Fn(&Cell) -> String + 'static) -> Figure {
    Figure { is_optional: true, ..figure(title, width, cell) }
}

fn by_makespan(args: &SweepArgs) -> Vec<Figure> {
    let third = args.several.by.beside_makespan_and_attempts();
    let comparable = |cell: &Cell, text: String| if cell.rank.is_some() { text } else { dash() };
    let (makespan, attempts) = (Score::makespan().path(), Score::attempts().path());
    vec![
        figure("makespan s", 11, move |cell| comparable(cell, mean(cell, makespan))),
        optional("± sd", 7, move |cell| comparable(cell, spread(cell, makespan))),
        figure("attempts", 9, move |cell| mean(cell, attempts)),
        optional("± sd", 7, move |cell| spread(cell, attempts)),
        optional("per op", 7, |cell| mean(cell, "amplification")),
        optional(&third.heading(), 9, move |cell| mean(cell, third.path())),
    ]
}

fn by_shares(args: &SweepArgs, cells: &[Cell]) -> Vec<Figure> {
    let third = args.several.by.beside_makespan_and_attempts();
    let done = if cells.iter().any(|cell| cell.standing.limit.is_some()) { "in time" } else { "done" };
    let deviation = |cell: &Cell| {
        let share = cell.standing.figure(Score::done_share().path());
        share.and_then(|share| share.deviation).map_or_else(dash, percent)
    };
    let per_done = |cell: &Cell| {
        let per_done = cell.standing.figure_of_all(Score::attempts_per_success());
        per_done.map_or_else(dash, |per_done| short(per_done.mean))
    };
    // A makespan is shown only for a strategy that gave up no ops, because a run with given-up ops ends early. This rule also applies if
    // only one strategy ran at a point.
    let makespan =
        |cell: &Cell| if cell.standing.all_done() { mean(cell, Score::makespan().path()) } else { dash() };
    vec![
        figure(done, 7, |cell| cell.standing.share_text()),
        optional("± sd", 8, deviation),
        figure("per done", 9, per_done),
        optional("makespan s", 11, makespan),
        optional("attempts", 8, |cell| mean(cell, Score::attempts().path())),
        optional(&third.heading(), 7, move |cell| mean(cell, third.path())),
    ]
}

fn mean(cell: &Cell, path: &str) -> String {
    cell.standing.figure(path).map_or_else(dash, |figure| short(figure.mean))
}

fn spread(cell: &Cell, path: &str) -> String {
    cell.standing.figure(path).and_then(|figure| figure.deviation).map_or_else(dash, short)
}
