//! Where strategies stand: who is complete, in which order, and who is on the Pareto front. Terminal, documents and pages have their
//! ranking from here.
//!
//! Ranks are by the geometric mean over runs, so that they never contradict the paired ratios.

use statistics::{Level, Method, Summary};

use crate::comparison::StandingRecord;
use crate::figures::MAKESPAN_OVER_BOUND;
use crate::foresight::knows_the_future;
use crate::numbers::{percent, thousands};
use crate::over_runs::{figures_over_runs, summed};
use crate::run::RunResult;
use crate::score::Score;

/// Shares of succeeded ops that differ by no more count as the same, when no strategy completes every op.
const SAME_SHARE: f64 = 0.001;

/// One strategy among those compared.
#[derive(Clone, Debug)]
pub struct Standing {
    /// As typed.
    pub strategy: String,
    /// Why it cannot be ranked, if it cannot.
    pub incomplete: Option<String>,
    /// Whether no other has both less makespan and fewer attempts.
    pub on_front: bool,
    /// Figures over runs, by path.
    pub figures: Vec<(&'static str, Summary)>,
    /// Whether it knows the future, as no client can.
    pub foresees: bool,
    /// Succeeded ops among all, 0 to 1.
    pub share: f64,
    scores: Vec<(Score, Vec<f64>)>,
}

impl Standing {
    /// A score of every run; empty when it is missing in one.
    pub fn values(&self, score: Score) -> &[f64] {
        self.scores.iter().find(|(there, _)| *there == score).map_or(&[], |(_, values)| values)
    }

    /// The geometric mean of a score over runs, which ranks are by; infinite when it is missing in one.
    pub fn score(&self, by: Score) -> f64 {
        geometric_mean(self.values(by))
    }

    /// A figure over runs.
    pub fn figure(&self, path: &str) -> Option<&Summary> {
        self.figures.iter().find(|(name, _)| *name == path).map(|(_, figure)| figure)
    }

    /// Whether it got as many ops done as the best.
    pub fn is_complete(&self) -> bool {
        self.incomplete.is_none()
    }

    /// As it is written, at this rank.
    pub fn record(&self, rank: u64) -> StandingRecord {
        StandingRecord {
            strategy: self.strategy.clone(),
            rank: self.is_complete().then_some(rank),
            complete: self.is_complete(),
            incomplete_because: self.incomplete.clone(),
            on_pareto_front: self.on_front,
            figures: figures_over_runs(&self.figures),
        }
    }
}

/// Complete strategies from the best to the worst, then the others in the order in which they are given: each by its name, with its
/// runs in the order of seeds. `seed` is the first one's.
pub fn standings(strategies: &[(String, Vec<&RunResult>)], by: Score, seed: u64) -> Vec<Standing> {
    let shares: Vec<f64> = strategies.iter().map(|(_, runs)| share(runs)).collect();
    let best = shares.iter().copied().fold(0.0, f64::max);
    // Where everything can be done, one op in a million given up is not the same.
    let least = if best >= 1.0 { 1.0 } else { best - SAME_SHARE };
    let mut standings: Vec<Standing> = strategies
        .iter()
        .zip(shares)
        .map(|((name, runs), share)| standing(name, runs, by, seed, (share, least)))
        .collect();
    standings.sort_by(|a, b| {
        let key = |standing: &Standing| {
            if standing.is_complete() { standing.score(by) } else { f64::INFINITY }
        };
        key(a).total_cmp(&key(b))
    });
    mark_front(&mut standings);
    standings
}

/// The best complete strategy that does not know the future.
pub fn best_that_can_be_had(standings: &[Standing]) -> Option<&Standing> {
    standings.iter().find(|standing| standing.is_complete() && !standing.foresees)
}

fn standing(name: &str, runs: &[&RunResult], by: Score, seed: u64, (share, least): (f64, f64)) -> Standing {
    let values =
        |score: Score| runs.iter().map(|run| score.of(run)).collect::<Option<Vec<f64>>>().unwrap_or_default();
    let mut figures = summed(runs.iter().copied());
    let path = by.path();
    if figures.iter().all(|(name, _)| *name != path) {
        figures.extend(over_runs(&values(by), seed).map(|figure| (path, figure)));
    }
    let over: Option<Vec<f64>> = runs
        .iter()
        .map(|run| {
            let bound = run.optimal_makespan_s.filter(|bound| *bound > 0.0)?;
            Some(run.makespan_s.filter(|_| run.makespan_complete)? / bound)
        })
        .collect();
    figures.extend(over_runs(&over.unwrap_or_default(), seed).map(|figure| (MAKESPAN_OVER_BOUND, figure)));
    let scores: Vec<(Score, Vec<f64>)> =
        [by, by.companion(), Score::makespan()].into_iter().map(|score| (score, values(score))).collect();
    let missing = scores.iter().find(|(_, values)| values.is_empty());
    let incomplete = match missing {
        _ if share < least => Some(shortfall(runs)),
        Some((score, _)) => Some(format!("has no {}", score.name())),
        None => None,
    };
    Standing {
        strategy: name.to_owned(),
        incomplete,
        on_front: false,
        figures,
        foresees: knows_the_future(name),
        share,
        scores,
    }
}

fn over_runs(values: &[f64], seed: u64) -> Option<Summary> {
    Summary::of(values, Level::P95, Method::BySize { seed })
}

/// Succeeded ops among all, 0 to 1.
fn share(runs: &[&RunResult]) -> f64 {
    let sum = |of: fn(&RunResult) -> u64| runs.iter().map(|run| of(run)).sum::<u64>();
    let total = sum(|run| run.ops.total);
    if total == 0 { 0.0 } else { sum(|run| run.ops.succeeded) as f64 / total as f64 }
}

/// What a strategy left undone.
fn shortfall(runs: &[&RunResult]) -> String {
    let stalled = runs.iter().filter(|run| run.stalled_at_s.is_some()).count();
    let short = runs.iter().filter(|run| !run.makespan_complete).count();
    let sum = |of: fn(&RunResult) -> u64| runs.iter().map(|run| of(run)).sum::<u64>();
    let (given_up, cut_off) = (sum(|run| run.ops.given_up), sum(|run| run.ops.unfinished));
    let how = match stalled {
        0 if cut_off == 0 => "gave ops up".to_owned(),
        0 if given_up == 0 => "left ops unfinished when the time of `--drain` was over,".to_owned(),
        0 => "gave ops up, and left others unfinished when the time of `--drain` was over,".to_owned(),
        all if all == runs.len() => "stalled in every run".to_owned(),
        some => format!("stalled in {} of {} runs", thousands(some as u64), thousands(runs.len() as u64)),
    };
    let in_runs = if stalled == 0 && short < runs.len() {
        format!(" in {} of {} runs", thousands(short as u64), thousands(runs.len() as u64))
    } else {
        String::new()
    };
    let words = format!("{how}{in_runs}");
    format!("{}: {} of its ops succeeded", words.trim_end_matches(','), percent(share(runs)))
}

/// What strategies are ranked by, and ratios are of. Nothing that is not above zero has one; such runs come last. Equal values in
/// another order have the same.
pub fn geometric_mean(values: &[f64]) -> f64 {
    let mut logs: Vec<f64> = values.iter().map(|value| libm::log(*value)).collect();
    logs.sort_by(f64::total_cmp);
    if logs.is_empty() { f64::INFINITY } else { libm::exp(logs.iter().sum::<f64>() / logs.len() as f64) }
}

/// Whoever knows the future is on no front that others could reach: it puts nobody off it.
fn mark_front(standings: &mut [Standing]) {
    let costs: Vec<Option<(f64, f64)>> = standings
        .iter()
        .map(|standing| {
            let mean = |path: &str| standing.figure(path).map(|figure| figure.mean);
            let complete = standing.is_complete() && !standing.foresees;
            Some((mean(Score::makespan().path())?, mean(Score::attempts().path())?)).filter(|_| complete)
        })
        .collect();
    for (standing, own) in standings.iter_mut().zip(&costs) {
        let Some((time, attempts)) = own else { continue };
        let beaten = costs.iter().flatten().any(|(other_time, other_attempts)| {
            let no_worse = other_time <= time && other_attempts <= attempts;
            no_worse && (other_time < time || other_attempts < attempts)
        });
        standing.on_front = !beaten;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::run;

    fn names(strategies: &[(&str, Vec<RunResult>)], by: &str) -> Vec<(String, bool)> {
        let given: Vec<(String, Vec<&RunResult>)> =
            strategies.iter().map(|(name, runs)| ((*name).to_owned(), runs.iter().collect())).collect();
        let standings = standings(&given, by.parse().unwrap(), 1);
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
    fn who_knows_the_future_is_no_answer_and_puts_nobody_off_the_front() {
        let (yardstick, real) =
            (vec![run("fixed-window+oracle", 1, 10, 10, 1.0)], vec![run("aimd", 1, 10, 12, 2.0)]);
        let given = [
            ("fixed-window+oracle".to_owned(), yardstick.iter().collect()),
            ("aimd".to_owned(), real.iter().collect()),
        ];
        let standings = standings(&given, Score::makespan(), 1);
        assert!(standings[0].foresees && !standings[0].on_front && standings[1].on_front);
        assert_eq!(best_that_can_be_had(&standings).unwrap().strategy, "aimd");
    }
}
