//! Columns of the table of a comparison. The terminal, Markdown and the HTML report show the same ones.

use super::row::{Row, RowRank};
use super::{Answer, RankedBy};
use crate::Score;
use crate::figures::numbers::{at_least, dash, milliseconds, seconds, thousands, three};

/// Column of the table, besides the ratio to the best strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankingColumn {
    /// Share of the ops that were done, or done within the limit.
    Done,
    /// Figure by which the strategies are ranked.
    Score,
    Attempts,
    PerDone,
    Makespan,
    P99,
    /// Attempts that were sent although the server had asked their client to wait.
    Early,
}

impl Answer {
    /// Returns the columns before the ratio to the best strategy, and those after it.
    pub fn columns(&self) -> (Vec<RankingColumn>, Vec<RankingColumn>) {
        use RankingColumn::{Attempts, Done, Early, Makespan, P99, PerDone, Score as Ranked};
        let (before, mut after) = match self.ranked_by {
            RankedBy::Share => (vec![Done], vec![PerDone, P99]),
            RankedBy::ScoreThenShare => (vec![Done, Ranked], vec![PerDone, P99]),
            RankedBy::Score if self.by == Score::attempts() => (vec![Ranked], vec![Makespan, Done, P99]),
            RankedBy::Score if self.by == Score::p99() => (vec![Ranked], vec![Attempts, Done]),
            RankedBy::Score => (vec![Ranked], vec![Attempts, Done, P99]),
        };
        if self.has_early() {
            after.push(Early);
        }
        (before, after)
    }

    pub fn has_early(&self) -> bool {
        self.rows.iter().any(|row| row.early > 0.0)
    }

    pub fn title(&self, column: RankingColumn) -> String {
        let title = match column {
            RankingColumn::Done => {
                return self.limit_text().map_or_else(|| "done".to_owned(), |limit| format!("in {limit}"));
            }
            RankingColumn::Score => self.by.column(),
            RankingColumn::Attempts => "attempts",
            RankingColumn::PerDone => "per op done",
            RankingColumn::Makespan => "makespan",
            RankingColumn::P99 => "p99",
            RankingColumn::Early => "early",
        };
        title.to_owned()
    }

    pub fn cell(&self, column: RankingColumn, row: &Row) -> String {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
        let count = |value: f64| thousands(value.round() as u64);
        let value = match column {
            RankingColumn::Done => return at_least(row.done, row.done_is_lower_bound),
            RankingColumn::Score => match row.stopped_cell() {
                Some(stopped) => return stopped.to_owned(),
                None => row.figure.map(|value| self.by.cell(value)),
            },
            RankingColumn::Attempts => row.attempts.map(count),
            RankingColumn::PerDone => row.per_done.map(three),
            RankingColumn::Makespan => row.makespan_s.map(seconds),
            RankingColumn::P99 => row.p99_ms.map(milliseconds),
            RankingColumn::Early => Some(row.early_text()),
        };
        value.unwrap_or_else(dash)
    }

    /// Returns the rank of a row, or the mark of a strategy without a rank.
    pub fn mark(&self, row: &Row) -> String {
        match row.place {
            RowRank::Ranked { .. } if !self.has_intervals() => dash(),
            place => place.mark(),
        }
    }
}
