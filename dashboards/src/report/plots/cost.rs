//! Plot of attempts against makespan, which shows the cost of speed. A point below and to the left of another is
//! better.

use super::{drawn, incomplete};
use crate::report::palette::CAP;
use crate::report::{Axis, Document, Plot, Run, Series};

pub(in crate::report) fn pareto(document: &Document) -> Vec<Plot> {
    let mut series: Vec<Series> = drawn(document)
        .filter(|(_, strategy)| strategy.complete())
        .map(|(look, strategy)| {
            let points = strategy.median_and_runs(|run| Some((run.makespan_s()?, run.attempts())));
            Series::marks(&strategy.label, look, points)
        })
        .collect();
    if series.is_empty() || document.strategies.iter().map(|strategy| strategy.runs.len()).sum::<usize>() < 2
    {
        return Vec::new();
    }
    let bound = bound(document).map(|bound| vec![bound]);
    series
        .extend(bound.map(|bound| Series::marks("lower bound: no run is further left or below", CAP, bound)));
    let note = match incomplete(document).as_slice() {
        [] => String::new(),
        left => format!("not drawn, because not every op succeeded: {}", left.join(", ")),
    };
    let (x, y) = (Axis::linear("makespan", "s"), Axis::logarithmic("attempts", ""));
    Plot::new("Attempts against makespan", x, y, series, note).into_iter().collect()
}

/// Returns the lower bound as a point of the plot: (makespan in seconds, number of attempts). The makespan is the
/// smallest lower bound of all runs. The number of attempts is one per op. `None` unless all runs have a lower bound
/// and the same number of ops.
fn bound(document: &Document) -> Option<(f64, f64)> {
    let runs = || document.strategies.iter().flat_map(|strategy| &strategy.runs);
    let ops = runs().next()?.result.ops.share_base();
    let bound = |run: &Run| run.optimal_s().filter(|_| run.result.ops.share_base() == ops);
    let bounds: Option<Vec<f64>> = runs().map(bound).collect();
    let least = bounds?.into_iter().min_by(f64::total_cmp)?;
    Some((least, ops as f64))
}
