//! Screen of a sweep: the best strategy by point, or the best point of a parameter, and one row per point.

use std::fmt::Write as _;

use experiments::judge::best_point::MAX_COLUMNS;
use experiments::judge::cell::Cell;
use experiments::judge::estimate::Estimate;
use results::numbers::{counted, thousands};
use results::{Answer, PointWinner, Score, first_by_point};
use statistics::Level;

use super::explain;
use super::grid::Grid;
use super::table::table;
use crate::interrupt::by_whom;
use crate::text::short_names::short_names;
use crate::text::wrapping::{side_by_side, wrapped_to};

/// Width of the columns of ratios and of their intervals, and the least width of a strategy's column.
const BY: usize = 7;
const RANGE: usize = 14;
const MIN_CELL: usize = 8;
/// Blanks before the name of the first strategy.
const GAP: &str = "  ";

/// Results of a sweep, and how much of them is shown.
pub(super) struct Shown<'a> {
    pub(super) cells: &'a [Cell],
    pub(super) estimates: &'a [Estimate],
    /// Number of situations in which a best point was to be estimated.
    pub(super) planned: usize,
    pub(super) incomplete: Option<&'a results::Incomplete>,
    pub(super) stopped_by: Option<&'a str>,
    /// Width of the terminal in columns.
    pub(super) width: usize,
}

/// Returns the screen.
pub(super) fn screen(grid: &Grid<'_>, shown: &Shown<'_>) -> String {
    let Shown { cells, estimates, planned, incomplete, stopped_by, width } = *shown;
    if cells.is_empty() {
        let why = match incomplete {
            None => "no point was complete".to_owned(),
            Some(results::Incomplete { tasks, missing_tasks, .. }) => {
                let there = counted(tasks.saturating_sub(*missing_tasks), "run");
                format!("no seed has the runs of all strategies among the {there} of these shards")
            }
        };
        return format!("{why}: nothing to show\n");
    }
    let points = answers(grid, estimates);
    let is_by_point = is_compared_at_points(grid, &points);
    let rows = if is_by_point && grid.args.vary.len() == 1 { rows(grid, &points, width) } else { None };
    let mut text = String::new();
    let mut paragraph = |words: &str| {
        let _ = writeln!(text, "{}", wrapped_to(width, words, "", ""));
    };
    if is_by_point {
        paragraph(&first_sentence(&points, grid.args.vary.len()));
    } else {
        for estimate in estimates {
            paragraph(&format!("{}.", estimate.words()));
        }
    }
    text.push('\n');
    let is_rows = rows.is_some();
    let long_form =
        || table(grid.args, &grid.points, cells, &grid.labels).trim_start_matches('\n').to_owned();
    let rows = match rows {
        Some(rows) => rows,
        None if is_parameter_scan(grid) => scan(grid, cells, estimates),
        None => long_form(),
    };
    let _ = writeln!(text, "{rows}");
    let explain = grid.args.several.explain.explain;
    let skewed = explain::skewed(&grid.points, cells).len();
    text.push_str(&pointers(grid, is_rows, skewed, width));
    if let Some(words) = grid.points.first().and_then(|point| point.opponent.changed()) {
        let _ = writeln!(text, "{}", wrapped_to(width, &words, "! ", "  "));
    }
    if let Some(cause) = stopped_by {
        let done = cells.len() / grid.labels.len().max(1);
        let (done, all) = (thousands(done as u64), thousands(grid.points.len() as u64));
        let estimated = if estimates.len() < planned {
            format!("; the best was estimated again in {} of {planned} cases", estimates.len())
        } else {
            String::new()
        };
        let words = format!(
            "stopped by {}: {done} of {all} points were complete, and only those count{estimated}",
            by_whom(cause)
        );
        let _ = writeln!(text, "{}", wrapped_to(width, &words, "! ", "  "));
    }
    if explain {
        text.push_str(&explain::sections(grid, cells, estimates, (incomplete, is_rows)));
    }
    text
}

/// Point of a sweep on its fresh seeds.
struct PointAnswer {
    /// Value of the varied flag.
    value: String,
    /// Key of the varied flag.
    key: String,
    answer: Answer,
}

impl PointAnswer {
    /// Returns the strategy that is distinguishably the best, or with too few seeds for that the best one.
    fn winner(&self) -> Option<&str> {
        let lead = self.answer.lead()?;
        (lead.is_certain || !self.answer.has_intervals()).then_some(lead.best.strategy.as_str())
    }
}

/// Returns the answers of all points at which strategies were compared; all intervals together hold in 95 % of sweeps.
fn answers(grid: &Grid<'_>, estimates: &[Estimate]) -> Vec<PointAnswer> {
    let strategies = grid.labels.len();
    let pairs = strategies * strategies.saturating_sub(1) / 2;
    let level = Level::P95.shared_by(grid.points.len() * pairs.max(1));
    let by = grid.args.several.by;
    let of_point = |estimate: &Estimate| {
        let (key, value) = estimate.situation().0.first().cloned()?;
        Some(PointAnswer { key, value, answer: Answer::at_level(estimate.fresh(), by, level) })
    };
    estimates.iter().filter_map(of_point).collect()
}

/// Returns true if no parameter of a strategy is varied, and a few strategies ran at each point.
fn is_compared_at_points(grid: &Grid<'_>, points: &[PointAnswer]) -> bool {
    let is_of_the_point = grid.points.iter().all(|point| point.situation.0.len() == grid.args.vary.len());
    is_of_the_point && (2..=MAX_COLUMNS).contains(&grid.labels.len()) && points.len() == grid.points.len()
}

/// Returns true if one parameter of one strategy was varied.
fn is_parameter_scan(grid: &Grid<'_>) -> bool {
    grid.labels.len() == 1
        && grid.args.vary.len() == 1
        && grid.points.iter().all(|point| point.situation.0.is_empty())
}

/// `aimd is first at 500, 2 000 and 5 000 ops, exponential:jitter=0.5 at 50 and 100.`
fn first_sentence(points: &[PointAnswer], axes: usize) -> String {
    let winners: Vec<PointWinner<'_>> = points
        .iter()
        .map(|point| PointWinner { value: grouped(&point.value), winner: point.winner() })
        .collect();
    let key = points.first().map(|point| point.key.as_str()).filter(|_| axes == 1);
    let has_intervals = points.iter().all(|point| point.answer.has_intervals());
    first_by_point(key, &winners, has_intervals).to_string()
}

/// Groups the digits of a whole number; leaves everything else as given.
fn grouped(value: &str) -> String {
    value.parse().map_or_else(|_| value.to_owned(), thousands)
}

/// Returns one row per point: a column per strategy, then the first and its lead. `None` if the terminal is too narrow.
fn rows(grid: &Grid<'_>, points: &[PointAnswer], width: usize) -> Option<String> {
    let names: Vec<&str> = grid.labels.iter().map(String::as_str).collect();
    let key = points.first().map(|point| point.key.as_str()).unwrap_or_default();
    let values: Vec<String> = points.iter().map(|point| grouped(&point.value)).collect();
    let lengths = values.iter().map(|value| value.chars().count());
    let key_width = lengths.chain([key.chars().count(), 7]).max().unwrap_or(7);
    let column = |name: &str| name.chars().count().max(MIN_CELL) + 2;
    let widest =
        |names: &[String]| names.iter().map(|name| name.chars().count()).max().unwrap_or(MIN_CELL).max(5);
    // Names are as long as all columns still fit.
    let fits = |room: &usize| {
        let (short, _) = short_names(&names, *room);
        let cells: usize = short.iter().map(|name| column(name)).sum();
        key_width + cells + GAP.len() + widest(&short) + BY + RANGE < width
    };
    let room = (MIN_CELL..=40).rev().find(fits)?;
    let (short, numbered) = short_names(&names, room);
    let first_width = widest(&short);
    let mut text = format!("{key:>key_width$}");
    for name in &short {
        let _ = write!(text, "{name:>width$}", width = column(name));
    }
    let _ = writeln!(text, "{GAP}{:<first_width$}{:>BY$}   95 %", "first", "by");
    for (point, value) in points.iter().zip(&values) {
        let mut line = format!("{value:>key_width$}");
        let row_of = |label: &str| point.answer.rows.iter().find(|row| row.strategy == label);
        for (label, name) in names.iter().zip(&short) {
            let cell = row_of(label).map_or_else(dash, |row| match row.stopped_cell() {
                Some(stopped) => stopped.to_owned(),
                None => row.figure.map_or_else(dash, |value| point.answer.figure().cell(value)),
            });
            let _ = write!(line, "{cell:>width$}", width = column(name));
        }
        let winner = point.winner().and_then(|winner| names.iter().position(|name| *name == winner));
        let winner = winner.map_or_else(dash, |place| short[place].clone());
        let times = point.answer.lead().and_then(|lead| lead.times);
        let range = times.and_then(|times| times.range_text()).unwrap_or_else(dash);
        let times = times.map_or_else(dash, |times| times.ratio_text());
        let _ = writeln!(text, "{line}{GAP}{winner:<first_width$}{times:>BY$}   {range}");
    }
    for (short, full) in numbered {
        let _ = writeln!(text, "   {short} = {full}");
    }
    Some(text)
}

/// Returns one row per value of the varied parameter, with the best marked.
fn scan(grid: &Grid<'_>, cells: &[Cell], estimates: &[Estimate]) -> String {
    let by = grid.args.several.by;
    let is_share = cells.iter().any(|cell| cell.standing.share < 1.0);
    let key = grid.args.vary.first().map(|axis| axis.key.to_string()).unwrap_or_default();
    let key_width = cells
        .iter()
        .map(|cell| grid.points[cell.point].at.join(", ").chars().count())
        .chain([key.chars().count()])
        .max()
        .unwrap_or_default();
    let best = estimates
        .first()
        .and_then(|estimate| estimate.fresh().iter().find(|standing| standing.rank == Some(1)));
    let mut columns = vec![Score::makespan(), Score::attempts(), Score::p99()];
    if !columns.contains(&by) {
        columns.insert(0, by);
    }
    let mut text = format!("   {key:>key_width$}");
    if is_share {
        let _ = write!(text, "{:>11}", "done");
    }
    for score in &columns {
        let _ = write!(text, "{:>12}", score.column());
    }
    text.push('\n');
    for cell in cells {
        let standing = &cell.standing;
        let is_best = best.is_some_and(|best| best.strategy == standing.strategy);
        let mark = if is_best { "*" } else { " " };
        let mut line = format!("{mark}  {:>key_width$}", grid.points[cell.point].at.join(", "));
        if is_share {
            let _ = write!(line, "{:>11}", standing.share_text());
        }
        for score in &columns {
            let is_known = *score != Score::makespan() || standing.all_done();
            let value = standing.figure(score.path()).filter(|_| is_known);
            let _ = write!(line, "{:>12}", value.map_or_else(dash, |figure| score.cell(figure.mean)));
        }
        let _ = writeln!(text, "{line}");
    }
    text
}

/// `makespan, 10 fresh seeds   ! 1 point is skewed (--explain)   --html FILE   --csv FILE`
fn pointers(grid: &Grid<'_>, is_rows: bool, skewed: usize, width: usize) -> String {
    let seeds = counted(grid.repeats() as u64, if is_rows { "fresh seed" } else { "seed" });
    let by = grid.args.several.by.column();
    let figures = if is_rows { format!("{by}, {seeds}") } else { format!("means of {seeds}") };
    let skewed = match skewed {
        0 => "More: --explain".to_owned(),
        1 => "! 1 point is skewed (--explain)".to_owned(),
        more => format!("! {more} points are skewed (--explain)"),
    };
    let best = is_parameter_scan(grid).then_some("* best");
    let parts: Vec<&str> = [figures.as_str()]
        .into_iter()
        .chain(best)
        .chain([skewed.as_str(), "--html FILE  --csv FILE"])
        .collect();
    side_by_side(&parts, width)
}

fn dash() -> String {
    "–".to_owned()
}
