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

/// The mean over runs, latencies in seconds.
pub(super) fn mean_score(score: Score, strategy: &Strategy) -> String {
    let values = values(score, strategy);
    if values.is_empty() {
        return "–".to_owned();
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    if score.is_latency() {
        format!("{} s", number(mean / 1e3))
    } else {
        format!("{}{}", number(mean), score.unit())
    }
}

/// Of the runs that have one, in rising order.
fn values(score: Score, strategy: &Strategy) -> Vec<f64> {
    strategy.values(|run| score.of(run.result.as_deref()?))
}
