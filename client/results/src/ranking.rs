//! The order of strategies. Terminal, documents and pages have their ranking from here.
//!
//! Whoever got a larger share of its ops done comes first. Those who did the same work are ranked by a score, as the makespan; among
//! those who share only the share, and below the first, whoever needs fewer attempts per success comes first: no makespans of unequal
//! work are compared. Equals stay in the order in which they are given.
//!
//! Ranks are by the geometric mean over runs, so that they never contradict the paired ratios.

use statistics::{Level, Method, Summary};

use crate::figures::MAKESPAN_OVER_BOUND;
use crate::foresight::knows_the_future;
use crate::front;
use crate::numbers::{percent, thousands};
use crate::run_figures::{Counts, RunFigures};
use crate::score::Score;
use crate::shares::Shares;
use crate::standing::{Standing, Work};

/// All strategies from the best to the worst, then those that cannot be ranked in the order in which they are given: each by its
/// name, with the figures of a ranking by this score ([`RunFigures::ranked`]) of its runs in the order of seeds. `seed` is the first one's.
pub fn standings(strategies: &[(String, RunFigures)], by: Score, seed: u64) -> Vec<Standing> {
    let shares = Shares::of(strategies);
    let mut standings: Vec<(Standing, bool)> = strategies
        .iter()
        .enumerate()
        .map(|(number, (name, runs))| {
            let standing = standing(name, runs, by, seed, (&shares, number));
            // The harness ended it, and what it would have done nobody knows.
            let stalled = standing.tier > 0 && runs.counts.stalled > 0;
            let ranked = standing.is_complete() || standing.tier > 0 && !stalled;
            (standing, ranked)
        })
        .collect();
    let effort = Score::attempts_per_success();
    let key = |(standing, ranked): &(Standing, bool)| match (standing, ranked) {
        (_, false) => (usize::MAX, f64::INFINITY),
        (first, true) if first.is_comparable() => (first.tier, first.score(by)),
        (other, true) => (other.tier, other.score(effort)),
    };
    standings.sort_by(|a, b| {
        let (a, b) = (key(a), key(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let mut standings: Vec<Standing> = standings
        .into_iter()
        .zip(1..)
        .map(|((standing, ranked), rank)| Standing { rank: ranked.then_some(rank), ..standing })
        .collect();
    let by_share = ranked_by_share(&standings);
    front::mark(&mut standings, by_share);
    standings
}

/// Whether some that are ranked did not do the same work as the others, so that the share done comes before all else.
pub fn ranked_by_share(standings: &[Standing]) -> bool {
    standings.iter().any(|standing| standing.rank.is_some() && !standing.is_comparable())
}

/// The best complete strategy that does not know the future.
pub fn best_that_can_be_had(standings: &[Standing]) -> Option<&Standing> {
    standings.iter().find(|standing| standing.is_complete() && !standing.foresees)
}

fn standing(
    name: &str,
    runs: &RunFigures,
    by: Score,
    seed: u64,
    (shares, number): (&Shares, usize),
) -> Standing {
    let values = |score: Score| runs.of_all(score.path());
    let mut figures = runs.summaries();
    let path = by.path();
    if figures.iter().all(|(name, _)| *name != path) {
        figures.extend(over_runs(values(by), seed).map(|figure| (path, figure)));
    }
    figures.extend(over_runs(runs.over_bound(), seed).map(|figure| (MAKESPAN_OVER_BOUND, figure)));
    let (tier, same_work) = (shares.tier(number), shares.same_work);
    let scores = Score::ranking(by);
    let ranked_by = &scores[..3];
    let missing = ranked_by.iter().find(|score| values(**score).is_empty()).filter(|_| same_work);
    let incomplete = match missing {
        _ if tier > 0 => Some(shortfall(runs, shares, number)),
        Some(score) => Some(format!("has no {}", score.name())),
        None => None,
    };
    Standing {
        strategy: name.to_owned(),
        incomplete,
        rank: None,
        on_front: false,
        figures,
        foresees: knows_the_future(name),
        share: shares.share(number),
        tier,
        limit: shares.limit().map(ToOwned::to_owned),
        work: match runs.counts.at_all() {
            _ if same_work && tier == 0 => Work::Same,
            all if all >= 1.0 => Work::All,
            _ => Work::Part,
        },
        all_done: runs.counts.at_all() >= 1.0,
        scores: scores.map(|score| (score, values(score).to_vec())).to_vec(),
    }
}

fn over_runs(values: &[f64], seed: u64) -> Option<Summary> {
    Summary::of(values, Level::P95, Method::BySize { seed })
}

/// What a strategy left undone, or did too late.
fn shortfall(runs: &RunFigures, shares: &Shares, number: usize) -> String {
    let in_time = shares.limit().map(|limit| format!("{} within {limit}", percent(shares.share(number))));
    let Counts { stalled, short, given_up, unfinished: cut_off, .. } = runs.counts;
    let all_runs = runs.runs();
    let how = match stalled {
        0 if given_up == 0 && cut_off == 0 => {
            let late = in_time.unwrap_or_else(|| percent(shares.share(number)));
            return format!("was late: all of its ops succeeded, {late}");
        }
        0 if cut_off == 0 => "gave ops up".to_owned(),
        0 if given_up == 0 => "left ops unfinished when the time of `--drain` was over,".to_owned(),
        0 => "gave ops up, and left others unfinished when the time of `--drain` was over,".to_owned(),
        all if all == all_runs => "stalled in every run".to_owned(),
        some => format!("stalled in {} of {} runs", thousands(some as u64), thousands(all_runs as u64)),
    };
    let in_runs = if stalled == 0 && short < all_runs {
        format!(" in {} of {} runs", thousands(short as u64), thousands(all_runs as u64))
    } else {
        String::new()
    };
    let words = format!("{how}{in_runs}");
    let in_time = in_time.map_or_else(String::new, |share| format!(", {share}"));
    format!(
        "{}: {} of its ops succeeded{in_time}",
        words.trim_end_matches(','),
        percent(runs.counts.at_all())
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunResult;
    use crate::testing::run;

    fn kept(strategies: &[(&str, Vec<RunResult>)], by: Score) -> Vec<(String, RunFigures)> {
        let kept = |runs: &[RunResult]| RunFigures::of(RunFigures::ranked(by), runs);
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
    fn where_nobody_does_all_those_who_do_the_most_are_ranked() {
        let strategies =
            [("few", vec![run("few", 1, 5, 10, 1.0)]), ("many", vec![run("many", 1, 9, 20, 3.0)])];
        assert_eq!(names(&strategies, "attempts"), [("many".to_owned(), true), ("few".to_owned(), false)]);
        let alone = standings(&kept(&strategies[..1], Score::makespan()), Score::makespan(), 1);
        assert!(alone[0].is_comparable() && !alone[0].all_done);
    }

    #[test]
    fn equal_values_in_another_order_are_a_tie_and_keep_their_places() {
        let runs = |name: &str, attempts: [u64; 3]| {
            (1..).zip(attempts).map(|(seed, attempts)| run(name, seed, 10, attempts, 1.0)).collect::<Vec<_>>()
        };
        let strategies = [("b", runs("b", [11, 13, 17])), ("a", runs("a", [17, 11, 13]))];
        assert_eq!(names(&strategies, "attempts"), [("b".to_owned(), true), ("a".to_owned(), true)]);
    }

    #[test]
    fn who_leaves_ops_undone_is_ranked_by_its_share_then_by_attempts_per_success_and_makespans_do_not_count()
    {
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
                ("wasteful", Some(3), 1, false),
                ("few", Some(4), 2, false),
                ("nothing", Some(5), 3, false),
            ]
        );
        assert!(ranked_by_share(&ranked) && ranked[0].is_comparable() && !ranked[1].is_comparable());
        assert_eq!(ranked[4].figure_of_all(Score::attempts_per_success()).map(|figure| figure.mean), None);
    }

    #[test]
    fn a_run_that_the_harness_ended_has_no_rank_among_those_that_gave_up() {
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
    fn who_knows_the_future_is_no_answer_and_puts_nobody_off_the_front() {
        let strategies = [
            ("fixed-window+oracle", vec![run("fixed-window+oracle", 1, 10, 10, 1.0)]),
            ("aimd", vec![run("aimd", 1, 10, 12, 2.0)]),
        ];
        let standings = standings(&kept(&strategies, Score::makespan()), Score::makespan(), 1);
        assert!(standings[0].foresees && !standings[0].on_front && standings[1].on_front);
        assert_eq!(best_that_can_be_had(&standings).unwrap().strategy, "aimd");
    }
}
