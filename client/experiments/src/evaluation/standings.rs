//! Ranks and figures of strategies, computed from the blocks of a comparison (a block runs every strategy once with one seed).

use results::{RankedStrategy, Score};

use crate::experiment::Experiment;
use crate::runs::blocks::Measured;

/// Returns the strategies from best to worst. Strategies that cannot be ranked follow, in the order of the command line. The runs of
/// `experiments` are in `measured`.
pub fn standings(experiments: &[Experiment], measured: &Measured, by: Score) -> Vec<RankedStrategy> {
    let strategies: Vec<_> = experiments
        .iter()
        .zip(&measured.runs)
        .map(|(experiment, runs)| (experiment.strategy.to_string(), runs.clone()))
        .collect();
    results::standings(&strategies, by, first_seed(experiments))
}

pub(super) fn first_seed(experiments: &[Experiment]) -> u64 {
    experiments.first().map_or(0, |first| first.run.seed)
}
