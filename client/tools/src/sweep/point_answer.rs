//! Best strategy at each point of a sweep, judged on fresh seeds. Requires that every strategy ran at every point.

use experiments::evaluation::estimate::Estimate;
use results::{Answer, Best, RankedBy};
use statistics::Level;

use crate::sweep::grid::Grid;

pub(super) struct PointAnswer {
    pub(super) values: Vec<String>,
    /// Ranking of the strategies at the point; `None` if fewer than two strategies can be ranked.
    pub(super) answer: Option<Answer>,
}

impl PointAnswer {
    /// Returns the best strategy at the point of the sweep if its lead over the other strategies is certain. Also returns it if there are
    /// too few seeds for confidence intervals.
    pub(super) fn winner(&self) -> Option<&str> {
        let answer = self.answer.as_ref()?;
        let lead = answer.lead()?;
        (lead.is_certain || !answer.has_intervals()).then_some(lead.best.strategy.as_str())
    }

    pub(super) fn is_by_share(&self) -> bool {
        self.answer.as_ref().is_some_and(|answer| answer.ranked_by == RankedBy::Share)
    }
}

/// Returns the best strategies in the order of the points. The confidence intervals are widened so that all of them together hold in 95 %
/// of sweeps. Returns `None` if a parameter of a strategy is varied, if there is only one strategy, or if no point has an estimate.
pub(super) fn point_answers(grid: &Grid<'_>, estimates: &[Estimate]) -> Option<Vec<PointAnswer>> {
    let is_of_the_point = grid.points.iter().all(|point| point.situation.0.len() == grid.args.vary.len());
    if !is_of_the_point || grid.labels.len() < 2 || estimates.is_empty() {
        return None;
    }
    let strategies = grid.labels.len();
    let pairs = strategies * strategies.saturating_sub(1) / 2;
    let level = Level::P95.shared_by(grid.points.len() * pairs.max(1));
    let by = grid.args.several.by;
    let points = grid.points.iter().map(|point| {
        let estimate = estimates.iter().find(|estimate| *estimate.situation() == point.situation);
        PointAnswer {
            values: point.at.clone(),
            answer: estimate.map(|estimate| Answer::at_level(estimate.fresh(), by, level)),
        }
    });
    Some(points.collect())
}

/// Adds to the record of each estimate the best strategy at its point, and the lead of this strategy. The confidence level of the lead
/// applies to all points of the sweep together.
pub(super) fn add_leads(grid: &Grid<'_>, estimates: &[Estimate], best: &mut [Best]) {
    let answers = point_answers(grid, estimates).unwrap_or_default();
    for (best, answer) in best.iter_mut().zip(answers.iter().filter_map(|point| point.answer.as_ref())) {
        best.lead = answer.lead_record();
    }
}
