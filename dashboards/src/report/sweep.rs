//! Output of `loadgen sweep`: cells like those of a scenario, the varied settings, and the best strategy of every
//! situation (combination of values of the varied flags).

use results::{Cell, Figure, SweepCell, Swept, WrittenSweep};

use super::Scenario;

/// Names of the figures of a sweep that reports show. Reports keep no other figures, because these can be computed from
/// the listed figures or are in the result file.
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

const STATISTICS: [&str; 6] = ["count", "mean", "sd", "p5", "p50", "p95"];

pub(super) fn scenario(mut swept: Swept, mut written_sweep: WrittenSweep) -> Scenario {
    let keys: Vec<&str> = swept.axes.iter().map(|axis| axis.key.as_str()).collect();
    // The number of ops done needs no plot if every strategy does all ops. It is kept even then if the sweep varies the
    // in-flight limit or the duration. The sweep then examines how many ops are done.
    let closed = keys.iter().any(|key| ["in-flight", "duration"].contains(key));
    let title = format!("Sweep of {}", keys.join(" and "));
    let all_complete = swept.cells.iter().all(|cell| cell.complete);
    for (cell, written) in swept.cells.iter_mut().zip(&mut written_sweep.cells) {
        let complete = cell.complete;
        let is_drawn = |path: &str| {
            let of_complete = Figure::find(path).is_some_and(|figure| figure.of_complete_runs_only);
            FIGURES.contains(&path)
                && (complete || !of_complete)
                && (closed || !all_complete || path != "ops.succeeded")
        };
        cell.figures.retain(|path, _| is_drawn(path));
        if let Some(figures) = &mut written.figures {
            figures.retain(|path, _| is_drawn(path));
            for figure in figures.values_mut().flatten() {
                figure.retain(|statistic, _| STATISTICS.contains(&statistic.as_str()));
            }
        }
    }
    let cell = |SweepCell { experiment, label, strategy, at, figures, .. }| Cell {
        experiment,
        label,
        strategy,
        at,
        figures,
    };
    Scenario {
        name: "sweep".to_owned(),
        title,
        cells: std::mem::take(&mut swept.cells).into_iter().map(cell).collect(),
        sweep: Some(swept),
        written_sweep,
        ..Scenario::default()
    }
}
