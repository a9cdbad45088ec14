//! Where strategies stand after the blocks that were measured.

use experiments::runs::blocks::Measured;
use results::{Score, Standing};

use crate::settings::Settings;

/// Complete strategies from the best to the worst, then the others as typed.
pub(crate) fn standings(settings: &[Settings], measured: &Measured, by: Score) -> Vec<Standing> {
    let seed = settings.first().map_or(0, |first| first.run.seed);
    let strategies: Vec<_> = settings
        .iter()
        .zip(&measured.runs)
        .map(|(settings, runs)| (settings.strategy.to_string(), runs.iter().map(|run| &run.result).collect()))
        .collect();
    results::standings(&strategies, by, seed)
}
