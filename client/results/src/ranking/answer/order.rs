//! Order and ranks of the strategies that can be ranked.
//!
//! Strategies are sorted by the ranked figure and then split into groups of equals. Going down the list, a strategy joins the current group
//! if it is equal to the first strategy of that group. Two strategies are equal if the confidence interval of their ratio contains 1 or
//! lies within 0.98 to 1.02. All strategies of a group have the same rank. Within a group, strategies are sorted by a second figure, if it
//! differs distinguishably. The second figure is the number of attempts. If attempts are ranked, it is the makespan. If shares are ranked,
//! it is the attempts per success.

use std::cmp::Ordering;

use statistics::Level;

use super::row::{Placed, RowRank, Times};
use crate::ranking::ranked_strategy::RankedStrategy;
use crate::ranking::score::Score;

/// Returns the ranked strategies except oracles, best first. Strategies that did the same work come first, ordered by `figure`. If they
/// cannot be distinguished in `figure`, they are ordered by `companion`. The strategies that did different work follow, ordered by their
/// share of ops done.
pub(super) fn ranked(
    standings: &[RankedStrategy],
    figure: Score,
    companion: Score,
    level: Level,
) -> Vec<Placed<'_>> {
    let ranked = standings.iter().filter(|standing| standing.rank.is_some() && !standing.foresees);
    let is_share = figure == Score::done_share();
    let (by_figure, by_share): (Vec<&RankedStrategy>, Vec<&RankedStrategy>) =
        ranked.partition(|standing| !is_share && standing.is_comparable());
    let value = |standing: &RankedStrategy| standing.score(figure);
    let is_equal = |one: &RankedStrategy, other: &RankedStrategy| are_equal(figure, one, other, level);
    let share = |standing: &RankedStrategy| -standing.share;
    let is_equal_share = |one: &RankedStrategy, other: &RankedStrategy| {
        one.tier == other.tier || are_equal(Score::done_share(), one, other, level)
    };
    let first =
        groups(by_figure, value, is_equal).into_iter().map(|group| in_order(group, companion, value, level));
    let rest = groups(by_share, share, is_equal_share).into_iter();
    let rest = rest.map(|group| in_order(group, Score::attempts_per_success(), share, level));
    let mut placed: Vec<Placed<'_>> = Vec::new();
    for group in first.chain(rest) {
        let place = RowRank::Ranked { rank: placed.len() as u64 + 1, is_tied: group.len() > 1 };
        placed.extend(group.into_iter().map(|standing| (standing, place)));
    }
    placed
}

/// Sorts strategies that have the same rank by the score `by`. Strategies that cannot be distinguished in this score are sorted by `key`.
fn in_order(
    equals: Vec<&RankedStrategy>,
    by: Score,
    key: impl Fn(&RankedStrategy) -> f64,
    level: Level,
) -> Vec<&RankedStrategy> {
    let groups = groups(equals, |one| one.score(by), |one, other| are_equal(by, one, other, level));
    let sorted = groups.into_iter().map(|mut group| {
        group.sort_by(|a, b| key(a).total_cmp(&key(b)));
        group
    });
    sorted.flatten().collect()
}

/// Sorts strategies by a key and splits the sorted list into groups of equal strategies. A strategy belongs to a group if it is equal to
/// the group's first strategy.
fn groups(
    mut standings: Vec<&RankedStrategy>,
    key: impl Fn(&RankedStrategy) -> f64,
    is_equal: impl Fn(&RankedStrategy, &RankedStrategy) -> bool,
) -> Vec<Vec<&RankedStrategy>> {
    standings.sort_by(|a, b| key(a).total_cmp(&key(b)));
    let mut groups: Vec<Vec<&RankedStrategy>> = Vec::new();
    for standing in standings {
        match groups.last_mut() {
            Some(group) if is_equal(group[0], standing) => group.push(standing),
            _ => groups.push(vec![standing]),
        }
    }
    groups
}

fn are_equal(score: Score, one: &RankedStrategy, other: &RankedStrategy, level: Level) -> bool {
    match Times::new(one.values(score), other.values(score), level) {
        Some(times) if times.interval.is_some() => times.may_be_one() || times.is_within_two_percent(),
        _ => one.score(score).total_cmp(&other.score(score)) == Ordering::Equal,
    }
}
