//! What `loadgen sweep` writes: cells like a scenario's, what was varied, and what is best in which situation.

use serde_json::{Value, json};

use super::experiment::{Scenario, Sweep};
use super::reading::{Wrong, each, list, look, text};

/// What is drawn and told of a sweep: the rest follows from it, or is in the result file.
const FIGURES: [&str; 13] = [
    "makespan_s",
    "attempts.total",
    "amplification",
    "efficiency",
    "goodput_per_s",
    "ops.succeeded",
    "op_latency_ms.p50",
    "op_latency_ms.p99",
    "wasted_server_s",
    "window.variation",
    "window.overshoot",
    "late_share",
    "fairness.jain",
];

/// What who leaves ops undone is too good in.
const OF_COMPLETE: [&str; 4] = ["makespan_s", "goodput_per_s", "op_latency_ms.p50", "op_latency_ms.p99"];

/// Who is best in a situation; none for a tie. Earlier versions wrote the best of the sweep only.
fn winner(best: &Value) -> Option<String> {
    let named = best.get("winner").or_else(|| best.get("strategy"));
    named.and_then(Value::as_str).map(ToOwned::to_owned)
}

/// Reads a sweep as a scenario without claims.
pub(super) fn read(raw: &Value) -> Result<Scenario, Wrong> {
    let keys = each(raw, "axes", |axis| text(axis, "key"))?;
    let best = list(raw, "best")?;
    let optional =
        |value: &Value, key| look(value, key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let words = |best: &Value| -> Vec<String> {
        let pairs = look(best, "pairs").and_then(Value::as_array).into_iter().flatten();
        let all = [optional(best, "words")].into_iter().chain(pairs.map(|pair| optional(pair, "words")));
        all.filter(|words| !words.is_empty()).collect()
    };
    let lean = lean(raw, &keys)?;
    let of_cells = json!({
        "name": "sweep", "title": format!("Sweep of {}", keys.join(" and ")), "claims": [], "cells": lean["cells"],
    });
    let mut scenario = Scenario::read(&of_cells)?;
    if scenario.cells.is_empty() {
        return Err(Wrong::new("cells", "is empty: no point was complete"));
    }
    scenario.sweep = Some(Sweep {
        keys: keys.iter().map(|key| key.replace('-', "_")).collect(),
        by: optional(raw, "by_name"),
        winners: best.iter().filter_map(winner).collect(),
        undecided: best.iter().filter(|best| winner(best).is_none()).count(),
        best: best.iter().flat_map(words).collect(),
    });
    scenario.raw = lean;
    Ok(scenario)
}

/// The same with the figures that are drawn only, so that a page stays small.
fn lean(raw: &Value, keys: &[String]) -> Result<Value, Wrong> {
    const STATISTICS: [&str; 6] = ["count", "mean", "sd", "p5", "p50", "p95"];
    let mut lean = raw.clone();
    // That everybody does all there is to do needs no picture, unless that is the question.
    let closed = keys.iter().any(|key| ["in-flight", "duration"].contains(&key.as_str()));
    let all_complete =
        list(raw, "cells")?.iter().all(|cell| look(cell, "complete") != Some(&Value::Bool(false)));
    // Whatever is no list of objects is found when it is read.
    list(raw, "cells")?;
    for cell in lean["cells"].as_array_mut().into_iter().flatten() {
        let complete = look(cell, "complete").and_then(Value::as_bool).unwrap_or(true);
        let Some(figures) = cell.get_mut("figures").and_then(Value::as_object_mut) else { continue };
        figures.retain(|path, _| {
            FIGURES.contains(&path.as_str())
                && (complete || !OF_COMPLETE.contains(&path.as_str()))
                && (closed || !all_complete || path != "ops.succeeded")
        });
        for figure in figures.values_mut().filter_map(Value::as_object_mut) {
            figure.retain(|statistic, _| STATISTICS.contains(&statistic.as_str()));
        }
    }
    Ok(lean)
}
