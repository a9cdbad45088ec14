//! Answer that a comparison gives: the best strategy, its lead, and one row per strategy. The terminal, the HTML report, Markdown and the
//! JSON document all show this answer.
//!
//! Each figure is compared with the figure of the best strategy. The ratio is the geometric mean of ratios paired by seed. With five or
//! more seeds, the ratio has an interval (Student's t on the logarithms). All intervals use the level [`shared_level`]. This level is so
//! high that all intervals of a comparison together are correct in 95 % of comparisons.

mod by_point;
mod columns;
mod pairs;
mod record;
mod row;
mod sensitivity;
mod sentence;

#[cfg(test)]
mod tests;

use row::Placed;
use statistics::Level;

use crate::ranking::equal_groups;
use crate::ranking::ranked_strategy::shared_level;
use crate::{RankedStrategy, Score};

pub use by_point::{PointWinner, first_by_point};
pub use columns::RankingColumn;
pub use pairs::{PairRow, pair_rows};
pub use row::{MIN_SEEDS, Row, RowRank, Times};
pub use sensitivity::same_winner_sentence;
pub use sentence::{Part, Sentence};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankedBy {
    /// Ranked by the score of `--by`, because every ranked strategy did all of its ops.
    Score,
    /// Strategies that did every op come first, ranked by the score of `--by`. The others follow, ranked by their share of ops done.
    ScoreThenShare,
    /// Ranked by the share of ops done, because no strategy did every op, or because ops were done too late.
    Share,
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub by: Score,
    pub ranked_by: RankedBy,
    pub seeds: usize,
    pub level: Level,
    pub limit: Option<String>,
    /// One row per strategy: first the ranked strategies, then strategies without a rank, and last the oracles, which know the server in
    /// advance.
    pub rows: Vec<Row>,
    /// Strategy with the lowest score for each seed, or `None` if several strategies have the lowest score. Empty if a ranked strategy
    /// lacks the score.
    firsts: Vec<Option<String>>,
    /// Strategy with the fewest attempts among the strategies with the first rank, if the difference to all of them is distinguishable. If
    /// attempts are ranked, the makespan is compared instead of attempts. If shares are ranked, attempts per success are compared.
    thriftiest: Option<String>,
}

#[derive(Clone, Copy, Debug)]
pub struct Lead<'a> {
    pub best: &'a Row,
    /// Lead of the best strategy over the next best one, as a ratio of their figures. If some strategies cannot be distinguished from the
    /// best one, the lead is over the best of these. `None` if no other strategy did the same work as the best one.
    pub times: Option<Times>,
    /// True if the best strategy can be distinguished from every other one.
    pub is_certain: bool,
}

impl Answer {
    /// Creates the answer from the ranked strategies. The caller passes `standings` in the order of the ranking.
    pub fn new(standings: &[RankedStrategy], by: Score) -> Self {
        let level = shared_level(standings.iter().filter(|standing| standing.rank.is_some()));
        Self::at_level(standings, by, level)
    }

    pub fn at_level(standings: &[RankedStrategy], by: Score, level: Level) -> Self {
        let seeds = standings.iter().map(|standing| standing.counts.runs).max().unwrap_or_default();
        let ranked: Vec<&RankedStrategy> =
            standings.iter().filter(|standing| standing.rank.is_some() && !standing.foresees).collect();
        let limit = standings.iter().find_map(|standing| standing.limit.clone());
        let is_whole = ranked.first().is_some_and(|best| best.is_comparable() && best.share >= 1.0);
        let is_equal_work = ranked.iter().all(|standing| standing.is_comparable());
        let ranked_by = match () {
            () if is_equal_work && (is_whole || ranked.is_empty()) => RankedBy::Score,
            () if is_whole => RankedBy::ScoreThenShare,
            () => RankedBy::Share,
        };
        let is_share = ranked_by == RankedBy::Share;
        let firsts = firsts(&ranked, by);
        let (same_work, others): (Vec<&RankedStrategy>, Vec<&RankedStrategy>) =
            ranked.into_iter().partition(|standing| !is_share && standing.is_comparable());
        let groups = equal_groups(same_work, others, by, level, true);
        let companion = if is_share { Score::attempts_per_success() } else { by.companion() };
        let thriftiest = groups.first().and_then(|tied| thriftiest(tied, companion, level));
        let mut placed: Vec<Placed<'_>> = Vec::new();
        for group in groups {
            let place = RowRank::Ranked { rank: placed.len() as u64 + 1, is_tied: group.len() > 1 };
            placed.extend(group.into_iter().map(|standing| (standing, place)));
        }
        let rows = row::rows(standings, &placed, if is_share { Score::done_share() } else { by }, level);
        Self { by, ranked_by, seeds, level, limit, rows, firsts, thriftiest }
    }

    pub fn figure(&self) -> Score {
        if self.ranked_by == RankedBy::Share { Score::done_share() } else { self.by }
    }

    pub fn limit_text(&self) -> Option<String> {
        let limit = self.limit.as_ref()?;
        let (number, unit) = limit.split_at(limit.find(|c: char| c.is_ascii_alphabetic())?);
        let is_plain = unit.chars().all(|c| c.is_ascii_alphabetic());
        Some(if is_plain { format!("{} {unit}", number.trim_end()) } else { limit.clone() })
    }

    pub fn ranked(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| matches!(row.place, RowRank::Ranked { .. }))
    }

    /// Returns the strategy with the best figure and its lead over the next best. Returns `None` if fewer than two strategies have a rank.
    pub fn lead(&self) -> Option<Lead<'_>> {
        let is_share = self.ranked_by == RankedBy::Share;
        let compared = self.by_figure();
        let (best, others) = compared.split_first()?;
        if others.is_empty() {
            // No other strategy did every op, so the best one is ahead without a comparison of figures.
            let is_certain = self.has_intervals();
            return (self.ranked().count() > 1).then_some(Lead { best, times: None, is_certain });
        }
        let ahead = |row: &&Row| row.times_best.map(|times| if is_share { times.inverse() } else { times });
        let is_ahead =
            |times: Times| times.interval.is_some_and(|(low, _)| low > 1.0) && !times.is_within_two_percent();
        let in_doubt = others.iter().find(|row| !ahead(row).is_some_and(is_ahead));
        let next = in_doubt.or(others.first());
        Some(Lead { best, times: next.and_then(ahead), is_certain: in_doubt.is_none() })
    }

    /// Returns the rows that can be compared, best figure first. The table may have another order, because it orders tied rows by attempts.
    fn by_figure(&self) -> Vec<&Row> {
        let is_share = self.ranked_by == RankedBy::Share;
        let figure =
            |row: &Row| row.figure.map_or(f64::INFINITY, |value| if is_share { -value } else { value });
        let mut compared: Vec<&Row> = self.compared().collect();
        compared.sort_by(|a, b| figure(a).total_cmp(&figure(b)));
        compared
    }

    fn next_best(&self) -> Option<&Row> {
        let first = self.ranked().next()?;
        self.by_figure().into_iter().find(|row| row.strategy != first.strategy)
    }

    pub fn has_intervals(&self) -> bool {
        self.seeds >= MIN_SEEDS
    }

    fn compared(&self) -> impl Iterator<Item = &Row> {
        self.ranked().filter(|row| self.ranked_by == RankedBy::Share || row.is_comparable)
    }
}

/// Returns the strategy with the lowest score among those that share the first rank. Returns `None` if its score cannot be distinguished
/// from the score of another one of them.
fn thriftiest(tied: &[&RankedStrategy], score: Score, level: Level) -> Option<String> {
    let least = tied.iter().min_by(|a, b| a.score(score).total_cmp(&b.score(score)))?;
    let is_more = |other: &&RankedStrategy| {
        let times = Times::new(other.values(score), least.values(score), level);
        times.and_then(|times| times.interval).is_some_and(|(low, _)| low > 1.0)
    };
    let mut others = tied.iter().filter(|other| other.strategy != least.strategy);
    others.all(is_more).then(|| least.strategy.clone())
}

fn firsts(ranked: &[&RankedStrategy], by: Score) -> Vec<Option<String>> {
    let comparable: Vec<&&RankedStrategy> =
        ranked.iter().filter(|standing| standing.is_comparable()).collect();
    let seeds = comparable.iter().map(|standing| standing.values(by).len()).min().unwrap_or_default();
    let first = |seed: usize| {
        let value = |standing: &RankedStrategy| standing.values(by)[seed];
        let least = comparable.iter().map(|standing| value(standing)).min_by(f64::total_cmp)?;
        let mut those = comparable.iter().filter(|standing| value(standing).total_cmp(&least).is_eq());
        those.next().filter(|_| those.next().is_none()).map(|standing| standing.strategy.clone())
    };
    (0..seeds).map(first).collect()
}
