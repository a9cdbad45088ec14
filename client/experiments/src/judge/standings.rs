//! Where strategies stand after the blocks that were measured.

use results::{Score, Standing};

use crate::experiment::Experiment;
use crate::runs::blocks::Measured;

/// Strategies from the best to the worst, then those that cannot be ranked as typed. `experiments` are those that were measured.
pub fn standings(experiments: &[Experiment], measured: &Measured, by: Score) -> Vec<Standing> {
    let strategies: Vec<_> = experiments
        .iter()
        .zip(&measured.runs)
        .map(|(experiment, runs)| (experiment.strategy.to_string(), runs.clone()))
        .collect();
    results::standings(&strategies, by, first_seed(experiments))
}

/// The seed of the first block.
pub(super) fn first_seed(experiments: &[Experiment]) -> u64 {
    experiments.first().map_or(0, |first| first.run.seed)
}
