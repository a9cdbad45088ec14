//! Pareto front of two figures. A strategy is on the front unless another strategy is better in one figure and not worse in the other.

use crate::ranking::ranked_strategy::RankedStrategy;
use crate::ranking::score::Score;

/// Marks the strategies that are on the Pareto front. The two figures are makespan and attempts, which can be compared only if all
/// strategies did the same work. If strategies did different work (`by_share`), the figures are the share of ops done and the attempts per
/// success.
///
/// Strategies that know the future are excluded: they neither appear on the front nor dominate other strategies.
pub(crate) fn mark(standings: &mut [RankedStrategy], by_share: bool) {
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
