//! Event plot of the times at which calls were sent. A cluster of calls appears as a dark column, and evenly spread
//! calls appear as grey.

use super::drawn;
use crate::report::{Axis, Document, Plot, Series, Shape};

/// Draws one plot of call times per strategy, because the runs of the strategies differ in length.
pub(in crate::report) fn calls(document: &Document) -> Vec<Plot> {
    drawn(document)
        .filter_map(|(look, strategy)| {
            let run = strategy.median();
            let calls = run.recorded.as_ref()?.calls.as_ref()?;
            let sent: Vec<_> = calls.t_s.iter().copied().zip(calls.op.iter().map(|op| *op as f64)).collect();
            let kept = match calls.every {
                0 | 1 => format!("each of the {} calls is one stroke, seed {}", sent.len(), run.result.seed),
                every => {
                    format!("only calls of every {every}th op, one stroke for each, seed {}", run.result.seed)
                }
            };
            let series = Series { shape: Shape::Events, ..Series::line(&strategy.label, look, sent) };
            let title = format!("When calls came: {}", strategy.label);
            Plot::new(title, Axis::time(), Axis::linear("op", ""), [series], kept)
        })
        .collect()
}
