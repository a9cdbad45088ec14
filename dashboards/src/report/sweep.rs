//! What `loadgen sweep` writes: cells like a scenario's, what was varied, and what is best in which situation.

use results::{Best, Figure, SweepCell, Swept};
use serde_json::Value;

use super::cell::Cell;
use super::experiment::{Scenario, Sweep};

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

/// A sweep as a scenario without claims.
pub(super) fn scenario(swept: Swept) -> Scenario {
    let keys: Vec<String> = swept.axes.iter().map(|axis| axis.key.clone()).collect();
    let lean = lean(swept);
    let cell =
        |cell: &SweepCell| Cell::of(&cell.experiment, &cell.label, &cell.strategy, &cell.at, &cell.figures);
    let words = |best: &Best| {
        let pairs = best.pairs.iter().map(|pair| pair.words.clone());
        std::iter::once(best.words.clone()).chain(pairs).filter(|words| !words.is_empty()).collect::<Vec<_>>()
    };
    Scenario {
        name: "sweep".to_owned(),
        title: format!("Sweep of {}", keys.join(" and ")),
        cells: lean.cells.iter().map(cell).collect(),
        sweep: Some(Sweep {
            keys: keys.iter().map(|key| key.replace('-', "_")).collect(),
            by: lean.by_name.clone(),
            winners: lean.best.iter().filter_map(|best| best.winner().map(ToOwned::to_owned)).collect(),
            undecided: lean.best.iter().filter(|best| best.winner().is_none()).count(),
            best: lean.best.iter().flat_map(words).collect(),
        }),
        raw: written(&lean),
        ..Scenario::default()
    }
}

/// The same with the figures that are drawn only, so that a page stays small.
fn lean(mut swept: Swept) -> Swept {
    // That everybody does all there is to do needs no picture, unless that is the question.
    let closed = swept.axes.iter().any(|axis| ["in-flight", "duration"].contains(&axis.key.as_str()));
    let all_complete = swept.cells.iter().all(|cell| cell.complete);
    for cell in &mut swept.cells {
        let complete = cell.complete;
        cell.figures.retain(|path, _| {
            let of_complete = Figure::find(path).is_some_and(|figure| figure.of_complete_runs_only);
            FIGURES.contains(&path.as_str())
                && (complete || !of_complete)
                && (closed || !all_complete || path != "ops.succeeded")
        });
    }
    swept
}

/// As it is written, of every figure what is drawn of it.
fn written(swept: &Swept) -> Value {
    const STATISTICS: [&str; 6] = ["count", "mean", "sd", "p5", "p50", "p95"];
    let mut written = results::sorted(swept).unwrap_or_default();
    for cell in written["cells"].as_array_mut().into_iter().flatten() {
        let figures = cell["figures"].as_object_mut().into_iter().flatten();
        for figure in figures.filter_map(|(_, figure)| figure.as_object_mut()) {
            figure.retain(|statistic, _| STATISTICS.contains(&statistic.as_str()));
        }
    }
    written
}
