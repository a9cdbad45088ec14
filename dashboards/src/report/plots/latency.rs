//! Plot of the latency of ops, from their arrival to their success.

use super::{drawn, incomplete};
use crate::report::{Axis, Document, Plot, Scale, Series, Strategy};
use statistics::percentile;

pub(in crate::report) fn percentiles(document: &Document) -> Vec<Plot> {
    let x = Axis { scale: Scale::Nines, ..Axis::linear("share of ops", "") };
    let series = drawn(document).map(|(look, strategy)| Series {
        band: band(strategy),
        ..Series::line(&strategy.label, look, curve(strategy))
    });
    let y = Axis::linear("op latency", "s");
    Plot::new("Op latency by percentile", x, y, series, note(document)).into_iter().collect()
}

pub(in crate::report) fn cumulative(document: &Document) -> Vec<Plot> {
    let turned =
        |strategy: &Strategy| curve(strategy).into_iter().map(|(share, s)| (s, share * 100.0)).collect();
    let series =
        drawn(document).map(|(look, strategy)| Series::line(&strategy.label, look, turned(strategy)));
    let title = "Ops done within a time of their arrival";
    let (x, y) = (Axis::linear("op latency", "s"), Axis::linear("share of all ops", "%"));
    Plot::new(title, x, y, series, note(document)).into_iter().collect()
}

/// Returns the latency curve of the median run, in seconds. Ops that did not succeed have no finite latency, so the
/// curve ends before them.
fn curve(strategy: &Strategy) -> Vec<(f64, f64)> {
    let run = strategy.median();
    run.op_latency_ms.iter().map(|(share, ms)| (share * succeeded(strategy), ms / 1e3)).collect()
}

fn succeeded(strategy: &Strategy) -> f64 {
    let ops = &strategy.median().result.ops;
    ops.succeeded as f64 / ops.share_base().max(1) as f64
}

/// Returns the range from the 5th to the 95th percentile of a latency over all runs of a strategy. There is one range
/// for each share of ops at which the median run's curve has a point. Empty for fewer than 5 runs.
fn band(strategy: &Strategy) -> Vec<(f64, f64, f64)> {
    if strategy.runs.len() < 5 {
        return Vec::new();
    }
    let at = |(share, _): &(f64, f64)| {
        let values = strategy.values(|run| run.latency_ms(*share));
        Some((
            share * succeeded(strategy),
            percentile(&values, 0.05)? / 1e3,
            percentile(&values, 0.95)? / 1e3,
        ))
    };
    strategy.median().op_latency_ms.iter().filter_map(at).collect()
}

fn note(document: &Document) -> String {
    let mut parts = vec!["from an op's arrival to its success".to_owned()];
    let left = incomplete(document);
    if !left.is_empty() {
        parts.push(format!("the curve ends at the share of ops that succeeded: {}", left.join(", ")));
    }
    let shared = super::note(document);
    if !shared.is_empty() {
        parts.push(shared);
    }
    parts.join("; ")
}
