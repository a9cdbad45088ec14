//! Summary of a figure over runs of different seeds, as scenarios use it.

use statistics::{Level, Method, Summary};

/// Summarizes a figure over the runs that have it.
pub fn over_seeds(values: &[f64]) -> Option<Summary> {
    let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    Summary::of(&known, Level::P95, Method::StudentT)
}

/// Summarizes a figure that all runs have; `None` otherwise, because a statistic of some of them would mean something
/// else.
pub(super) fn of_all_runs(values: &[f64]) -> Option<Summary> {
    over_seeds(values).filter(|seeds| seeds.count == values.len())
}
