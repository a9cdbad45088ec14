//! Where strategies stand: who is complete, in which order, and who is on the Pareto front.
//!
//! Ranks are by the geometric mean over blocks, so that they never contradict the paired ratios.

use experiments::runs::blocks::Measured;
use experiments::runs::one_run::Finished;
use serde_json::{Map, Value, json};
use statistics::{Level, Method, Summary};

use crate::args::Score;
use crate::repeats::{self, figure_to_json};
use crate::settings::Settings;
use crate::text::figures::{percent, thousands};

/// Shares of succeeded ops that differ by no more count as the same, when no strategy completes every op.
const SAME_SHARE: f64 = 0.001;

/// Makespan over its lower bound, 1 at best. The name in files is older than the proof.
pub(crate) const OVER_BOUND: &str = "makespan_over_optimum";

/// One strategy among those compared.
#[derive(Clone)]
pub(crate) struct Standing {
    pub(crate) strategy: String,
    /// Why it cannot be ranked, if it cannot.
    pub(crate) incomplete: Option<String>,
    /// Whether no other has both less makespan and fewer attempts.
    pub(crate) on_front: bool,
    pub(crate) figures: Vec<(&'static str, Summary)>,
    /// Whether it knows the future, as no client can.
    pub(crate) foresees: bool,
    /// Succeeded ops among all, 0 to 1.
    pub(crate) share: f64,
    scores: Vec<(Score, Vec<f64>)>,
}

impl Standing {
    /// A score of every block; empty when it is missing in one.
    pub(crate) fn values(&self, score: Score) -> &[f64] {
        self.scores.iter().find(|(one, _)| *one == score).map_or(&[], |(_, values)| values)
    }

    /// The geometric mean of a score over blocks, which ranks are by; infinite when it is missing in one.
    pub(crate) fn score(&self, by: Score) -> f64 {
        geometric_mean(self.values(by))
    }

    /// A figure over blocks.
    pub(crate) fn figure(&self, path: &str) -> Option<&Summary> {
        self.figures.iter().find(|(name, _)| *name == path).map(|(_, figure)| figure)
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.incomplete.is_none()
    }

    pub(crate) fn to_json(&self, rank: usize) -> Value {
        let figures = self.figures.iter().map(|(path, figure)| ((*path).to_owned(), figure_to_json(figure)));
        json!({
            "strategy": self.strategy, "rank": self.is_complete().then_some(rank), "complete": self.is_complete(),
            "incomplete_because": self.incomplete, "on_pareto_front": self.on_front,
            "figures": figures.collect::<Map<_, _>>(),
        })
    }
}

/// Complete strategies from the best to the worst, then the others as typed.
pub(crate) fn standings(settings: &[Settings], measured: &Measured, by: Score) -> Vec<Standing> {
    let shares: Vec<f64> = measured.runs.iter().map(|runs| share(runs)).collect();
    let best = shares.iter().copied().fold(0.0, f64::max);
    // Where everything can be done, one op in a million given up is not the same.
    let least = if best >= 1.0 { 1.0 } else { best - SAME_SHARE };
    let mut standings: Vec<Standing> = settings
        .iter()
        .zip(&measured.runs)
        .zip(shares)
        .map(|((settings, runs), share)| standing(settings, runs, by, share, least))
        .collect();
    standings.sort_by(|a, b| {
        let key = |one: &Standing| {
            if one.is_complete() { one.score(by) } else { f64::INFINITY }
        };
        key(a).total_cmp(&key(b))
    });
    mark_front(&mut standings);
    standings
}

/// The best complete strategy that does not know the future.
pub(crate) fn best_that_can_be_had(standings: &[Standing]) -> Option<&Standing> {
    standings.iter().find(|one| one.is_complete() && !one.foresees)
}

fn standing(settings: &Settings, runs: &[Finished], by: Score, share: f64, least: f64) -> Standing {
    let values = |score: Score| {
        runs.iter().map(|run| score.of(&run.result)).collect::<Option<Vec<f64>>>().unwrap_or_default()
    };
    let mut figures = repeats::summary(runs);
    let path = by.path();
    if figures.iter().all(|(name, _)| *name != path) {
        figures.extend(summed(&values(by), settings.run.seed).map(|figure| (path, figure)));
    }
    let over: Option<Vec<f64>> = runs
        .iter()
        .map(|run| {
            let bound = run.result.optimal_makespan_s.filter(|bound| *bound > 0.0)?;
            Some(run.result.makespan_s.filter(|_| run.result.makespan_complete)? / bound)
        })
        .collect();
    figures.extend(summed(&over.unwrap_or_default(), settings.run.seed).map(|figure| (OVER_BOUND, figure)));
    let scores: Vec<(Score, Vec<f64>)> =
        [by, by.companion(), Score::Makespan].into_iter().map(|score| (score, values(score))).collect();
    let missing = scores.iter().find(|(_, values)| values.is_empty());
    let incomplete = match missing {
        _ if share < least => Some(shortfall(runs)),
        Some((score, _)) => Some(format!("has no {}", score.name())),
        None => None,
    };
    Standing {
        strategy: settings.strategy.to_string(),
        incomplete,
        on_front: false,
        figures,
        foresees: settings.strategy.needs_foreknowledge(),
        share,
        scores,
    }
}

fn summed(values: &[f64], seed: u64) -> Option<Summary> {
    Summary::of(values, Level::P95, Method::BySize { seed })
}

/// Succeeded ops among all, 0 to 1.
fn share(runs: &[Finished]) -> f64 {
    let sum = |of: fn(&Finished) -> u64| runs.iter().map(of).sum::<u64>();
    let total = sum(|run| run.result.ops.total);
    if total == 0 { 0.0 } else { sum(|run| run.result.ops.succeeded) as f64 / total as f64 }
}

/// What a strategy left undone.
fn shortfall(runs: &[Finished]) -> String {
    let stalled = runs.iter().filter(|run| run.result.stalled_at_s.is_some()).count();
    let short = runs.iter().filter(|run| !run.result.makespan_complete).count();
    let sum = |of: fn(&Finished) -> u64| runs.iter().map(of).sum::<u64>();
    let (given_up, cut_off) = (sum(|run| run.result.ops.given_up), sum(|run| run.result.ops.unfinished));
    let how = match stalled {
        0 if cut_off == 0 => "gave ops up".to_owned(),
        0 if given_up == 0 => "left ops unfinished when the time of `--drain` was over,".to_owned(),
        0 => "gave ops up, and left others unfinished when the time of `--drain` was over,".to_owned(),
        all if all == runs.len() => "stalled in every run".to_owned(),
        some => format!("stalled in {} of {} runs", thousands(some as u64), thousands(runs.len() as u64)),
    };
    let where_ = if stalled == 0 && short < runs.len() {
        format!(" in {} of {} runs", thousands(short as u64), thousands(runs.len() as u64))
    } else {
        String::new()
    };
    let told = format!("{how}{where_}");
    format!("{}: {} of its ops succeeded", told.trim_end_matches(','), percent(share(runs)))
}

/// Nothing that is not above zero has one; such runs come last.
fn geometric_mean(values: &[f64]) -> f64 {
    let logs: f64 = values.iter().map(|value| value.ln()).sum();
    if values.is_empty() { f64::INFINITY } else { (logs / values.len() as f64).exp() }
}

/// Whoever knows the future is on no front that others could reach: it puts nobody off it.
fn mark_front(standings: &mut [Standing]) {
    let costs: Vec<Option<(f64, f64)>> = standings
        .iter()
        .map(|one| {
            let mean = |path: &str| one.figure(path).map(|figure| figure.mean);
            let complete = one.is_complete() && !one.foresees;
            Some((mean(Score::Makespan.path())?, mean(Score::Attempts.path())?)).filter(|_| complete)
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
