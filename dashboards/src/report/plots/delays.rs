//! Plot of the delay before the first, second and further retries of an op, with one line per strategy.

use super::drawn;
use crate::report::document::Document;
use crate::report::plot::{Axis, Plot, Series};
use crate::report::strategy::Strategy;

pub(in crate::report) fn delays(document: &Document) -> Vec<Plot> {
    let series: Vec<Series> = drawn(document).map(|(look, strategy)| of(look, strategy)).collect();
    let seed = document.strategies.first().map(|strategy| strategy.median().seed);
    let mut note = "mean".to_owned();
    if series.iter().any(|series| !series.band.is_empty()) {
        note.push_str(", and 5th to 95th percentile of the delays");
    }
    if let Some(seed) = seed {
        note = format!("{note}; seed {seed}");
    }
    let (x, y) = (Axis::linear("retry", ""), Axis::linear("delay", "s"));
    let title = "Delay before a retry".to_owned();
    Plot { title, x, y, series, note }.if_any().into_iter().collect()
}

fn of(look: usize, strategy: &Strategy) -> Series {
    let waits = &strategy.median().recorded.waits;
    let spread = waits.iter().any(|wait| wait.p95_s > wait.p5_s);
    Series {
        band: waits.iter().filter(|_| spread).map(|wait| (wait.retry, wait.p5_s, wait.p95_s)).collect(),
        ..Series::line(&strategy.label, look, waits.iter().map(|wait| (wait.retry, wait.mean_s)).collect())
    }
}
