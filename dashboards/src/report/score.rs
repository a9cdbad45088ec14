//! The score that strategies are ranked by, over the runs of one.

use results::Score;

use super::number::number;
use super::strategy::Strategy;

/// The geometric mean over runs: what ratios are of, as ranks are.
pub(super) fn geometric_mean(score: Score, strategy: &Strategy) -> f64 {
    let mut values = values(score, strategy);
    values.retain(|value| *value > 0.0);
    results::geometric_mean(&values)
}

/// The mean over runs of a latency, in seconds.
pub(super) fn mean_latency(latency: Score, strategy: &Strategy) -> String {
    let values = values(latency, strategy);
    if values.is_empty() {
        return "–".to_owned();
    }
    let mean_ms = values.iter().sum::<f64>() / values.len() as f64;
    format!("{} s", number(mean_ms / 1e3))
}

/// Of the runs that have one, in rising order.
fn values(score: Score, strategy: &Strategy) -> Vec<f64> {
    strategy.values(|run| score.of(run.result.as_deref()?))
}
