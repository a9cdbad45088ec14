//! Plots of gauges that strategies report under their own names, such as tokens. There is one plot per name, with one
//! line per strategy.

use super::{capitalised, drawn, note};
use crate::report::document::Document;
use crate::report::plot::{Axis, Plot, Series};
use crate::report::run::{Gauge, Run};

/// Maximum number of gauge plots, because a result file may name any number of gauges.
const MOST: usize = 12;

pub(super) fn gauges(document: &Document) -> impl Iterator<Item = Plot> {
    let mut met: Vec<&Gauge> = Vec::new();
    for gauge in drawn(document).flat_map(|(_, strategy)| &strategy.median().gauges) {
        if met.len() < MOST
            && met.iter().all(|other| (&other.name, &other.unit) != (&gauge.name, &gauge.unit))
        {
            met.push(gauge);
        }
    }
    met.into_iter().filter_map(|gauge| plot(document, gauge))
}

fn plot(document: &Document, kind: &Gauge) -> Option<Plot> {
    let series = drawn(document).filter_map(|(look, strategy)| {
        let run = strategy.median();
        let alike = |gauge: &&Gauge| (&gauge.name, &gauge.unit) == (&kind.name, &kind.unit);
        let gauge = run.gauges.iter().find(alike)?;
        Some(Series::line(&strategy.label, look, points(run, gauge)))
    });
    let label = match kind.unit.as_str() {
        "" => kind.name.clone(),
        unit => format!("{} ({unit})", kind.name),
    };
    let title = format!("{} over time", capitalised(&kind.name));
    let (x, y) = (Axis::linear("time", "s"), Axis::linear(&label, ""));
    Plot { title, x, y, series: series.collect(), note: note(document) }.if_any()
}

fn points(run: &Run, gauge: &Gauge) -> Vec<(f64, f64)> {
    run.series.iter().zip(&gauge.values).map(|(point, value)| (point.t_s, *value)).collect()
}
