//! Bar plots of the figures that a scenario selected, with the strategies side by side. Bars show the mean and the
//! spread over seeds.

use results::DrawnColumn;

use crate::report::cell::OverSeeds;
use crate::report::{Axis, Document, Plot, Scenario, Series, Shape};

pub(in crate::report) fn summary(document: &Document) -> Vec<Plot> {
    document.scenarios.iter().filter_map(of).collect()
}

fn of(scenario: &Scenario) -> Option<Plot> {
    let names = scenario.cells.iter().map(|cell| cell.label.clone()).collect();
    let series = scenario.columns.iter().enumerate().map(|(look, column)| {
        let seeds = (0_u32..)
            .zip(&scenario.cells)
            .filter_map(|(at, cell)| Some((f64::from(at), OverSeeds::in_column(cell, column)?)));
        let seeds: Vec<(f64, OverSeeds)> = seeds.collect();
        Series { shape: Shape::Bars, ..OverSeeds::line(&column.title, look, &seeds) }
    });
    let series: Vec<Series> = series.collect();
    let title = scenario.columns.iter().map(|column| column.title.as_str()).collect::<Vec<_>>().join(", ");
    let spread = series.iter().any(|series| !series.band.is_empty());
    let note = if spread { "mean, and 5th to 95th percentile of the seeds" } else { "mean over seeds" };
    let y = match scenario.columns.as_slice() {
        [only] => axis(only),
        _ => Axis::default(),
    };
    Plot::new(title, Axis::of_names("", names), y, series, note)
}

/// Returns the axis for a column. If the column's title ends with a unit of time (`s` or `ms`), that unit becomes the
/// axis' unit.
pub(super) fn axis(column: &DrawnColumn) -> Axis {
    let unit = [(" ms", "ms"), (" s", "s")].into_iter().find(|(end, _)| column.title.ends_with(end));
    match unit {
        Some((end, unit)) => Axis::linear(column.title.trim_end_matches(end), unit),
        None => Axis::linear(&column.title, ""),
    }
}
