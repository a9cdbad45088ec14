//! Best candidate of a sweep in each situation. A situation is a combination of settings that no client can choose, such as the workload.
//! The best candidate is measured again with fresh seeds.

use loadgen_core::RunConfig;
use results::{At, Axis, RankedStrategy, Score, SweepCell, figures_over_runs};
use vocabulary::duration_text;

use super::estimate::Estimate;
use super::pairs::{best_against_others, every_pair, pairs_by_share};
use super::standings::{first_seed, standings};
use crate::experiment::Experiment;
use crate::runs::blocks::{Blocks, Measured};
use crate::runs::point::{Point, SweepPoint};
use crate::servers::server_under_test::ServerUnderTest;

/// Best and second best candidate in one situation (settings that no client can choose). Both candidates are run again with fresh seeds,
/// because the best of many candidates is partly best by chance.
pub struct BestPoint<'a> {
    situation: &'a SweepPoint,
    /// Experiments to run again, with seeds that the sweep did not use. The first two are the best and the second best candidate of the
    /// sweep. If a table shows all candidates in one row, the other candidates of the row follow.
    experiments: Vec<Experiment>,
    server_under_test: &'a ServerUnderTest,
    in_sweep: [RankedStrategy; 2],
    /// Warnings for the best and the second best candidate. A warning is a sentence, and exists if a varied parameter of the candidate has
    /// the first or last value of the parameter's range.
    range_ends: [Option<String>; 2],
}

/// Maximum number of strategies in a table with one row per point and one column per strategy.
pub const MAX_COLUMNS: usize = 4;

/// Returns the best two candidates of each situation. A situation is a combination of settings that no client can choose, such as the load.
/// It may include several points of the sweep, whose candidates are then ranked together. A situation with fewer than two ranked candidates
/// is left out. As in a comparison of strategies, candidates are ranked by their share of ops done first.
pub fn best_points<'a>(points: &'a [Point], axes: &[Axis], cells: &[Cell], by: Score) -> Vec<BestPoint<'a>> {
    let mut situations: Vec<(&SweepPoint, Vec<&Cell>)> = Vec::new();
    for cell in cells.iter().filter(|cell| !cell.standing.foresees) {
        let situation = &points[cell.point].situation;
        match situations.iter_mut().find(|(there, _)| *there == situation) {
            // A strategy that has none of the varied parameters is identical at every point of the sweep. It is therefore added as a
            // candidate only once.
            Some((_, candidates)) if candidates.iter().any(|other| is_the_same(cell, other)) => {}
            Some((_, candidates)) => candidates.push(cell),
            None => situations.push((situation, vec![cell])),
        }
    }
    situations
        .into_iter()
        .filter_map(|(situation, candidates)| best_point(situation, &candidates, (points, axes), by))
        .collect()
}

fn is_the_same(one: &Cell, other: &Cell) -> bool {
    one.standing.strategy == other.standing.strategy
}

fn best_point<'a>(
    situation: &'a SweepPoint,
    candidates: &[&Cell],
    (points, axes): (&'a [Point], &[Axis]),
    by: Score,
) -> Option<BestPoint<'a>> {
    let together = candidates.iter().map(|cell| cell.standing.clone()).collect();
    let mut ranked = results::ranked(together, by).into_iter().filter(|standing| standing.rank.is_some());
    let in_sweep = [ranked.next()?, ranked.next()?];
    let cell = |standing: &RankedStrategy| {
        candidates.iter().find(|cell| cell.standing.strategy == standing.strategy).copied()
    };
    let [best, second] = [cell(&in_sweep[0])?, cell(&in_sweep[1])?];
    let of = |cell: &Cell| &points[cell.point].experiments[cell.strategy];
    let fresh = |cell: &Cell| {
        let experiment = of(cell);
        let last = experiment.seed(experiment.repeats.saturating_sub(1) as usize);
        let run = RunConfig { seed: last.wrapping_add(1), ..experiment.run.clone() };
        Experiment { run, merged_seeds: None, ..experiment.clone() }
    };
    let end = |cell: &Cell| {
        let at = axes.iter().zip(&points[cell.point].at);
        at.filter(|(axis, _)| situation.0.iter().all(|(key, _)| *key != axis.key))
            .filter(|(axis, _)| {
                axis.key.split('.').next().is_some_and(|part| of(cell).strategy.has_part(part))
            })
            .find_map(|(axis, value)| range_end(axis, value))
    };
    // If the candidates are few and all at one point, a table shows them in one row. All candidates are then run again, so that every
    // figure of the row is from fresh seeds.
    let is_row = candidates.len() <= MAX_COLUMNS && candidates.iter().all(|cell| cell.point == best.point);
    let is_other = |cell: &&&Cell| ![best, second].iter().any(|chosen| is_the_same(cell, chosen));
    let others = candidates.iter().filter(is_other).filter(|_| is_row).map(|cell| fresh(cell));
    Some(BestPoint {
        situation,
        experiments: [fresh(best), fresh(second)].into_iter().chain(others).collect(),
        server_under_test: &points[best.point].server_under_test,
        range_ends: [end(best), end(second)],
        in_sweep,
    })
}

impl BestPoint<'_> {
    pub fn name(&self) -> String {
        self.situation.to_string()
    }

    pub fn blocks(&self) -> Blocks<'_> {
        Blocks { strategies: &self.experiments, server_under_test: self.server_under_test }
    }

    pub fn estimated(&self, measured: &Measured, by: Score) -> Estimate {
        let all = standings(&self.experiments, measured, by);
        let standings = standings(&self.experiments[..2], measured, by);
        let seed = first_seed(&self.experiments);
        // Only one pair is compared: the best and the second best strategy. If both strategies did the same work, they are compared in the
        // score. If they did not, they are compared in the share of ops done or in attempts per success.
        let mut pairs = every_pair(&standings, by, seed);
        if standings.iter().any(|standing| standing.is_tied) {
            pairs.extend(best_against_others(&standings, by.companion(), seed));
        }
        pairs.extend(pairs_by_share(&standings, seed));
        Estimate {
            situation: self.situation.clone(),
            in_sweep: self.in_sweep.clone(),
            by,
            standings,
            pairs,
            range_ends: self.range_ends.clone(),
            all,
            blocks: measured.blocks(),
        }
    }
}

const MIN_VALUES: usize = 3;

/// Returns a sentence that suggests larger or smaller values if `value` is the first or last of a range. A range is a list of at least
/// three numbers or durations in ascending or descending order. Returns `None` for any other value, and if the values are not a range.
pub(super) fn range_end(axis: &Axis, value: &str) -> Option<String> {
    let numbers: Vec<f64> = axis.values.iter().map(|value| number(value)).collect::<Option<_>>()?;
    let rises = numbers.is_sorted();
    let falls = numbers.iter().rev().is_sorted();
    if numbers.len() < MIN_VALUES || !(rises || falls) {
        return None;
    }
    let (end, is_last) = match axis.values.as_slice() {
        [first, ..] if first == value => ("first", false),
        [.., last] if last == value => ("last", true),
        _ => return None,
    };
    let beyond = if is_last == rises { "more" } else { "less" };
    Some(format!("{}={value} is the {end} of the range: try {beyond}", axis.key))
}

fn number(text: &str) -> Option<f64> {
    let duration = || duration_text::parse(text).ok().map(|duration| duration.as_secs_f64());
    text.parse::<f64>().ok().filter(|number| number.is_finite()).or_else(duration)
}

/// Result of one strategy at one point of a sweep, over all seeds.
pub struct Cell {
    pub point: usize,
    /// Number of runs, one for each seed.
    pub runs: usize,
    /// Index of the strategy in the order of the command line.
    pub strategy: usize,
    pub standing: RankedStrategy,
    /// Rank among the strategies at the same point, from 1. Tied strategies have equal ranks. The rank is `None` if the strategy left ops
    /// undone.
    pub rank: Option<u64>,
}

pub fn cells(index: usize, point: &Point, measured: &Measured, by: Score) -> Vec<Cell> {
    let mut cells: Vec<Cell> = standings(&point.experiments, measured, by)
        .into_iter()
        .filter_map(|standing| {
            let is_named = |experiment: &Experiment| experiment.strategy.to_string() == standing.strategy;
            let strategy = point.experiments.iter().position(is_named)?;
            let rank = standing.rank.filter(|_| standing.is_complete());
            Some(Cell { point: index, runs: measured.blocks(), strategy, rank, standing })
        })
        .collect();
    cells.sort_by_key(|cell| cell.strategy);
    cells
}

impl Cell {
    /// Returns the record of the cell in the document format of `loadgen reproduce`. Plots that were made for this command can therefore
    /// show cells of a sweep. `label` is the strategy as given on the command line.
    pub fn record(&self, label: &str, at: At) -> SweepCell {
        SweepCell {
            experiment: "sweep".to_owned(),
            label: label.to_owned(),
            strategy: self.standing.strategy.clone(),
            at,
            complete: self.standing.is_complete(),
            incomplete_because: self.standing.incomplete.clone(),
            rank: self.rank,
            figures: figures_over_runs(&self.standing.figures),
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::evaluation::testing::{Scripted, experiment, measured};
    use crate::runs::driver::Driver;
    use crate::runs::virtual_time::VirtualTime;

    fn points(values: &[(&str, &str)], repeats: u32) -> Vec<Point> {
        let point = |(ops, beta): &(&str, &str)| Point {
            at: vec![(*ops).to_owned(), (*beta).to_owned()],
            situation: SweepPoint(vec![("ops".to_owned(), (*ops).to_owned())]),
            experiments: vec![
                experiment(&format!("aimd:beta={beta}"), 1, repeats),
                experiment("none", 1, repeats),
            ],
            server_under_test: ServerUnderTest::Own(Box::default()),
        };
        values.iter().map(point).collect()
    }

    fn axes() -> [Axis; 2] {
        let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        [
            Axis { key: "ops".to_owned(), values: values(&["50", "100"]) },
            Axis { key: "aimd.beta".to_owned(), values: values(&["0.5", "0.7", "0.9"]) },
        ]
    }

    fn all_cells(points: &[Point], driver: &dyn Driver, by: Score) -> Vec<Cell> {
        let at =
            |(index, point): (usize, &Point)| cells(index, point, &measured(point.blocks(), driver, by), by);
        points.iter().enumerate().flat_map(at).collect()
    }

    fn estimates(points: &[Point], driver: &dyn Driver) -> Vec<Estimate> {
        let by = Score::attempts();
        let cells = all_cells(points, driver, by);
        let choices = best_points(points, &axes(), &cells, by);
        let estimate = |best: &BestPoint<'_>| best.estimated(&measured(best.blocks(), driver, by), by);
        choices.iter().map(estimate).collect()
    }

    #[test]
    fn the_best_point_of_every_situation_reruns_on_fresh_seeds() {
        let points = points(&[("50", "0.5"), ("50", "0.9"), ("100", "0.5"), ("100", "0.9")], 4);
        let seen = std::sync::Mutex::new(Vec::new());
        let driver = Scripted(|strategy: &str, seed: u64| {
            seen.lock().unwrap().push(seed);
            match strategy {
                "aimd:beta=0.5" => 20 + seed % 2,
                "none" => 0,
                _ => 30 + seed % 2,
            }
        });
        let cells = all_cells(&points, &driver, Score::attempts());
        let ranks: Vec<_> = cells.iter().map(|cell| (cell.point, cell.strategy, cell.rank)).collect();
        assert_eq!(ranks[..2], [(0, 0, Some(1)), (0, 1, None)]);
        let choices = best_points(&points, &axes(), &cells, Score::attempts());
        let names: Vec<String> = choices.iter().map(BestPoint::name).collect();
        assert_eq!(names, ["ops=50", "ops=100"]);
        seen.lock().unwrap().clear();
        measured(choices[0].blocks(), &driver, Score::attempts());
        let mut seeds = std::mem::take(&mut *seen.lock().unwrap());
        seeds.sort_unstable();
        assert_eq!(seeds, [5, 5, 6, 6, 7, 7, 8, 8]);
    }

    #[test]
    fn a_lucky_winner_of_the_sweep_is_reported_as_such() {
        let points = points(&[("50", "0.5"), ("50", "0.9")], 6);
        let lucky = |strategy: &str, seed: u64| match strategy {
            "none" => 0,
            "aimd:beta=0.5" => {
                if seed <= 6 {
                    20
                } else {
                    40 + seed % 2
                }
            }
            _ => 30 + seed % 2,
        };
        let [estimate] = &estimates(&points, &Scripted(lucky))[..] else { panic!("there is one situation") };
        let written = estimate.record();
        assert_eq!(written.strategy.as_deref(), Some("aimd:beta=0.5"));
        assert_eq!(written.winner(), Some("aimd:beta=0.9"));
        assert_eq!(
            written.words,
            "ops=50: aimd:beta=0.5 had the least attempts in the sweep (20), but aimd:beta=0.9 has it on fresh seeds: \
             aimd:beta=0.5 yields 40.5 on 6 fresh seeds; aimd.beta=0.9 is the last of the range: try more"
        );
    }

    /// Returns a point for each value of `max-attempts`, with a single strategy. All points belong to one situation.
    fn points_of_one(max_attempts: &[&str]) -> (Vec<Point>, [Axis; 1]) {
        let point = |most: &&str| Point {
            at: vec![(*most).to_owned()],
            situation: SweepPoint::default(),
            experiments: vec![experiment(&format!("constant:delay=1s,max-attempts={most}"), 1, 6)],
            server_under_test: ServerUnderTest::Own(Box::default()),
        };
        let values = max_attempts.iter().map(|most| (*most).to_owned()).collect();
        let axis = Axis { key: "constant.max-attempts".to_owned(), values };
        (max_attempts.iter().map(point).collect(), [axis])
    }

    #[test]
    fn points_of_a_situation_are_ranked_together_by_share_done() {
        let (points, axes) = points_of_one(&["1", "4", "9"]);
        let driver = VirtualTime { threads: 1 };
        let by = Score::makespan();
        let cells = all_cells(&points, &driver, by);
        assert!(cells.iter().all(|cell| cell.rank == Some(1)), "alone at its point each is the best");
        let [best] = &best_points(&points, &axes, &cells, by)[..] else { panic!("there is one situation") };
        let written = best.estimated(&measured(best.blocks(), &driver, by), by).record();
        // Giving up at once finishes first, but does the fewest ops.
        assert_eq!(written.winner(), Some("constant:delay=1s,max-attempts=9"), "{}", written.words);
        assert_eq!(written.figure, "done_share");
        let (gets, end) = ("max-attempts=9 gets most ops done: ", "=9 is the last of the range: try more");
        assert!(written.words.contains(gets) && written.words.ends_with(end), "{}", written.words);
    }

    #[test]
    fn a_tie_names_the_one_that_needs_fewer_attempts_first() {
        let points = points(&[("50", "0.5"), ("50", "0.9")], 6);
        let by = Score::makespan();
        // The makespan in seconds equals the number of attempts, so both strategies are equal within 2 %.
        let near = |strategy: &str, _| match strategy {
            "none" => 0,
            "aimd:beta=0.5" => 1010,
            _ => 1000,
        };
        let driver = Scripted(near);
        let cells = all_cells(&points, &driver, by);
        let [best] = &best_points(&points, &axes(), &cells, by)[..] else { panic!("there is one situation") };
        let written = best.estimated(&measured(best.blocks(), &driver, by), by).record();
        assert_eq!(written.winner(), None);
        assert!(
            written.words.contains("beta=0.9 and aimd:beta=0.5 tie for the least makespan: "),
            "{}",
            written.words
        );
    }

    #[test]
    fn a_tie_has_no_winner() {
        let points = points(&[("50", "0.5"), ("50", "0.9")], 6);
        let alike = |strategy: &str, seed: u64| match strategy {
            "none" => 0,
            "aimd:beta=0.5" => 20 + seed % 3,
            _ => 20 + (seed + 1) % 3,
        };
        let [estimate] = &estimates(&points, &Scripted(alike))[..] else { panic!("there is one situation") };
        let written = estimate.record();
        assert_eq!(written.winner(), None);
        assert!(written.words.contains("tie for the least attempts"), "{}", written.words);
    }

    #[test]
    fn in_virtual_time_the_best_point_is_estimated_again() {
        let points = points(&[("50", "0.5"), ("50", "0.9")], 3);
        let driver = VirtualTime { threads: 1 };
        let [estimate] = &estimates(&points, &driver)[..] else { panic!("there is one situation") };
        let written = estimate.record();
        assert!(written.complete && written.fresh.is_some() && written.pairs.len() == 1);
        // Three repeats are too few for an interval, so there is no winner.
        assert_eq!((written.winner(), written.pairs[0].low), (None, None));
    }

    fn end(values: &[&str], value: &str) -> Option<String> {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        range_end(&Axis { key: "aimd.beta".to_owned(), values }, value)
    }

    #[test]
    fn the_first_and_the_last_of_a_range_are_its_ends() {
        let says = |end: &str, beyond: &str| Some(format!("aimd.beta={end} of the range: try {beyond}"));
        assert_eq!(end(&["0.5", "0.7", "0.95"], "0.95"), says("0.95 is the last", "more"));
        assert_eq!(end(&["0.5", "0.7", "0.95"], "0.5"), says("0.5 is the first", "less"));
        assert_eq!(end(&["2s", "1s", "500ms"], "500ms"), says("500ms is the last", "less"));
        assert_eq!(end(&["2s", "1s", "500ms"], "2s"), says("2s is the first", "more"));
        assert_eq!(end(&["0.5", "0.7", "0.95"], "0.7"), None);
    }

    #[test]
    fn two_values_words_and_values_without_an_order_are_no_range() {
        assert_eq!(end(&["1", "2"], "2"), None);
        assert_eq!(end(&["reno", "tahoe", "other"], "other"), None);
        assert_eq!(end(&["1", "3", "2"], "2"), None);
    }
}
