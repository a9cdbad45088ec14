//! Comparison of the figures of runs with the figures of a saved baseline.

use std::collections::BTreeMap;

use results::{Direction, Figure, judged};
use statistics::{Comparison, Interval, Level, Margin, Method, PairedRatio, Summary};

use crate::checks::{Share, Subject};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Same,
    Better,
    Worse,
    /// The change exceeds the noise limit but may be due to chance, because the confidence interval over seeds includes "no change".
    Unclear,
}

impl ChangeKind {
    pub fn words(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Better => "better",
            Self::Worse => "WORSE",
            Self::Unclear => "unclear",
        }
    }
}

pub struct Change {
    /// Means of the figure: `now` over the current runs, and `then` over the runs of the baseline. Each mean ignores runs without the
    /// figure, and is `None` if no run has the figure.
    pub now: Option<f64>,
    pub then: Option<f64>,
    /// Ratio of the current figure to the baseline's figure, paired by seed. The ratio is `None` if the figure exists in more current runs
    /// than baseline runs, or in fewer.
    pub ratio: Option<f64>,
    pub verdict: ChangeKind,
}

/// Compares the current runs with the baseline, in every figure that baseline checks cover. A figure is left out if neither the current
/// runs nor the baseline have a value of it. A figure is also left out if the baseline was saved before the figure existed.
pub fn changes(
    subject: &Subject<'_>,
    baseline: &BTreeMap<String, Vec<Option<f64>>>,
    noise: Share,
) -> Vec<(&'static str, Change)> {
    let seed = subject.runs.first().map_or(0, |run| run.seed);
    let of = |figure: &'static Figure| {
        let now = subject.runs.of_each(figure.path);
        let then = baseline.get(figure.path)?;
        Some((figure, change(figure, &now, then, noise.of_one(), seed)?))
    };
    let mut changes: Vec<(&'static Figure, Change)> = judged().filter_map(of).collect();
    if is_of_unequal_work(&changes) {
        changes.retain(|(figure, _)| !figure.of_complete_runs_only);
    }
    changes.into_iter().map(|(figure, change)| (figure.path, change)).collect()
}

/// Returns true if the share of ops done became better or worse than in the baseline. The times of current runs and baseline are then not
/// comparable, because a client that gives up early finishes early.
fn is_of_unequal_work(changes: &[(&'static Figure, Change)]) -> bool {
    let share = changes.iter().find(|(figure, _)| figure.path == "done_share");
    share.is_some_and(|(_, change)| matches!(change.verdict, ChangeKind::Better | ChangeKind::Worse))
}

/// Compares one figure of the current runs with the baseline, seed by seed. Returns `None` if the figure exists in equally many current
/// runs and baseline runs, but never in both runs with the same seed.
fn change(
    figure: &Figure,
    now: &[Option<f64>],
    then: &[Option<f64>],
    noise: f64,
    seed: u64,
) -> Option<Change> {
    let known = |values: &[Option<f64>]| values.iter().flatten().copied().collect::<Vec<f64>>();
    let (known_now, known_before) = (known(now), known(then));
    let (now_mean, then_mean) = (mean_of_some(&known_now), mean_of_some(&known_before));
    if known_now.len() != known_before.len() {
        // More current runs than baseline runs with the figure count as a change for the better, and fewer runs as a change for the worse.
        // For example, a figure may exist only in runs in which the window converged.
        let verdict =
            if known_now.len() > known_before.len() { ChangeKind::Better } else { ChangeKind::Worse };
        return Some(Change { now: now_mean, then: then_mean, ratio: None, verdict });
    }
    let (now, then): (Vec<f64>, Vec<f64>) =
        now.iter().zip(then).filter_map(|(now, then)| Some(((*now)?, (*then)?))).unzip();
    if now.is_empty() {
        return None;
    }
    let (level, method) = (Level::P95, Method::BySize { seed });
    let includes = |interval: Option<Interval>, value: f64| {
        interval.is_some_and(|interval| interval.low <= value && value <= interval.high)
    };
    let comparison = Comparison { level, method, margin: Margin::TWO_PERCENT };
    let (ratio, may_be_none) = if let Ok(paired) = PairedRatio::new(&now, &then, comparison) {
        (paired.ratio, includes(paired.interval, 1.0))
    } else {
        // If values of 0 make a ratio impossible, the differences of the paired values are tested instead.
        let differences: Vec<f64> = now.iter().zip(&then).map(|(now, then)| now - then).collect();
        let difference = Summary::new(&differences, level, method).and_then(|summary| summary.interval);
        (quotient(mean(&now), mean(&then)), includes(difference, 0.0))
    };
    let verdict = verdict(figure, ratio, may_be_none, noise);
    Some(Change { now: now_mean, then: then_mean, ratio: Some(ratio), verdict })
}

fn verdict(figure: &Figure, ratio: f64, may_be_none: bool, noise: f64) -> ChangeKind {
    // The noise limit is a ratio and applies in both directions. A doubling and a halving therefore count as equally large changes.
    let beyond = ratio > 1.0 + noise || ratio < 1.0 / (1.0 + noise);
    if !beyond {
        return ChangeKind::Same;
    }
    if may_be_none {
        return ChangeKind::Unclear;
    }
    if (ratio > 1.0) == (figure.better == Direction::More) { ChangeKind::Better } else { ChangeKind::Worse }
}

fn mean_of_some(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| mean(values))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Divides the current figure `now` by the baseline's figure `then`. If both figures are 0, the result is 1, because the figures are equal.
fn quotient(now: f64, then: f64) -> f64 {
    match (now, then) {
        (0.0, 0.0) => 1.0,
        (_, 0.0) => f64::INFINITY,
        (now, then) => now / then,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(path: &str) -> &'static Figure {
        Figure::find(path).unwrap()
    }

    fn judge(figure: &Figure, now: &[f64], then: &[f64]) -> ChangeKind {
        let some = |values: &[f64]| values.iter().copied().map(Some).collect::<Vec<_>>();
        change(figure, &some(now), &some(then), 0.05, 1).unwrap().verdict
    }

    #[test]
    fn what_is_beyond_the_noise_is_worse_or_better() {
        let (makespan, succeeded) = (figure("makespan_s"), figure("ops.succeeded"));
        assert_eq!(judge(makespan, &[10.4], &[10.0]), ChangeKind::Same);
        assert_eq!(judge(makespan, &[10.6], &[10.0]), ChangeKind::Worse);
        assert_eq!(judge(makespan, &[9.0], &[10.0]), ChangeKind::Better);
        assert_eq!(judge(succeeded, &[9.0], &[10.0]), ChangeKind::Worse);
        assert_eq!(judge(makespan, &[0.0], &[0.0]), ChangeKind::Same);
        assert_eq!(judge(makespan, &[0.1], &[0.0]), ChangeKind::Worse);
    }

    #[test]
    fn what_seeds_alone_could_do_is_unclear() {
        let then = [10.0, 11.0, 9.0, 10.5, 9.5, 10.2];
        let scattered = [20.0, 6.0, 15.0, 7.0, 14.0, 8.0];
        assert_eq!(judge(figure("makespan_s"), &scattered, &then), ChangeKind::Unclear);
        let later = then.map(|s| s * 1.2);
        assert_eq!(judge(figure("makespan_s"), &later, &then), ChangeKind::Worse);
        assert_eq!(judge(figure("makespan_s"), &then, &then), ChangeKind::Same);
    }

    #[test]
    fn runs_with_nothing_of_it_are_compared_by_their_differences() {
        let late = figure("late_share");
        let one_bad_run = [0.0, 0.3, 0.0, 0.0, 0.0, 0.005];
        assert_eq!(judge(late, &one_bad_run, &[0.01; 6]), ChangeKind::Unclear);
        assert_eq!(judge(late, &[0.02, 0.03, 0.02, 0.03, 0.02, 0.03], &[0.0; 6]), ChangeKind::Worse);
        assert_eq!(judge(late, &[0.0; 6], &[0.02, 0.03, 0.02, 0.03, 0.02, 0.03]), ChangeKind::Better);
        assert_eq!(judge(late, &one_bad_run, &one_bad_run), ChangeKind::Same);
    }

    #[test]
    fn a_figure_that_is_gone_is_worse() {
        let judged = figure("window.convergence_s");
        let gone = change(judged, &[None], &[Some(2.0)], 0.05, 1).unwrap();
        assert_eq!((gone.verdict, gone.ratio), (ChangeKind::Worse, None));
        assert!(change(judged, &[None], &[None], 0.05, 1).is_none());
        let fewer = change(judged, &[Some(1.0), None, None], &[Some(2.0), Some(2.0), None], 0.05, 1).unwrap();
        assert_eq!((fewer.verdict, fewer.now, fewer.then), (ChangeKind::Worse, Some(1.0), Some(2.0)));
        let as_many = change(judged, &[Some(1.0), Some(3.0)], &[Some(1.0), Some(3.0)], 0.05, 1).unwrap();
        assert_eq!((as_many.verdict, as_many.ratio), (ChangeKind::Same, Some(1.0)));
    }
}
