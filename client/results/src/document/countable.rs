//! Plausibility checks of counts in documents. Sums of accepted counts cannot overflow and can be drawn in plots, because an accepted count
//! has an upper limit.

use serde::Serialize;
use serde_json::Value;

use crate::RunResult;

/// Largest count that is accepted in a document. It is so small that reports can draw even the sum of such counts over the maximum number
/// of shards.
const MOST: u64 = 1_000_000_000_000;

pub(crate) fn uncountable(run: &RunResult) -> Option<(&'static str, u64)> {
    let places = [
        ("ops", beyond(&run.ops)),
        ("attempts", beyond(&run.attempts)),
        ("attempts_per_op", beyond(&run.attempts_per_op)),
        ("failures", beyond(&run.failures)),
        ("statuses", beyond(&run.statuses)),
        ("attempt_latency_bars", run.attempt_latency_bars.iter().find_map(|bar| beyond(&bar.attempts))),
        ("given_up_after", beyond(&run.given_up_after)),
        ("advice", beyond(&run.advice)),
        ("fairness", beyond(&run.fairness)),
        ("generator", beyond(&run.generator)),
        ("server", beyond(&run.server)),
    ];
    places.into_iter().find_map(|(place, count)| Some((place, count?)))
}

pub(crate) fn beyond(counts: &impl Serialize) -> Option<u64> {
    fn within(value: &Value) -> Option<u64> {
        match value {
            Value::Number(number) => number.as_u64().filter(|count| *count > MOST),
            Value::Array(list) => list.iter().find_map(within),
            Value::Object(object) => object.values().find_map(within),
            Value::Null | Value::Bool(_) | Value::String(_) => None,
        }
    }
    serde_json::to_value(counts).ok().as_ref().and_then(within)
}

pub(crate) fn words(count: u64) -> String {
    format!("{count} is larger than any possible count")
}
