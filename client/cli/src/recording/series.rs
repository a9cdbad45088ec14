//! A run in short: what figures need of its result, and its series as columns.

use results::{GaugeColumn, GaugePoint, RunResult, SeriesPoint};
use serde_json::{Map, Value, json};

use super::rounded;

/// The keys of a result that reports read. The configuration is not among them: the scenario says it.
const KEYS: [&str; 12] = [
    "schema_version",
    "mode",
    "strategy",
    "seed",
    "ops",
    "attempts",
    "amplification",
    "efficiency",
    "makespan_s",
    "makespan_complete",
    "optimal_makespan_s",
    "stalled_at_s",
];

/// The result without series and configuration, and the label under which the run is drawn.
pub(super) fn outline(label: &str, result: &RunResult) -> anyhow::Result<Map<String, Value>> {
    let mut run = Map::new();
    run.insert("label".to_owned(), json!(label));
    let mut whole = serde_json::to_value(result)?;
    for key in KEYS.into_iter().chain(["op_latency_ms"]) {
        if let Some(value) = whole.get_mut(key) {
            run.insert(key.to_owned(), value.take());
        }
    }
    Ok(run)
}

/// A list for every key; what was never known is left out.
pub(super) fn columns(series: &[SeriesPoint]) -> Value {
    let step_s = match series {
        [first, second, ..] => second.t_s - first.t_s,
        _ => 0.01,
    };
    let mut columns = Map::new();
    columns.insert("step_s".to_owned(), json!(rounded(step_s)));
    let count = |of: fn(&SeriesPoint) -> u32| json!(series.iter().map(of).collect::<Vec<_>>());
    for (key, counts) in [
        ("sent", count(|point| point.sent)),
        ("succeeded", count(|point| point.succeeded)),
        ("rejected", count(|point| point.rejected)),
    ] {
        columns.insert(key.to_owned(), counts);
    }
    let gauge = |of: fn(&SeriesPoint) -> Option<f64>| -> Vec<Option<f64>> {
        series.iter().map(|point| of(point).map(rounded)).collect()
    };
    for (key, values) in [
        ("in_flight", gauge(|point| point.in_flight)),
        ("window", gauge(|point| point.window)),
        ("ssthresh", gauge(|point| point.ssthresh)),
        ("server_cap", gauge(|point| point.server_cap)),
    ] {
        if values.iter().any(Option::is_some) {
            columns.insert(key.to_owned(), json!(values));
        }
    }
    let drawn = drawn(series);
    if !drawn.is_empty() {
        columns.insert("gauges".to_owned(), json!(drawn));
    }
    Value::Object(columns)
}

/// What the strategy has drawn under names of its own.
fn drawn(series: &[SeriesPoint]) -> Vec<GaugeColumn> {
    let kinds = series.first().map_or(&[][..], |first| &first.gauges);
    let values = |index: usize| {
        let value = |point: &SeriesPoint| point.gauges.get(index)?.value.map(rounded);
        series.iter().map(value).collect()
    };
    let column = |(index, kind): (usize, &GaugePoint)| GaugeColumn {
        name: kind.name.clone(),
        unit: kind.unit.clone(),
        values: values(index),
    };
    kinds.iter().enumerate().map(column).collect()
}
