//! Summary of a figure over runs with different seeds, as scenarios use it.

use statistics::{Level, Method, Summary};

/// Summarizes a figure over runs. Runs without the figure are ignored.
pub fn over_seeds(values: &[f64]) -> Option<Summary> {
    let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    Summary::new(&known, Level::P95, Method::StudentT)
}

/// Summarizes a figure over runs. Returns `None` if a run lacks the figure, because a statistic of the remaining runs only would have
/// another meaning.
pub(super) fn of_all_runs(values: &[f64]) -> Option<Summary> {
    over_seeds(values).filter(|seeds| seeds.count == values.len())
}
