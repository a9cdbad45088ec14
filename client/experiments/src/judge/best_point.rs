//! Which point of a sweep is the best in each situation: what is to be estimated again.

use loadgen_core::RunConfig;
use results::Score;

use super::cell::Cell;
use super::estimate::Estimate;
use super::pairs::every_pair;
use super::standings::{first_seed, standings};
use crate::experiment::Experiment;
use crate::runs::blocks::{Blocks, Measured};
use crate::runs::point::{Point, Situation};
use crate::servers::opponent::Opponent;

/// The best and the second best of a situation, to be run again: whoever is picked as the best of many was partly lucky.
pub struct BestPoint<'a> {
    situation: &'a Situation,
    /// The two, with seeds that had no part in the choice.
    experiments: Vec<Experiment>,
    opponent: &'a Opponent,
    /// The best's mean in the sweep.
    in_sweep: Option<f64>,
}

/// One choice per situation in which at least two candidates did every op.
pub fn best_points<'a>(points: &'a [Point], cells: &[Cell], by: Score) -> Vec<BestPoint<'a>> {
    let mut situations: Vec<(&Situation, Vec<&Cell>)> = Vec::new();
    for cell in cells.iter().filter(|cell| cell.standing.is_complete() && !cell.standing.foresees) {
        let situation = &points[cell.point].situation;
        match situations.iter_mut().find(|(there, _)| *there == situation) {
            Some((_, candidates)) => candidates.push(cell),
            None => situations.push((situation, vec![cell])),
        }
    }
    situations
        .into_iter()
        .filter_map(|(situation, candidates)| best_point(situation, candidates, points, by))
        .collect()
}

fn best_point<'a>(
    situation: &'a Situation,
    mut candidates: Vec<&Cell>,
    points: &'a [Point],
    by: Score,
) -> Option<BestPoint<'a>> {
    let score = |cell: &Cell| cell.standing.score(by);
    candidates.sort_by(|cell, other| score(cell).total_cmp(&score(other)));
    // A strategy that has no varied parameter is the same at every point.
    candidates.dedup_by(|later, earlier| later.standing.strategy == earlier.standing.strategy);
    let [best, second, ..] = candidates[..] else { return None };
    let fresh = |cell: &Cell| {
        let experiment = &points[cell.point].experiments[cell.strategy];
        let seed = experiment.run.seed.wrapping_add(u64::from(experiment.repeats));
        Experiment { run: RunConfig { seed, ..experiment.run.clone() }, ..experiment.clone() }
    };
    Some(BestPoint {
        situation,
        experiments: vec![fresh(best), fresh(second)],
        opponent: &points[best.point].opponent,
        in_sweep: best.standing.figure(by.path()).map(|figure| figure.mean),
    })
}

impl BestPoint<'_> {
    /// The situation in words.
    pub fn name(&self) -> String {
        self.situation.to_string()
    }

    /// What is to be run.
    pub fn blocks(&self) -> Blocks<'_> {
        Blocks { strategies: &self.experiments, opponent: self.opponent }
    }

    /// What the choice came to on fresh seeds.
    pub fn estimated(&self, measured: &Measured, by: Score) -> Estimate {
        let standings = standings(&self.experiments, measured, by);
        let pairs = every_pair(&standings, by, first_seed(&self.experiments));
        let best = self.experiments.first().map_or_else(String::new, |best| best.strategy.to_string());
        Estimate {
            situation: self.situation.clone(),
            in_sweep: self.in_sweep,
            by,
            best,
            standings,
            pairs,
            blocks: measured.blocks(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::cell::cells;
    use crate::judge::testing::{Scripted, experiment, measured};
    use crate::runs::driver::Driver;
    use crate::runs::virtual_time::VirtualTime;

    /// Points at which `aimd.beta` and the workload vary, with four seeds from 1 on.
    fn points(values: &[(&str, &str)], repeats: u32) -> Vec<Point> {
        let point = |(ops, beta): &(&str, &str)| Point {
            at: vec![(*ops).to_owned(), (*beta).to_owned()],
            situation: Situation(vec![("ops".to_owned(), (*ops).to_owned())]),
            experiments: vec![
                experiment(&format!("aimd:beta={beta}"), 1, repeats),
                experiment("none", 1, repeats),
            ],
            opponent: Opponent::Own(Box::default()),
        };
        values.iter().map(point).collect()
    }

    fn all_cells(points: &[Point], driver: &dyn Driver, by: Score) -> Vec<Cell> {
        let at =
            |(index, point): (usize, &Point)| cells(index, point, &measured(point.blocks(), driver, by), by);
        points.iter().enumerate().flat_map(at).collect()
    }

    fn estimates(points: &[Point], driver: &dyn Driver) -> Vec<Estimate> {
        let by = Score::attempts();
        let cells = all_cells(points, driver, by);
        let choices = best_points(points, &cells, by);
        let estimate = |best: &BestPoint<'_>| best.estimated(&measured(best.blocks(), driver, by), by);
        choices.iter().map(estimate).collect()
    }

    #[test]
    fn every_situation_has_a_best_which_runs_again_on_seeds_that_nobody_has_seen() {
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
        let choices = best_points(&points, &cells, Score::attempts());
        let names: Vec<String> = choices.iter().map(BestPoint::name).collect();
        assert_eq!(names, ["ops=50", "ops=100"]);
        seen.lock().unwrap().clear();
        measured(choices[0].blocks(), &driver, Score::attempts());
        let mut seeds = std::mem::take(&mut *seen.lock().unwrap());
        seeds.sort_unstable();
        assert_eq!(seeds, [5, 5, 6, 6, 7, 7, 8, 8]);
    }

    #[test]
    fn who_was_lucky_in_the_sweep_is_told_to_have_been() {
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
             aimd:beta=0.5 comes to 40.50 on 6 fresh seeds"
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
    fn in_virtual_time_the_point_with_the_gentler_cut_is_estimated_again() {
        let points = points(&[("50", "0.5"), ("50", "0.9")], 3);
        let driver = VirtualTime { threads: 1 };
        let [estimate] = &estimates(&points, &driver)[..] else { panic!("there is one situation") };
        let written = estimate.record();
        assert!(written.complete && written.fresh.is_some() && written.pairs.len() == 1);
        // Of three repeats nobody says more than what was seen.
        assert_eq!((written.winner(), written.pairs[0].low), (None, None));
    }
}
