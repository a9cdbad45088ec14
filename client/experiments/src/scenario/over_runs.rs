//! A figure over runs of different seeds, as scenarios sum it up.

use statistics::{Level, Method, Summary};

/// A figure over runs; those that do not have it are left out.
pub fn over_seeds(values: &[f64]) -> Option<Summary> {
    let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    Summary::of(&known, Level::P95, Method::StudentT)
}

/// A figure over runs that all have it: a statistic of some of them only would say something else.
pub(super) fn of_all_runs(values: &[f64]) -> Option<Summary> {
    over_seeds(values).filter(|seeds| seeds.count == values.len())
}
