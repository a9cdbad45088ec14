//! Terminal output of a sweep: the best strategy by point, or the best point of a parameter, and one row per point.

use std::fmt::Write as _;

use experiments::evaluation::best_point::{Cell, MAX_COLUMNS};
use experiments::evaluation::estimate::Estimate;
use results::numbers::{counted, dash, thousands};
use results::{Answer, Best, Incomplete, PointWinner, RankedBy, Score, first_by_point};
use shell::runner::interrupt::by_whom;
use shell::text::short_names::short_names;
use shell::text::wrapping::side_by_side;
use shell::text::{widest, wrapped_to};
use statistics::Level;

use crate::sweep::grid::Grid;
use crate::sweep::table::table;
use crate::sweep::{Shown, explain};

/// Widths in terminal columns: a ratio, the interval of a ratio, and the minimum width of a strategy's column.
const BY: usize = 7;
const RANGE: usize = 14;
const MIN_CELL: usize = 8;
const GAP: &str = "  ";

pub(super) fn screen(grid: &Grid<'_>, shown: &Shown<'_>) -> String {
    let Shown { cells, estimates, planned, incomplete, stopped_by, width } = *shown;
    if cells.is_empty() {
        let why = match incomplete {
            None => "no point was complete".to_owned(),
            Some(Incomplete { tasks, missing_tasks, .. }) => {
                let there = counted(tasks.saturating_sub(*missing_tasks), "run");
                format!("none of the {there} seeds in these documents has the runs of all strategies")
            }
        };
        return format!("{why}: nothing to show\n");
    }
    let points = point_answers(grid, estimates);
    let one_axis =
        points.as_deref().filter(|_| grid.args.vary.len() == 1 && grid.labels.len() <= MAX_COLUMNS);
    let rows = one_axis.and_then(|points| rows(grid, points, width));
    let mut text = String::new();
    let mut paragraph = |words: &str| {
        let _ = writeln!(text, "{}", wrapped_to(width, words, "", ""));
    };
    if let Some(points) = &points {
        paragraph(&first_sentence(grid, points));
    } else if estimates.is_empty() {
        paragraph(&range_sentence(grid, cells));
    } else {
        for estimate in estimates {
            paragraph(&format!("{}.", estimate.words()));
        }
    }
    text.push('\n');
    let is_rows = rows.is_some();
    let explain = grid.args.several.explain.explain;
    let long_form = || table(grid, cells, width).trim_start_matches('\n').to_owned();
    let rows = match rows {
        Some(rows) => rows,
        None if is_parameter_scan(grid) => scan(grid, cells, estimates),
        None => long_form(),
    };
    let _ = writeln!(text, "{rows}");
    let skewed = explain::skewed(&grid.points, cells).len();
    let is_share = points.iter().flatten().any(PointAnswer::is_by_share);
    text.push_str(&pointers(grid, (is_rows, is_share), skewed, width));
    if let Some(words) = grid.points.first().and_then(|point| point.server_under_test.changed()) {
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

fn is_parameter_scan(grid: &Grid<'_>) -> bool {
    grid.labels.len() == 1
        && grid.args.vary.len() == 1
        && grid.points.iter().all(|point| point.situation.0.is_empty())
}

fn first_sentence(grid: &Grid<'_>, points: &[PointAnswer]) -> String {
    let value = |point: &PointAnswer| point.values.iter().map(|value| grouped(value)).collect::<Vec<_>>();
    let winners: Vec<PointWinner<'_>> = points
        .iter()
        .map(|point| PointWinner { value: value(point).join(", "), winner: point.winner() })
        .collect();
    let key = if let [only] = grid.args.vary.as_slice() { Some(only.key.as_str()) } else { None };
    let mut answers = points.iter().filter_map(|point| point.answer.as_ref());
    first_by_point(key, &winners, answers.all(Answer::has_intervals)).to_string()
}

/// Returns a sentence with the lowest and the highest value of the ranked figure over all points. Used if no two strategies can be
/// compared.
fn range_sentence(grid: &Grid<'_>, cells: &[Cell]) -> String {
    let by = grid.args.several.by;
    let ranked: Vec<&Cell> = cells.iter().filter(|cell| cell.rank.is_some()).collect();
    let value = |cell: &Cell| cell.standing.figure(by.path()).map_or(f64::INFINITY, |figure| figure.mean);
    let least = ranked.iter().min_by(|a, b| value(a).total_cmp(&value(b)));
    let most = ranked.iter().max_by(|a, b| value(a).total_cmp(&value(b)));
    let (Some(least), Some(most), true) = (least, most, grid.labels.len() == 1) else {
        return "No point has two strategies that can be compared.".to_owned();
    };
    let at = |cell: &Cell| crate::sweep::points::name(&grid.args.vary, &grid.points[cell.point].at);
    let share = |cell: &Cell| format!("{} of the ops", cell.standing.share_text());
    let text = |cell: &Cell| if cell.standing.all_done() { by.cell(value(cell)) } else { share(cell) };
    format!("{}: {} at {}, {} at {}.", grid.labels[0], text(least), at(least), text(most), at(most))
}

fn grouped(value: &str) -> String {
    value.parse().map_or_else(|_| value.to_owned(), thousands)
}

/// Returns one row per point: one column per strategy, then the best strategy and its lead. Returns `None` if the terminal is too narrow.
fn rows(grid: &Grid<'_>, points: &[PointAnswer], width: usize) -> Option<String> {
    let names: Vec<&str> = grid.labels.iter().map(String::as_str).collect();
    let key = grid.args.vary.first().map_or("", |axis| &axis.key);
    let values: Vec<String> =
        points.iter().map(|point| point.values.iter().map(|value| grouped(value)).collect()).collect();
    let key_width = widest(values.iter().map(String::as_str).chain([key])).max(7);
    let column = |name: &str| name.chars().count().max(MIN_CELL) + 2;
    let width_of_first = |names: &[String]| widest(names).max(5);
    // Strategy names get the largest width with which all columns fit into the terminal.
    let fits = |room: &usize| {
        let (short, _) = short_names(&names, *room);
        let cells: usize = short.iter().map(|name| column(name)).sum();
        key_width + cells + GAP.len() + width_of_first(&short) + BY + RANGE < width
    };
    let room = (MIN_CELL..=40).rev().find(fits)?;
    let (short, numbered) = short_names(&names, room);
    let first_width = width_of_first(&short);
    let mut text = format!("{key:>key_width$}");
    for name in &short {
        let _ = write!(text, "{name:>width$}", width = column(name));
    }
    let _ = writeln!(text, "{GAP}{:<first_width$}{:>BY$}   95 %", "first", "by");
    for (point, value) in points.iter().zip(&values) {
        let mut line = format!("{value:>key_width$}");
        let answer = point.answer.as_ref();
        let cell_of = |label: &str| {
            let (answer, row) = answer
                .and_then(|answer| Some((answer, answer.rows.iter().find(|row| row.strategy == label)?)))?;
            row.stopped_cell()
                .map(ToOwned::to_owned)
                .or_else(|| row.figure.map(|value| answer.figure().cell(value)))
        };
        for (label, name) in names.iter().zip(&short) {
            let cell = cell_of(label).unwrap_or_else(dash);
            let _ = write!(line, "{cell:>width$}", width = column(name));
        }
        let winner = point.winner().and_then(|winner| names.iter().position(|name| *name == winner));
        let winner = winner.map_or_else(dash, |place| short[place].clone());
        let times = answer.and_then(Answer::lead).and_then(|lead| lead.times);
        let range = times.and_then(|times| times.range_text()).unwrap_or_else(dash);
        let times = times.map_or_else(dash, |times| times.ratio_text());
        let _ = writeln!(text, "{line}{GAP}{winner:<first_width$}{times:>BY$}   {range}");
    }
    for (short, full) in numbered {
        let _ = writeln!(text, "   {short} = {full}");
    }
    Some(text)
}

fn scan(grid: &Grid<'_>, cells: &[Cell], estimates: &[Estimate]) -> String {
    let by = grid.args.several.by;
    let is_share = cells.iter().any(|cell| cell.standing.share < 1.0);
    let key = grid.args.vary.first().map_or("", |axis| &axis.key);
    let at = |cell: &Cell| grid.points[cell.point].at.join(", ");
    let key_width = widest(cells.iter().map(at).chain([key.to_owned()]));
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
        let mut line = format!("{mark}  {:>key_width$}", at(cell));
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

fn pointers(grid: &Grid<'_>, (is_rows, is_share): (bool, bool), skewed: usize, width: usize) -> String {
    let seeds = counted(grid.repeats() as u64, if is_rows { "fresh seed" } else { "seed" });
    let by = if is_share { "share of ops done" } else { grid.args.several.by.column() };
    let figures = if is_rows { format!("{by}, {seeds}") } else { format!("means of {seeds}") };
    let skewed = match skewed {
        0 => "More: --explain".to_owned(),
        1 => "! 1 point is skewed (--explain)".to_owned(),
        more => format!("! {more} points are skewed (--explain)"),
    };
    let best = match (is_parameter_scan(grid), is_rows) {
        (true, _) => Some("* best"),
        (false, false) if grid.labels.len() > 1 => Some("◆ first at its point"),
        (false, _) => None,
    };
    let parts: Vec<&str> = [figures.as_str()]
        .into_iter()
        .chain(best)
        .chain([skewed.as_str(), "--html FILE  --csv FILE"])
        .collect();
    side_by_side(&parts, width)
}

/// Best strategy at each point of a sweep, judged on fresh seeds. Requires that every strategy ran at every point.
struct PointAnswer {
    values: Vec<String>,
    /// Ranking of the strategies at the point; `None` if fewer than two strategies can be ranked.
    answer: Option<Answer>,
}

impl PointAnswer {
    /// Returns the best strategy at the point of the sweep if its lead over the other strategies is certain. Also returns it if there are
    /// too few seeds for confidence intervals.
    fn winner(&self) -> Option<&str> {
        let answer = self.answer.as_ref()?;
        let lead = answer.lead()?;
        (lead.is_certain || !answer.has_intervals()).then_some(lead.best.strategy.as_str())
    }

    fn is_by_share(&self) -> bool {
        self.answer.as_ref().is_some_and(|answer| answer.ranked_by == RankedBy::Share)
    }
}

/// Returns the best strategies in the order of the points. The confidence intervals are widened so that all of them together hold in 95 %
/// of sweeps. Returns `None` if a parameter of a strategy is varied, if there is only one strategy, or if no point has an estimate.
fn point_answers(grid: &Grid<'_>, estimates: &[Estimate]) -> Option<Vec<PointAnswer>> {
    let is_of_the_point = grid.points.iter().all(|point| point.situation.0.len() == grid.args.vary.len());
    if !is_of_the_point || grid.labels.len() < 2 || estimates.is_empty() {
        return None;
    }
    let strategies = grid.labels.len();
    let pairs = strategies * strategies.saturating_sub(1) / 2;
    let level = Level::P95.shared_by(grid.points.len() * pairs.max(1));
    let by = grid.args.several.by;
    let points = grid.points.iter().map(|point| {
        let estimate = estimates.iter().find(|estimate| *estimate.situation() == point.situation);
        PointAnswer {
            values: point.at.clone(),
            answer: estimate.map(|estimate| Answer::at_level(estimate.fresh(), by, level)),
        }
    });
    Some(points.collect())
}

/// Adds to the record of each estimate the best strategy at its point, and the lead of this strategy. The confidence level of the lead
/// applies to all points of the sweep together.
pub(super) fn add_leads(grid: &Grid<'_>, estimates: &[Estimate], best: &mut [Best]) {
    let answers = point_answers(grid, estimates).unwrap_or_default();
    for (best, answer) in best.iter_mut().zip(answers.iter().filter_map(|point| point.answer.as_ref())) {
        best.lead = answer.lead_record();
    }
}
