//! Plots of gauges that strategies report under their own names, such as tokens. There is one plot per name, with one
//! line per strategy.

use results::GaugeColumn;

use super::{capitalised, drawn, note};
use crate::report::{Axis, Document, Plot, Series};

/// Maximum number of gauge plots, because a result file may name any number of gauges.
const MOST: usize = 12;

pub(super) fn gauges(document: &Document) -> impl Iterator<Item = Plot> {
    let mut met: Vec<&GaugeColumn> = Vec::new();
    for gauge in drawn(document).flat_map(|(_, strategy)| &strategy.median().gauges) {
        if met.len() < MOST && !met.iter().any(|other| is_alike(gauge, other)) {
            met.push(gauge);
        }
    }
    met.into_iter().filter_map(|gauge| plot(document, gauge))
}

fn plot(document: &Document, kind: &GaugeColumn) -> Option<Plot> {
    let series = drawn(document).filter_map(|(look, strategy)| {
        let run = strategy.median();
        let gauge = run.gauges.iter().find(|gauge| is_alike(gauge, kind))?;
        let points = run.series.iter().zip(&gauge.values);
        let points = points.map(|(point, value)| (point.t_s, value.unwrap_or(f64::NAN)));
        Some(Series::line(&strategy.label, look, points.collect()))
    });
    let label = match kind.unit.as_str() {
        "" => kind.name.clone(),
        unit => format!("{} ({unit})", kind.name),
    };
    let title = format!("{} over time", capitalised(&kind.name));
    Plot::new(title, Axis::time(), Axis::linear(&label, ""), series, note(document))
}

fn is_alike(one: &GaugeColumn, other: &GaugeColumn) -> bool {
    one.name == other.name && one.unit == other.unit
}
