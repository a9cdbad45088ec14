//! Ranking of strategies, as shown by the terminal, documents and reports.
//!
//! Strategies with a larger share of ops done come first. Strategies that did the same work are ranked by a score, such as the makespan.
//! Makespans of different work cannot be compared. Strategies with equal shares that did different work are therefore ordered by attempts
//! per success. The same rule applies to all strategies below the largest share. A strategy has no rank if one of its runs was cut off,
//! because the run stalled or was interrupted.
//!
//! The order uses the geometric mean over runs, so that it never contradicts the paired ratios. All strategies that cannot be distinguished
//! from the first one form a group with one rank. The strategies of a group are ordered by attempts, if their attempts differ
//! distinguishably. The remaining strategies are grouped in the same way.

pub(crate) mod answer;
pub(crate) mod ranked_strategy;
pub(crate) mod score;
pub(crate) mod unthrottled;

use std::borrow::Borrow;

use statistics::{Level, Method, Summary};
use tailback::{ORACLE, StrategySpec};

use crate::figures::numbers::{at_least, percent, thousands};
use crate::ranking::ranked_strategy::{are_equal, shared_level};
use crate::{Counts, MAKESPAN_OVER_BOUND, RankedStrategy, RunFigures, Score, Work};

/// Ranks strategies from best to worst by the score `by`. Strategies that cannot be ranked follow in the given order. Each strategy is
/// given by its name and the figures of its runs, which are in the order of seeds from `seed`. The figures must include those that
/// [`RunFigures::ranked`] lists for `by`.
pub fn standings(strategies: &[(String, RunFigures)], by: Score, seed: u64) -> Vec<RankedStrategy> {
    ranked(strategies.iter().map(|(name, runs)| unranked(name, runs, by, seed)).collect(), by)
}

/// Ranks strategies again in a new combination, such as all strategies of several points of a sweep. All strategies must have been measured
/// with the same seeds.
pub fn ranked(mut standings: Vec<RankedStrategy>, by: Score) -> Vec<RankedStrategy> {
    let shares = Shares::new(&standings.iter().map(|standing| &standing.counts).collect::<Vec<_>>());
    for (number, standing) in standings.iter_mut().enumerate() {
        place(standing, by, &shares, number);
    }
    let (ranked, rest): (Vec<RankedStrategy>, Vec<RankedStrategy>) =
        standings.into_iter().partition(|standing| {
            standing.counts.cut_off() == 0 && (standing.is_complete() || standing.tier > 0)
        });
    let level = shared_level(&ranked);
    let (same_work, others): (Vec<RankedStrategy>, Vec<RankedStrategy>) =
        ranked.into_iter().partition(RankedStrategy::is_comparable);
    let mut standings: Vec<RankedStrategy> = Vec::new();
    for group in equal_groups(same_work, others, by, level, false) {
        let (rank, is_tied) = (Some(standings.len() as u64 + 1), group.len() > 1);
        standings.extend(group.into_iter().map(|standing| RankedStrategy { rank, is_tied, ..standing }));
    }
    standings.extend(rest);
    let by_share = ranked_by_share(&standings);
    mark_front(&mut standings, by_share);
    standings
}

/// Splits strategies into groups of equals, best group first. Those that did the same work come first, grouped by the score `by` and, within
/// a group, ordered by its companion. The others follow, grouped by their shares of ops done and ordered by attempts per success. Equals in
/// this second figure are ordered like the groups.
///
/// Going down the sorted list, a strategy joins the current group if it is equal to the first strategy of that group. Two strategies are
/// equal if the confidence interval of their ratio contains 1 or lies within 0.98 to 1.02. All strategies of a group have the same rank.
fn equal_groups<S: Borrow<RankedStrategy>>(
    same_work: Vec<S>,
    others: Vec<S>,
    by: Score,
    level: Level,
    only_neighbours: bool,
) -> Vec<Vec<S>> {
    let equal_in = |score: Score| {
        move |one: &RankedStrategy, other: &RankedStrategy| are_equal(level, score, one, other)
    };
    let same_tier = |one: &RankedStrategy, other: &RankedStrategy| {
        one.tier == other.tier && !one.foresees && !other.foresees
    };
    let equal_share = |one: &RankedStrategy, other: &RankedStrategy| {
        same_tier(one, other) || equal_in(Score::done_share())(one, other)
    };
    let in_order = |group: Vec<S>, then: Score, key: &dyn Fn(&RankedStrategy) -> f64| {
        let groups = groups(group, &|standing| standing.score(then), equal_in(then), only_neighbours);
        groups.into_iter().flat_map(|group| sorted(group, key)).collect()
    };
    let by_score = |standing: &RankedStrategy| standing.score(by);
    let by_share = |standing: &RankedStrategy| -standing.share;
    let same_work = groups(same_work, &by_score, equal_in(by), only_neighbours).into_iter();
    let others = groups(others, &by_share, equal_share, only_neighbours).into_iter();
    same_work
        .map(|group| in_order(group, by.companion(), &by_score))
        .chain(others.map(|group| in_order(group, Score::attempts_per_success(), &by_share)))
        .collect()
}

/// Sorts strategies by a key and splits them into groups. A strategy joins the first group whose first strategy it is equal to. With
/// `only_neighbours` it joins only the last group so far, so that groups follow each other in the order of the key.
fn groups<S: Borrow<RankedStrategy>>(
    standings: Vec<S>,
    key: &dyn Fn(&RankedStrategy) -> f64,
    are_equal: impl Fn(&RankedStrategy, &RankedStrategy) -> bool,
    only_neighbours: bool,
) -> Vec<Vec<S>> {
    let mut groups: Vec<Vec<S>> = Vec::new();
    for standing in sorted(standings, key) {
        let from = if only_neighbours { groups.len().saturating_sub(1) } else { 0 };
        let is_equal = |group: &&mut Vec<S>| are_equal(group[0].borrow(), standing.borrow());
        match groups[from..].iter_mut().find(is_equal) {
            Some(group) => group.push(standing),
            None => groups.push(vec![standing]),
        }
    }
    groups
}

fn sorted<S: Borrow<RankedStrategy>>(mut standings: Vec<S>, key: &dyn Fn(&RankedStrategy) -> f64) -> Vec<S> {
    standings.sort_by(|a, b| key(a.borrow()).total_cmp(&key(b.borrow())));
    standings
}

/// Returns true if strategies are ranked first by their shares of ops done, and only then by their scores. This is so if a ranked strategy
/// did not do the same work as the other ranked strategies. It is also so if no ranked strategy did every op, and the share of an unranked
/// strategy is only a lower bound.
pub fn ranked_by_share(standings: &[RankedStrategy]) -> bool {
    let best_left_ops =
        standings.iter().find(|standing| standing.rank.is_some()).is_some_and(|best| best.share < 1.0);
    standings.iter().any(|standing| !standing.is_comparable() && (standing.rank.is_some() || best_left_ops))
}

pub fn best_that_can_be_had(standings: &[RankedStrategy]) -> Option<&RankedStrategy> {
    standings.iter().find(|standing| standing.is_complete() && !standing.foresees)
}

fn unranked(name: &str, runs: &RunFigures, by: Score, seed: u64) -> RankedStrategy {
    let values = |score: Score| runs.of_all(score.path());
    let mut figures = runs.summaries();
    let path = by.path();
    if figures.iter().all(|(name, _)| *name != path) {
        figures.extend(over_runs(values(by), seed).map(|figure| (path, figure)));
    }
    figures.extend(over_runs(runs.over_bound(), seed).map(|figure| (MAKESPAN_OVER_BOUND, figure)));
    RankedStrategy {
        strategy: name.to_owned(),
        incomplete: None,
        rank: None,
        is_tied: false,
        on_front: false,
        figures,
        foresees: knows_the_future(name),
        share: 0.0,
        tier: 0,
        limit: None,
        work: Work::Part,
        scores: Score::ranking(by).map(|score| (score, values(score).to_vec())).to_vec(),
        counts: runs.counts.clone(),
    }
}

fn place(standing: &mut RankedStrategy, by: Score, shares: &Shares, number: usize) {
    let (tier, same_work) = (shares.tiers[number], shares.same_work);
    let ranked_by = &Score::ranking(by)[..3];
    let missing = ranked_by.iter().find(|score| standing.values(**score).is_empty()).filter(|_| same_work);
    standing.incomplete = match missing {
        _ if tier > 0 => Some(shortfall(&standing.counts, shares, number)),
        Some(score) => Some(format!("has no {}", score.name())),
        None => None,
    };
    (standing.rank, standing.is_tied, standing.on_front) = (None, false, false);
    (standing.share, standing.tier) = (shares.of[number], tier);
    standing.limit.clone_from(&shares.limit);
    standing.work = match standing.all_done() {
        _ if same_work && tier == 0 => Work::Same,
        true => Work::All,
        false => Work::Part,
    };
}

fn over_runs(values: &[f64], seed: u64) -> Option<Summary> {
    Summary::new(values, Level::P95, Method::BySize { seed })
}

fn shortfall(counts: &Counts, shares: &Shares, number: usize) -> String {
    let Counts { runs, stalled, interrupted, short, given_up, unfinished: left, .. } = *counts;
    let least = |share: f64| at_least(share, counts.is_lower_bound);
    let in_time = shares.limit.as_ref().map(|limit| format!("{} within {limit}", least(shares.of[number])));
    let in_some = |some: usize| format!("in {} of {} runs", thousands(some as u64), thousands(runs as u64));
    let in_short = if short < runs { format!(" {}", in_some(short)) } else { String::new() };
    let comma = if in_short.is_empty() { "" } else { "," };
    let how = match () {
        () if stalled == runs => "stalled in every run".to_owned(),
        () if stalled > 0 => format!("stalled {}", in_some(stalled)),
        () if interrupted == runs => "was interrupted".to_owned(),
        () if interrupted > 0 => format!("was interrupted {}", in_some(interrupted)),
        () if given_up == 0 && left == 0 => {
            let late = in_time.unwrap_or_else(|| percent(shares.of[number]));
            return format!("was late: all of its ops succeeded, {late}");
        }
        () if left == 0 => format!("gave ops up{in_short}"),
        () if given_up == 0 => {
            format!("left ops unfinished when the time of `--drain` was over{comma}{in_short}")
        }
        () => {
            format!(
                "gave ops up, and left others unfinished when the time of `--drain` was over{comma}{in_short}"
            )
        }
    };
    let in_time = in_time.map_or_else(String::new, |share| format!(", {share}"));
    let those = if counts.of_arrived { "ops that arrived" } else { "ops" };
    format!("{how}: {} of its {those} succeeded{in_time}", least(counts.at_all()))
}

/// Returns true for a strategy that knows the future (an oracle). Oracles serve as references for other strategies and are never the best
/// strategy of an answer.
pub fn knows_the_future(strategy: &str) -> bool {
    strategy.parse::<StrategySpec>().map_or_else(
        // A strategy in a document of another version may not parse. In that case, the names of its parts show whether it is an oracle,
        // which knows the server's future.
        |_| strategy.split('+').any(|part| part.split(':').next().is_some_and(|name| name.trim() == ORACLE)),
        |spec| spec.needs_foreknowledge(),
    )
}

/// Marks the strategies that are on the Pareto front. The two figures are makespan and attempts, which can be compared only if all
/// strategies did the same work. If strategies did different work (`by_share`), the figures are the share of ops done and the attempts per
/// success.
///
/// Strategies that know the future are excluded: they neither appear on the front nor dominate other strategies.
fn mark_front(standings: &mut [RankedStrategy], by_share: bool) {
    let costs = if by_share { share_and_effort } else { time_and_attempts };
    let costs: Vec<Option<(f64, f64)>> =
        standings.iter().map(|standing| costs(standing).filter(|_| !standing.foresees)).collect();
    for (standing, own) in standings.iter_mut().zip(&costs) {
        let Some((first, second)) = own else { continue };
        let beaten = costs.iter().flatten().any(|(other_first, other_second)| {
            let no_worse = other_first <= first && other_second <= second;
            no_worse && (other_first < first || other_second < second)
        });
        standing.on_front = !beaten;
    }
}

fn time_and_attempts(standing: &RankedStrategy) -> Option<(f64, f64)> {
    let mean = |score: Score| standing.figure(score.path()).map(|figure| figure.mean);
    Some((mean(Score::makespan())?, mean(Score::attempts())?)).filter(|_| standing.is_complete())
}

/// Returns the negated share of ops done and the attempts per success. The share is negated, so that lower is better in both values.
/// Returns `None` for strategies without a rank.
fn share_and_effort(standing: &RankedStrategy) -> Option<(f64, f64)> {
    standing.rank?;
    Some((-standing.share, standing.figure_of_all(Score::attempts_per_success())?.mean))
}

/// Maximum difference between two shares of ops done that count as equal. A share of 1 never counts as equal to a smaller share.
const EQUAL_SHARES: f64 = 0.001;

struct Shares {
    of: Vec<f64>,
    tiers: Vec<usize>,
    /// True if the strategies with the largest share of ops done did the same work, so that their makespans can be compared.
    same_work: bool,
    limit: Option<String>,
}

impl Shares {
    /// Compares the shares of strategies, from counts summed over the runs of each strategy. A strategy with a run that was cut off comes
    /// after all others.
    fn new(strategies: &[&Counts]) -> Self {
        let counts = || strategies.iter().copied();
        let at_all: Vec<f64> = counts().map(Counts::at_all).collect();
        let cut_off: Vec<bool> = counts().map(|counts| counts.cut_off() > 0).collect();
        let asked = counts().any(|counts| counts.within);
        // A deadline ends late ops, so they are usually not done. If all strategies did all ops nevertheless, the shares ignore lateness,
        // because the latency shows it.
        let in_time = asked || at_all.iter().any(|share| *share < 1.0);
        let limit = counts().find_map(|counts| counts.limit.clone()).filter(|_| in_time);
        let of: Vec<f64> = match limit {
            None => at_all.clone(),
            Some(_) => counts().map(Counts::in_time).collect(),
        };
        let tiers = tiers_of(&of, &cut_off);
        let top_did_all = at_all.iter().zip(&tiers).all(|(share, tier)| *tier > 0 || *share >= 1.0);
        let all_alike = || {
            let of_all = tiers_of(&at_all, &cut_off);
            let those = cut_off.iter().zip(tiers.iter().zip(&of_all)).filter(|(cut_off, _)| !**cut_off);
            those.map(|(_, tiers)| tiers).all(|tiers| tiers == (&0, &0))
        };
        let same_work = top_did_all || all_alike();
        Self { of, tiers, same_work, limit }
    }
}

/// Returns a tier for each strategy's share of ops done: the number of different larger shares. A share of 1 is equal to no smaller share,
/// so even one given-up op in a million makes a difference. A strategy with a run that was cut off gets the last tier, which is at least 1.
fn tiers_of(shares: &[f64], cut_off: &[bool]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..shares.len()).filter(|number| !cut_off[*number]).collect();
    order.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
    let mut tiers = vec![0; shares.len()];
    let (mut tier, mut least) = (0, None);
    for number in order {
        let share = shares[number];
        if least.is_some_and(|least| share < least) {
            tier += 1;
            least = None;
        }
        least.get_or_insert(if share >= 1.0 { 1.0 } else { share - EQUAL_SHARES });
        tiers[number] = tier;
    }
    for number in (0..shares.len()).filter(|number| cut_off[*number]) {
        tiers[number] = tier + 1;
    }
    tiers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::run::RunResult;
    use crate::figures::run_figures::RunFigures;
    use crate::testing::run;

    fn kept(strategies: &[(&str, Vec<RunResult>)], by: Score) -> Vec<(String, RunFigures)> {
        let kept = |runs: &[RunResult]| RunFigures::new(RunFigures::ranked(by), runs);
        strategies.iter().map(|(name, runs)| ((*name).to_owned(), kept(runs))).collect()
    }

    fn names(strategies: &[(&str, Vec<RunResult>)], by: &str) -> Vec<(String, bool)> {
        let by = by.parse().unwrap();
        let standings = standings(&kept(strategies, by), by, 1);
        standings.iter().map(|standing| (standing.strategy.clone(), standing.is_complete())).collect()
    }

    #[test]
    fn the_least_comes_first_among_those_with_the_same_share_of_ops() {
        let strategies = [
            ("none", vec![run("none", 1, 5, 10, 0.5)]),
            ("slow", vec![run("slow", 1, 10, 11, 9.0)]),
            ("fast", vec![run("fast", 1, 10, 30, 2.0)]),
        ];
        let told = |expected: [(&str, bool); 3]| expected.map(|(name, complete)| (name.to_owned(), complete));
        assert_eq!(names(&strategies, "makespan"), told([("fast", true), ("slow", true), ("none", false)]));
        assert_eq!(names(&strategies, "attempts"), told([("slow", true), ("fast", true), ("none", false)]));
    }

    #[test]
    fn if_none_does_all_ops_the_largest_share_counts_as_complete() {
        let strategies =
            [("few", vec![run("few", 1, 5, 10, 1.0)]), ("many", vec![run("many", 1, 9, 20, 3.0)])];
        assert_eq!(names(&strategies, "attempts"), [("many".to_owned(), true), ("few".to_owned(), false)]);
        let alone = standings(&kept(&strategies[..1], Score::makespan()), Score::makespan(), 1);
        assert!(alone[0].is_comparable() && !alone[0].all_done());
    }

    #[test]
    fn permuted_equal_values_tie_and_keep_their_order() {
        let runs = |name: &str, attempts: [u64; 3]| {
            (1..).zip(attempts).map(|(seed, attempts)| run(name, seed, 10, attempts, 1.0)).collect::<Vec<_>>()
        };
        let strategies = [("b", runs("b", [11, 13, 17])), ("a", runs("a", [17, 11, 13]))];
        assert_eq!(names(&strategies, "attempts"), [("b".to_owned(), true), ("a".to_owned(), true)]);
    }

    fn six(name: &str, (makespan, swing): (f64, f64), attempts: u64) -> Vec<RunResult> {
        let swings = [-1.0, 1.0, -0.5, 0.5, 1.0, -1.0];
        (1..)
            .zip(swings)
            .map(|(seed, way)| run(name, seed, 10, attempts + seed % 2, makespan * (1.0 + way * swing)))
            .collect()
    }

    fn ranks(strategies: &[(&str, Vec<RunResult>)], by: &str) -> Vec<(String, Option<u64>, bool)> {
        let by = by.parse().unwrap();
        let standings = standings(&kept(strategies, by), by, 1);
        standings.iter().map(|one| (one.strategy.clone(), one.rank, one.is_tied)).collect()
    }

    /// All strategies that tie with the first one form one group.
    #[test]
    fn strategies_tied_with_the_first_are_sorted_by_attempts() {
        let strategies = [
            ("wide", six("wide", (26.0, 0.4), 900)),
            ("near", six("near", (20.1, 0.0), 500)),
            ("first", six("first", (20.0, 0.0), 600)),
            ("apart", six("apart", (21.0, 0.0), 100)),
            ("last", six("last", (40.0, 0.0), 100)),
            ("same", six("same", (20.2, 0.0), 500)),
        ];
        let rank = |name: &str, rank, is_tied| (name.to_owned(), Some(rank), is_tied);
        let expected = [
            // With equal attempts, the shorter makespan comes first.
            rank("near", 1, true),
            rank("same", 1, true),
            rank("first", 1, true),
            rank("wide", 1, true),
            rank("apart", 5, false),
            rank("last", 6, false),
        ];
        assert_eq!(ranks(&strategies, "makespan"), expected);
        // Both need the same attempts, so the makespan decides.
        let by_attempts = ranks(&strategies[3..5], "attempts");
        assert_eq!(by_attempts, [rank("apart", 1, true), rank("last", 1, true)]);
    }

    /// No strategy ties with the oracle.
    #[test]
    fn with_too_few_runs_only_equal_means_tie() {
        let few = |name: &str, makespan, attempts| six(name, (makespan, 0.0), attempts)[..4].to_vec();
        let strategies = [
            ("a", few("a", 20.0, 30)),
            ("b", few("b", 20.000_001, 20)),
            ("c", few("c", 30.0, 30)),
            ("d", few("d", 30.0, 20)),
        ];
        let rank = |name: &str, rank, is_tied| (name.to_owned(), Some(rank), is_tied);
        let expected = [rank("a", 1, false), rank("b", 2, false), rank("d", 3, true), rank("c", 3, true)];
        assert_eq!(ranks(&strategies, "makespan"), expected);
        let oracle = [
            ("oracle", six("oracle", (20.0, 0.0), 10)),
            ("aimd", six("aimd", (20.0, 0.0), 10)),
            ("cubic", six("cubic", (20.0, 0.0), 12)),
        ];
        let expected = [rank("oracle", 1, false), rank("aimd", 2, true), rank("cubic", 2, true)];
        assert_eq!(ranks(&oracle, "makespan"), expected);
    }

    #[test]
    fn a_stopped_runs_share_of_offered_ops_is_a_lower_bound() {
        let mut stalled = run("stalled", 1, 6, 60, 5.0);
        stalled.ops.offered = Some(13);
        stalled.stalled_at_s = Some(60.0);
        stalled.share_is_lower_bound = true;
        let strategies = [("stalled", vec![stalled]), ("gives-up", vec![run("gives-up", 1, 5, 10, 2.0)])];
        let ranked = standings(&kept(&strategies, Score::makespan()), Score::makespan(), 1);
        let told: Vec<_> = ranked.iter().map(|one| (one.share_text(), one.rank)).collect();
        assert_eq!(told, [("50.0 %".to_owned(), Some(1)), ("≥ 46.2 %".to_owned(), None)], "6 of 13");
        let because = "stalled in every run: ≥ 46.2 % of its ops succeeded";
        assert_eq!(ranked[1].incomplete.as_deref(), Some(because));
        assert!(ranked[0].is_comparable(), "what was cut off takes no first place from it");
    }

    /// Strategies with the same share of ops done are ordered by attempts per success, and their makespans are ignored.
    #[test]
    fn incomplete_strategies_rank_by_share_then_by_attempts() {
        let strategies = [
            ("few", vec![run("few", 1, 2, 4, 0.1)]),
            ("wasteful", vec![run("wasteful", 1, 5, 50, 0.2)]),
            ("nothing", vec![run("nothing", 1, 0, 10, 0.1)]),
            ("thrifty", vec![run("thrifty", 1, 5, 10, 9.0)]),
            ("all", vec![run("all", 1, 10, 30, 9.9)]),
        ];
        let given = kept(&strategies, Score::makespan());
        let ranked = standings(&given, Score::makespan(), 1);
        let stand: Vec<_> =
            ranked.iter().map(|one| (one.strategy.as_str(), one.rank, one.tier, one.on_front)).collect();
        assert_eq!(
            stand,
            [
                ("all", Some(1), 0, true),
                ("thrifty", Some(2), 1, true),
                ("wasteful", Some(2), 1, false),
                ("few", Some(4), 2, false),
                ("nothing", Some(5), 3, false),
            ]
        );
        assert!(ranked_by_share(&ranked) && ranked[0].is_comparable() && !ranked[1].is_comparable());
        assert_eq!(ranked[4].figure_of_all(Score::attempts_per_success()).map(|figure| figure.mean), None);
    }

    #[test]
    fn a_stalled_run_has_no_rank_among_those_that_gave_up() {
        let mut stalled = run("stalled", 1, 9, 1000, 5.0);
        stalled.stalled_at_s = Some(60.0);
        let strategies = [
            ("stalled", vec![stalled]),
            ("none", vec![run("none", 1, 1, 10, 0.5)]),
            ("all", vec![run("all", 1, 10, 11, 2.0)]),
        ];
        let given = kept(&strategies, Score::makespan());
        let ranked = standings(&given, Score::makespan(), 1);
        let stand: Vec<_> = ranked.iter().map(|one| (one.strategy.as_str(), one.rank)).collect();
        assert_eq!(stand, [("all", Some(1)), ("none", Some(2)), ("stalled", None)]);
        assert!(!ranked_by_share(&standings(&[given[0].clone(), given[2].clone()], Score::makespan(), 1)));
    }

    #[test]
    fn oracles_are_no_answer_and_dominate_no_strategy() {
        let strategies = [
            ("fixed-window+oracle", vec![run("fixed-window+oracle", 1, 10, 10, 1.0)]),
            ("aimd", vec![run("aimd", 1, 10, 12, 2.0)]),
        ];
        let standings = standings(&kept(&strategies, Score::makespan()), Score::makespan(), 1);
        assert!(standings[0].foresees && !standings[0].on_front && standings[1].on_front);
        assert_eq!(best_that_can_be_had(&standings).unwrap().strategy, "aimd");
    }

    #[test]
    fn an_oracle_is_known_in_any_part_and_from_other_versions() {
        for strategy in
            ["oracle", "fixed-window:window=60+oracle", "oracle+full-jitter", "novel:x=1+oracle:y=2"]
        {
            assert!(knows_the_future(strategy), "{strategy}");
        }
        for strategy in ["aimd", "fixed-window:window=60", "novel:x=oracle", ""] {
            assert!(!knows_the_future(strategy), "{strategy}");
        }
    }

    #[test]
    fn shares_that_hardly_differ_are_the_same_unless_one_is_all() {
        let tiers = |shares: &[f64]| tiers_of(shares, &vec![false; shares.len()]);
        assert_eq!(tiers(&[0.5, 0.9, 0.9005, 0.4995, 0.4989]), [1, 0, 0, 1, 2]);
        assert_eq!(tiers(&[0.999_999, 1.0, 1.0]), [1, 0, 0]);
        assert_eq!(tiers(&[0.0, 0.0]), [0, 0]);
        assert!(tiers(&[]).is_empty());
    }

    #[test]
    fn stopped_strategies_come_last_whatever_their_share() {
        assert_eq!(tiers_of(&[0.9, 0.5, 0.4], &[true, false, false]), [2, 0, 1]);
        assert_eq!(tiers_of(&[0.9, 0.5], &[true, true]), [1, 1]);
    }

    /// Returns the shares of two strategies. `done` counts the completed ops of ten, `in_time` is the share within ten seconds or the
    /// deadline.
    fn shares(done: [u64; 2], in_time: [f64; 2], within: bool) -> Shares {
        let runs: Vec<RunResult> = done
            .into_iter()
            .zip(in_time)
            .map(|(done, share)| {
                let mut run = run("any", 1, done, 20, 1.0);
                let limit = Some("10s".to_owned());
                *(if within { &mut run.config.within } else { &mut run.config.deadline }) = limit;
                run.done_share = Some(share);
                run
            })
            .collect();
        let kept: Vec<RunFigures> = runs.iter().map(|run| RunFigures::new([], [run])).collect();
        Shares::new(&kept.iter().map(|kept| &kept.counts).collect::<Vec<_>>())
    }

    #[test]
    fn late_ops_count_only_if_requested_or_with_undone_ops() {
        let late = shares([10, 10], [0.7, 0.8], false);
        assert_eq!((late.tiers, late.limit, late.same_work), (vec![0, 0], None, true));
        let asked = shares([10, 10], [0.7, 0.8], true);
        assert_eq!((asked.tiers, asked.limit.as_deref(), asked.same_work), (vec![1, 0], Some("10s"), true));
        let undone = shares([10, 9], [0.7, 0.8], false);
        assert_eq!((undone.tiers, undone.of, undone.same_work), (vec![1, 0], vec![0.7, 0.8], false));
    }

    #[test]
    fn the_same_share_in_time_is_not_the_same_work() {
        assert!(!shares([10, 9], [0.8, 0.8], true).same_work);
        assert!(shares([9, 9], [0.8, 0.8], true).same_work);
        assert!(shares([10, 10], [0.8, 0.8], true).same_work);
    }
}
