//! Plot of the delay before the first, second and further retries of an op, with one line per strategy.

use results::Wait;

use super::drawn;
use crate::report::{Axis, Document, Plot, Series, Strategy};

pub(in crate::report) fn delays(document: &Document) -> Vec<Plot> {
    let series: Vec<Series> = drawn(document).map(|(look, strategy)| of(look, strategy)).collect();
    let seed = document.strategies.first().map(|strategy| strategy.median().result.seed);
    let mut note = "mean".to_owned();
    if series.iter().any(|series| !series.band.is_empty()) {
        note.push_str(", and 5th to 95th percentile of the delays");
    }
    if let Some(seed) = seed {
        note = format!("{note}; seed {seed}");
    }
    let (x, y) = (Axis::linear("retry", ""), Axis::linear("delay", "s"));
    Plot::new("Delay before a retry", x, y, series, note).into_iter().collect()
}

fn of(look: usize, strategy: &Strategy) -> Series {
    let waits = || strategy.median().recorded.iter().flat_map(|run| run.waits.iter().flatten());
    let ends = |wait: &Wait| [wait.p5_s, wait.p95_s].map(|end| end.unwrap_or(wait.mean_s));
    let band = waits().map(|wait| {
        let [low, high] = ends(wait);
        (wait.retry as f64, low, high)
    });
    let has_spread = band.clone().any(|(_, low, high)| high > low);
    Series {
        band: band.filter(|_| has_spread).collect(),
        ..Series::line(&strategy.label, look, waits().map(|wait| (wait.retry as f64, wait.mean_s)).collect())
    }
}
