//! Plot of attempts against makespan, which shows the cost of speed. A point below and to the left of another is
//! better.

use super::drawn;
use crate::report::document::Document;
use crate::report::palette::CAP;
use crate::report::plot::{Axis, Plot, Series, Shape};
use crate::report::run::Run;
use crate::report::strategy::Strategy;

pub(in crate::report) fn pareto(document: &Document) -> Vec<Plot> {
    let mut series: Vec<Series> = drawn(document)
        .filter(|(_, strategy)| strategy.complete())
        .map(|(look, strategy)| Series {
            shape: Shape::Marks,
            ..Series::line(&strategy.label, look, points(strategy))
        })
        .collect();
    if series.is_empty() || document.strategies.iter().map(|strategy| strategy.runs.len()).sum::<usize>() < 2
    {
        return Vec::new();
    }
    if let Some(bound) = bound(document) {
        let label = "lower bound: no run is further left or below";
        series.push(Series { shape: Shape::Marks, ..Series::line(label, CAP, vec![bound]) });
    }
    let left: Vec<&str> = drawn(document)
        .filter(|(_, strategy)| !strategy.complete())
        .map(|(_, strategy)| strategy.label.as_str())
        .collect();
    let note = match left.as_slice() {
        [] => String::new(),
        left => format!("not drawn, because not every op succeeded: {}", left.join(", ")),
    };
    let (x, y) = (Axis::linear("makespan", "s"), Axis::logarithmic("attempts", ""));
    Plot { title: "Attempts against makespan".to_owned(), x, y, series, note }.if_any().into_iter().collect()
}

/// Returns the point of the strategy's median run, followed by the points of all its runs.
fn points(strategy: &Strategy) -> Vec<(f64, f64)> {
    let point = |run: &Run| run.makespan_s.map(|makespan| (makespan, run.attempts));
    std::iter::once(strategy.median()).chain(&strategy.runs).filter_map(point).collect()
}

/// Returns the lower bound as a point of the plot: (makespan in seconds, number of attempts). The makespan is the
/// smallest lower bound of all runs. The number of attempts is one per op. `None` unless all runs have a lower bound
/// and the same number of ops.
fn bound(document: &Document) -> Option<(f64, f64)> {
    let runs = || document.strategies.iter().flat_map(|strategy| &strategy.runs);
    let ops = runs().next()?.ops;
    let bounds: Option<Vec<f64>> = runs().map(|run| run.optimal_s.filter(|_| run.ops == ops)).collect();
    let least = bounds?.into_iter().min_by(f64::total_cmp)?;
    Some((least, ops as f64))
}
