//! The Pareto front: the strategies than which no other is better in one of two things and not worse in the other.

use crate::score::Score;
use crate::standing::Standing;

/// Marks who is on it. Makespan against attempts says something of equal work only; where shares of ops done differ, it is that
/// share against the attempts that a success costs.
///
/// Whoever knows the future is on no front that others could reach: it puts nobody off it.
pub(crate) fn mark(standings: &mut [Standing], by_share: bool) {
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

/// Less is better in both.
fn time_and_attempts(standing: &Standing) -> Option<(f64, f64)> {
    let mean = |score: Score| standing.figure(score.path()).map(|figure| figure.mean);
    Some((mean(Score::makespan())?, mean(Score::attempts())?)).filter(|_| standing.is_complete())
}

/// The same: more of the share is less of its opposite. Who cannot be ranked by the share has none.
fn share_and_effort(standing: &Standing) -> Option<(f64, f64)> {
    standing.rank?;
    Some((-standing.share, standing.figure_of_all(Score::attempts_per_success())?.mean))
}
