//! Ranking table of a comparison: headings and cells, laid out for a terminal or as Markdown.

use std::fmt::Write as _;

use anstyle::Style;
use results::{Answer, RankedBy, RankingColumn, Row, RowRank};

use crate::text::short_names::short_names;
use crate::text::styled::{BOLD, DIM, RED};
use crate::text::{Styled, dash, percent, wrapped_to};

/// Maximum number of strategies for which the table lists all strategies even without `--explain`.
const MAX_ROWS: usize = 12;
/// Number of ranked strategies that the table lists if there are more than `MAX_ROWS` strategies.
const MAX_OF_MANY: usize = 10;
const MARK: usize = 3;
/// Widths of the terminal, in columns, at which the layout of the table changes: columns are added or left out, or names get more room.
const WIDE: usize = 100;
const USUAL: usize = 80;
const NARROW: usize = 72;
const NARROWEST: usize = 58;
const WITHOUT_DONE: usize = 48;
/// Width, without the column of early requests, below which this column is left out.
const WITHOUT_EARLY: usize = 40;
/// Width of the column of early requests, which few comparisons have.
const EARLY: usize = 8;

struct Column<'a> {
    title: String,
    width: usize,
    is_left: bool,
    cell: Box<dyn Fn(&Row) -> String + 'a>,
}

pub struct Ranking<'a> {
    answer: &'a Answer,
    columns: Vec<Column<'a>>,
}

impl<'a> Ranking<'a> {
    pub fn new(answer: &'a Answer, width: usize, slots: Option<u64>) -> Self {
        let width = without_early(answer, width);
        let mut columns = columns(answer, width >= WIDE);
        if width >= WIDE {
            columns.push(wasted(slots));
        }
        if width < NARROW {
            columns.retain(|column| !column.is_left);
        }
        if width < NARROWEST {
            columns.retain(|column| column.title != "attempts" && column.title != "per done");
        }
        if width < WITHOUT_EARLY {
            columns.retain(|column| column.title != "early");
        }
        if width < WITHOUT_DONE && answer.ranked_by == RankedBy::Score {
            columns.retain(|column| column.title != "done");
        }
        Self { answer, columns }
    }

    /// Returns the ranking of strategies as a text table. With `all`, the table lists every strategy, even if there are more than
    /// `MAX_ROWS` strategies.
    pub fn text(&self, width: usize, all: bool) -> Styled {
        let rows = self.shown(all);
        let names: Vec<&str> = rows.iter().map(|row| row.strategy.as_str()).collect();
        let columns: usize = self.columns.iter().map(|column| column.width).sum();
        let marks = rows.iter().map(|row| self.answer.mark(row).chars().count() + 1);
        let mark_width = marks.max().unwrap_or_default().max(MARK);
        let room = match without_early(self.answer, width) {
            WIDE.. => (width - 1).saturating_sub(MARK + columns).clamp(24, 38),
            USUAL.. => 24,
            _ => 16,
        };
        let room = room + MARK - mark_width;
        let (names, numbered) = short_names(&names, room);
        let mut head = format!("{:mark_width$}{:<room$}", "", "strategy");
        self.columns.iter().for_each(|column| head.push_str(&column.aligned(&column.title)));
        let mut text = Styled::from(head.trim_end());
        text.push("\n");
        let many = self.left_out(all);
        let left_out = format!("{:mark_width$}… {many} more: --explain\n", "");
        for (number, (row, name)) in rows.iter().zip(&names).enumerate() {
            if many > 0 && number == MAX_OF_MANY {
                text.push(&left_out);
            }
            let mut line = format!("{:<mark_width$}{name:<room$}", self.answer.mark(row));
            let mut ratio = None;
            for column in &self.columns {
                let start = line.len();
                line.push_str(&column.aligned(&(column.cell)(row)));
                if column.is_ratio() {
                    ratio = Some(ratio.map_or(start, |(first, _)| first)).map(|first| (first, line.len()));
                }
            }
            let line = line.trim_end();
            match (row_style(row), ratio.filter(|_| is_in_doubt(row))) {
                (Some(style), _) => text.push_in(style, line),
                (None, Some((start, end))) => text.push_styled(line, start..end.min(line.len()), DIM),
                (None, None) => text.push(line),
            }
            text.push("\n");
        }
        if many > 0 && rows.len() == MAX_OF_MANY {
            text.push(&left_out);
        }
        for (short, full) in numbered {
            // A long strategy name is wrapped only after a `+`.
            let name = wrapped_to(width, &full.replace('+', "+ "), &format!("   {short} = "), "     ");
            text.push(&format!("{}\n", name.replace("+ ", "+")));
        }
        text
    }

    pub fn markdown(&self) -> String {
        let cell = |text: &str| text.replace('|', "\\|");
        let mut text = String::from("| | strategy |");
        for column in &self.columns {
            let _ = write!(text, " {} |", cell(&column.title));
        }
        text.push_str("\n|---|---|");
        text.push_str(&"---:|".repeat(self.columns.len()));
        text.push('\n');
        for row in &self.answer.rows {
            let _ = write!(text, "| {} | `{}` |", cell(&self.answer.mark(row)), cell(&row.strategy));
            for column in &self.columns {
                let _ = write!(text, " {} |", cell(&(column.cell)(row)));
            }
            text.push('\n');
        }
        text
    }

    pub fn legend(&self, all: bool) -> Vec<&'static str> {
        let rows = self.shown(all);
        let is_any = |place: fn(&Row) -> bool| rows.iter().any(|row| place(row));
        let mut legend = Vec::new();
        if self.answer.has_intervals()
            && is_any(|row| matches!(row.place, RowRank::Ranked { is_tied: true, .. }))
        {
            legend.push(self.meaning_of_ties());
        }
        if is_any(|row| matches!(row.place, RowRank::Stopped { .. })) {
            let is_bound = self.answer.ranked_by == RankedBy::Share;
            legend.push(if is_bound { "! stalled, a lower bound" } else { "! not ranked" });
        }
        if is_any(|row| row.place == RowRank::KnowsServer) {
            legend.push("* knows the server");
        }
        if self.columns.iter().any(|column| column.title == "p99") && self.answer.ranked_by == RankedBy::Share
        {
            legend.push("p99: of ops that were done");
        }
        if self.answer.has_early() {
            legend.push("early: sent while the server had asked to wait");
        }
        legend
    }

    fn meaning_of_ties(&self) -> &'static str {
        let tied =
            self.answer.ranked().filter(|row| matches!(row.place, RowRank::Ranked { is_tied: true, .. }));
        let times: Vec<_> =
            tied.filter_map(|row| row.times_best).filter(|times| times.interval.is_some()).collect();
        let are_same = |times: &results::Times| times.is_within_two_percent();
        if !times.is_empty() && times.iter().all(are_same) {
            "= same within 2 %"
        } else if times.iter().any(|times| are_same(times) && !times.may_be_one()) {
            "= not distinguishable, or same within 2 %"
        } else {
            "= not distinguishable"
        }
    }

    /// Returns the listed rows of the table. Strategies without a rank are never left out.
    fn shown(&self, all: bool) -> Vec<&Row> {
        let many = self.left_out(all);
        let (ranked, rest): (Vec<&Row>, Vec<&Row>) =
            self.answer.rows.iter().partition(|row| matches!(row.place, RowRank::Ranked { .. }));
        let ranked_shown = ranked.len() - many;
        ranked.into_iter().take(ranked_shown).chain(rest).collect()
    }

    fn left_out(&self, all: bool) -> usize {
        let ranked = self.answer.ranked().count();
        if all || self.answer.rows.len() <= MAX_ROWS { 0 } else { ranked.saturating_sub(MAX_OF_MANY) }
    }
}

impl<'a> Column<'a> {
    fn right(title: impl Into<String>, width: usize, cell: impl Fn(&Row) -> String + 'a) -> Self {
        Self { title: title.into(), width, is_left: false, cell: Box::new(cell) }
    }

    /// True for the two columns about the ratio to the best strategy: the ratio itself, and its confidence interval. Only the column of the
    /// interval is left-aligned.
    fn is_ratio(&self) -> bool {
        self.is_left || self.title == "× best"
    }

    fn aligned(&self, text: &str) -> String {
        let width = self.width;
        if self.is_left { format!("  {text:<width$}", width = width - 2) } else { format!("{text:>width$}") }
    }
}

fn row_style(row: &Row) -> Option<Style> {
    match row.place {
        RowRank::Ranked { rank: 1, is_tied: false } => Some(BOLD),
        RowRank::Stopped { .. } => Some(RED),
        _ => None,
    }
}

fn is_in_doubt(row: &Row) -> bool {
    row.times_best.is_some_and(|times| times.interval.is_some() && times.may_be_one())
}

fn columns(answer: &Answer, is_wide: bool) -> Vec<Column<'_>> {
    let (before, mut after) = answer.columns();
    let is_share = answer.ranked_by == RankedBy::Share;
    after.retain(|column| is_share || *column != RankingColumn::P99);
    if is_wide && !is_share {
        after.push(RankingColumn::P99);
    }
    let column = |column: RankingColumn| {
        let (title, width) = match column {
            RankingColumn::Done => (answer.title(column), if is_share { 11 } else { 9 }),
            RankingColumn::PerDone => ("per done".to_owned(), 10),
            RankingColumn::P99 => (answer.title(column), 9),
            RankingColumn::Early => (answer.title(column), EARLY),
            _ => (answer.title(column), 11),
        };
        Column::right(title, width, move |row| answer.cell(column, row))
    };
    let times = Column::right("× best", 8, Row::times_cell);
    let range = Column {
        title: "95 %".to_owned(),
        width: 13,
        is_left: true,
        cell: Box::new(|row| row.range_cell(answer.seeds)),
    };
    before.into_iter().map(column).chain([times, range]).chain(after.into_iter().map(column)).collect()
}

/// Returns the width that is left for the other columns.
fn without_early(answer: &Answer, width: usize) -> usize {
    if answer.has_early() { width.saturating_sub(EARLY) } else { width }
}

/// Creates the column for wasted slot time. It shows the share of the server's slot time that was spent on rejected or abandoned attempts.
fn wasted(slots: Option<u64>) -> Column<'static> {
    Column::right("wasted", 9, move |row| {
        let capacity_s = slots.zip(row.makespan_s).map(|(slots, makespan_s)| slots as f64 * makespan_s);
        let share = row.wasted_s.zip(capacity_s.filter(|capacity_s| *capacity_s > 0.0));
        share.map_or_else(dash, |(wasted_s, capacity_s)| percent(wasted_s / capacity_s))
    })
}
