//! Tables of figures for a terminal, with the names of rows on the left and cells in columns.

use crate::text::wrapping::wrapped;

/// Minimum number of blanks before a figure that fills its column. One blank would not separate two figures, because figures themselves
/// contain single blanks.
const APART: usize = 2;

/// Column of a table, with its width in characters. A cell that is wider than its column uses blanks of the cells after it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Column {
    Right(usize),
    /// Left-aligned column of a table, two blanks after the previous column.
    Left(usize),
}

/// Layout of a table row whose name is too long for the name column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LongNames {
    /// The long name moves the cells of its row to the right.
    Shift,
    OwnLine,
    /// A name that is too long for its column is printed on lines of its own above the cells of its row. It is wrapped after a `+` where
    /// necessary.
    Broken,
}

pub(crate) struct Table {
    /// Width in characters of the first column, which contains a row's mark and name.
    head: usize,
    columns: Vec<Column>,
    long_names: LongNames,
    text: String,
}

impl Table {
    pub(crate) fn new(head: usize, columns: impl IntoIterator<Item = Column>, long_names: LongNames) -> Self {
        Self { head, columns: columns.into_iter().collect(), long_names, text: String::new() }
    }

    /// Adds the line with the column titles. A title that is wider than its column starts further left, where it covers only blanks.
    pub(crate) fn titles<'a>(&mut self, head: &str, titles: impl IntoIterator<Item = &'a str>) {
        let mut line = format!("{head:<width$}", width = self.head);
        for (column, title) in self.columns.iter().zip(titles) {
            if let Column::Right(width) = *column {
                for _ in width..title.chars().count() {
                    line.truncate(line.strip_suffix(' ').unwrap_or(&line).len());
                }
            }
            line.push_str(&column.cell(title));
        }
        self.line(&line);
    }

    pub(crate) fn row(&mut self, mark: &str, name: &str, cells: &[String]) {
        let cells = self.joined(cells);
        let head = format!("{mark}{name}");
        let width = head.chars().count();
        match self.long_names {
            LongNames::OwnLine if width > self.head => {
                self.line(&head);
                self.line(&format!("{:width$}{cells}", "", width = self.head));
            }
            LongNames::Broken if width >= self.head => {
                // A long name is wrapped before it reaches the right margin. Its further lines are indented deeper than its first line.
                self.line(&wrapped(&name.replace('+', "+ "), mark, "      ").replace("+ ", "+"));
                self.line(&format!("{:width$}{cells}", "", width = self.head));
            }
            _ => self.line(&format!("{head:<width$}{cells}", width = self.head)),
        }
    }

    fn joined(&self, cells: &[String]) -> String {
        let (mut line, mut beyond) = (String::new(), 0);
        for (index, (column, cell)) in self.columns.iter().zip(cells).enumerate() {
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

    pub(crate) fn line(&mut self, words: &str) {
        self.text.push_str(words.trim_end());
        self.text.push('\n');
    }

    pub(crate) fn into_text(self) -> String {
        self.text
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
pub(crate) fn fitted(rows: &[Vec<String>]) -> String {
    const MARGIN: &str = "    ";
    const BETWEEN: usize = 3;
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let figures = (1..columns).map(|column| Column::Right(BETWEEN + width(column)));
    let mut table = Table::new(MARGIN.len() + width(0), figures, LongNames::Shift);
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
    fn columns_are_as_wide_as_their_cells() {
        let rows = [vec!["", "a", "figure"], vec!["name", "1000", "2"], vec!["x", "3"]];
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect();
        assert_eq!(fitted(&rows), "              a   figure\n    name   1000        2\n    x         3\n");
        assert_eq!(fitted(&[]), "");
    }
}
