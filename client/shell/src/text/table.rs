//! Tables of figures for a terminal, with the names of rows on the left and cells in columns.

use std::ops::Range;

use vocabulary::printable;

use crate::text::{terminal_width, widest, wrapped};

/// Minimum number of blanks before a figure that fills its column. One blank would not separate two figures, because figures themselves
/// contain single blanks.
const APART: usize = 2;

/// Column of a table, with its width in characters. A cell that is wider than its column uses blanks of the cells after it.
#[derive(Clone, Copy, Debug)]
pub enum Column {
    Right(usize),
    /// Left-aligned column of a table, two blanks after the previous column.
    Left(usize),
}

/// Layout of a table row whose name is too long for the name column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongNames {
    /// The long name moves the cells of its row to the right, if they still fit the terminal.
    Shift,
    OwnLine,
    /// A name that is too long for its column is printed on lines of its own above the cells of its row. It is wrapped after a `+` where
    /// necessary.
    Broken,
}

pub struct Table {
    /// Width in characters of the first column, which contains a row's mark and name.
    head: usize,
    columns: Vec<Column>,
    long_names: LongNames,
    lines: Vec<Line>,
}

enum Line {
    Text(String),
    /// Line with a name and cells. Lines that follow each other are printed in blocks of as many columns as fit the terminal.
    Row {
        mark: String,
        name: String,
        cells: Vec<String>,
        is_title: bool,
    },
}

impl Table {
    pub fn new(head: usize, columns: impl IntoIterator<Item = Column>, long_names: LongNames) -> Self {
        Self { head, columns: columns.into_iter().collect(), long_names, lines: Vec::new() }
    }

    /// Adds the line with the column titles. A title that is wider than its column starts further left, where it covers only blanks.
    pub fn titles<'a>(&mut self, head: &str, titles: impl IntoIterator<Item = &'a str>) {
        let cells = titles.into_iter().map(str::to_owned).collect();
        self.lines.push(Line::Row { mark: String::new(), name: head.to_owned(), cells, is_title: true });
    }

    pub fn row(&mut self, mark: &str, name: &str, cells: &[String]) {
        let name = printable(name).into_owned();
        let (mark, cells) = (mark.to_owned(), cells.to_vec());
        self.lines.push(Line::Row { mark, name, cells, is_title: false });
    }

    /// Returns the lines of a title or of a row, with the cells of these columns only. The last line contains the cells.
    fn shown(&self, line: &Line, columns: Range<usize>, width: usize) -> Vec<String> {
        let (mark, name, cells, is_title) = match line {
            Line::Text(text) => return vec![text.clone()],
            Line::Row { mark, name, cells, is_title } => (mark, name, cells, *is_title),
        };
        let cells = &cells[columns.start.min(cells.len())..columns.end.min(cells.len())];
        let head = format!("{mark}{name}");
        let padded = format!("{head:<width$}", width = self.head);
        if is_title {
            return vec![Self::titled(padded, &self.columns[columns], cells)];
        }
        let cells = Self::joined(&self.columns[columns], cells);
        let below = format!("{:width$}{cells}", "", width = self.head);
        let letters = head.chars().count();
        match self.long_names {
            LongNames::OwnLine if letters > self.head => vec![head, below],
            LongNames::Shift if letters > self.head && letters + cells.chars().count() > width => {
                vec![head, below]
            }
            LongNames::Broken if letters >= self.head => {
                // A long name is wrapped before it reaches the right margin. Its further lines are indented deeper than its first line.
                vec![wrapped(&name.replace('+', "+ "), mark, "      ").replace("+ ", "+"), below]
            }
            _ => vec![padded + &cells],
        }
    }

    fn titled(head: String, columns: &[Column], titles: &[String]) -> String {
        let mut line = head;
        for (column, title) in columns.iter().zip(titles) {
            if let Column::Right(width) = *column {
                for _ in width..title.chars().count() {
                    line.truncate(line.strip_suffix(' ').unwrap_or(&line).len());
                }
            }
            line.push_str(&column.cell(title));
        }
        line
    }

    fn joined(columns: &[Column], cells: &[String]) -> String {
        let (mut line, mut beyond) = (String::new(), 0);
        for (index, (column, cell)) in columns.iter().zip(cells).enumerate() {
            let Column::Right(width) = *column else {
                line.push_str(&column.cell(cell));
                continue;
            };
            // The first cell needs no gap before it, because the name column ends with blanks.
            let (letters, room) = (cell.chars().count(), width.saturating_sub(beyond));
            let taken = if index == 0 || letters < room { room } else { letters + APART };
            line.push_str(&Column::Right(taken).cell(cell));
            beyond = (beyond + taken).saturating_sub(width);
        }
        line
    }

    pub fn line(&mut self, words: &str) {
        self.lines.push(Line::Text(words.to_owned()));
    }

    pub fn into_text(self) -> String {
        self.within(terminal_width())
    }

    pub fn within(&self, width: usize) -> String {
        let mut text = String::new();
        let is_row = |line: &Line| matches!(line, Line::Row { .. });
        for lines in self.lines.chunk_by(|line, next| is_row(line) && is_row(next)) {
            for block in self.blocks(lines, width) {
                for line in lines.iter().flat_map(|line| self.shown(line, block.clone(), width)) {
                    text.push_str(line.trim_end());
                    text.push('\n');
                }
            }
        }
        text
    }

    /// Divides the columns into blocks of as many columns as fit beside the names.
    fn blocks(&self, lines: &[Line], width: usize) -> Vec<Range<usize>> {
        let fits = |block: Range<usize>| {
            let last = |line: &Line| self.shown(line, block.clone(), width).pop().unwrap_or_default();
            lines.iter().all(|line| last(line).trim_end().chars().count() <= width)
        };
        let mut blocks = vec![Range::default()];
        for column in 0..self.columns.len() {
            let start = blocks.last().map_or(0, |block| block.start);
            if column > start && matches!(lines, [Line::Row { .. }, ..]) && !fits(start..column + 1) {
                blocks.push(column..column);
            }
            if let Some(block) = blocks.last_mut() {
                block.end = column + 1;
            }
        }
        blocks
    }
}

impl Column {
    fn cell(self, text: &str) -> String {
        match self {
            Self::Right(width) => format!("{text:>width$}"),
            Self::Left(width) => format!("  {text:<width$}"),
        }
    }
}

/// Formats rows as a table whose columns are as wide as their widest cells. The first column is left-aligned, the others are right-aligned.
pub fn fitted(rows: &[Vec<String>]) -> String {
    const MARGIN: &str = "    ";
    const BETWEEN: usize = 3;
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| widest(rows.iter().filter_map(|row| row.get(column)));
    let figures = (1..columns).map(|column| Column::Right(BETWEEN + width(column)));
    let head = (MARGIN.len() + width(0)).min(terminal_width() / 2);
    let mut table = Table::new(head, figures, LongNames::Shift);
    for row in rows {
        if let Some((name, cells)) = row.split_first() {
            table.row(MARGIN, name, cells);
        }
    }
    table.into_text()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(long_names: LongNames, name: &str) -> String {
        let columns = [Column::Right(8), Column::Left(6), Column::Right(5)];
        let mut table = Table::new(12, columns, long_names);
        table.titles("  name", ["makespan s", "words", "n"]);
        table.row("◆ ", name, &["1.5", "few", "12"].map(str::to_owned));
        table.into_text()
    }

    #[test]
    fn titles_stand_over_their_cells_and_wide_ones_begin_earlier() {
        assert_eq!(
            table(LongNames::Shift, "aimd"),
            "  name    makespan s  words     n\n\
             ◆ aimd           1.5  few      12\n"
        );
        // Titles overwrite only blanks.
        let mut narrow = Table::new(4, [Column::Right(3)], LongNames::Shift);
        narrow.titles("name", ["too wide"]);
        assert_eq!(narrow.into_text(), "nametoo wide\n");
    }

    #[test]
    fn wide_figures_shift_later_columns_only_while_needed() {
        let mut table = Table::new(4, [5, 5, 5, 8].map(Column::Right), LongNames::Shift);
        table.row("", "a", &["1", "21 536", "315", "9"].map(str::to_owned));
        table.row("", "b", &["1", "2", "3", "4"].map(str::to_owned));
        assert_eq!(table.into_text(), "a       1  21 536  315    9\nb       1    2    3       4\n");
    }

    #[test]
    fn a_long_name_moves_its_cells_or_has_lines_of_its_own() {
        let line = |text: String, number: usize| text.lines().nth(number).unwrap_or_default().to_owned();
        let long = "a-name-of-18-chars";
        assert_eq!(line(table(LongNames::Shift, long), 1), "◆ a-name-of-18-chars     1.5  few      12");
        assert_eq!(line(table(LongNames::OwnLine, long), 1), "◆ a-name-of-18-chars");
        assert_eq!(line(table(LongNames::OwnLine, long), 2), "                 1.5  few      12");
        // A head of exactly 12 characters leaves no blank before a wide figure. `OwnLine` accepts that, `Broken` does not.
        assert_eq!(table(LongNames::OwnLine, "ten-chars!").lines().count(), 2);
        assert_eq!(table(LongNames::Broken, "ten-chars!").lines().count(), 3);
        let parts = ["full-jitter:base=100ms,cap=30s"; 4].join("+");
        let broken = table(LongNames::Broken, &parts);
        assert_eq!(broken.lines().count(), 4, "{broken}");
        assert!(line(broken.clone(), 1).ends_with("cap=30s+"), "{broken}");
        assert!(line(broken, 2).starts_with("      full-jitter"));
    }

    #[test]
    fn columns_that_do_not_fit_form_further_blocks() {
        let mut table = Table::new(6, [6; 3].map(Column::Right), LongNames::Shift);
        table.titles("ops", ["a", "b", "c"]);
        table.row("", "50", &["1", "2", "3"].map(str::to_owned));
        table.line("done");
        assert_eq!(
            table.within(18),
            "ops        a     b\n50         1     2\nops        c\n50         3\ndone\n"
        );
        assert_eq!(table.within(80).lines().count(), 3);
    }

    #[test]
    fn columns_are_as_wide_as_their_cells() {
        let rows = [vec!["", "a", "figure"], vec!["name", "1000", "2"], vec!["x", "3"]];
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect();
        assert_eq!(fitted(&rows), "              a   figure\n    name   1000        2\n    x         3\n");
        assert_eq!(fitted(&[]), "");
    }
}
