//! Bar plots of the figures that a scenario selected, with the strategies side by side. Bars show the mean and the
//! spread over seeds.

use results::DrawnColumn;

use crate::report::cell::Cell;
use crate::report::document::Document;
use crate::report::experiment::Scenario;
use crate::report::plot::{Axis, Plot, Series, Shape};

pub(in crate::report) fn summary(document: &Document) -> Vec<Plot> {
    document.scenarios.iter().filter_map(of).collect()
}

fn of(scenario: &Scenario) -> Option<Plot> {
    let names = scenario.cells.iter().map(|cell| cell.label.clone()).collect();
    let series = scenario.columns.iter().enumerate().map(|(look, column)| Series {
        shape: Shape::Bars,
        band: over(&scenario.cells, |cell| {
            let seeds = cell.value(column)?;
            (seeds.p95 > seeds.p5).then_some((seeds.p5, seeds.p95))
        })
        .map(|(at, (low, high))| (at, low, high))
        .collect(),
        ..Series::line(
            &column.title,
            look,
            over(&scenario.cells, |cell| Some(cell.value(column)?.mean)).collect(),
        )
    });
    let series: Vec<Series> = series.collect();
    let title = scenario.columns.iter().map(|column| column.title.as_str()).collect::<Vec<_>>().join(", ");
    let spread = series.iter().any(|series| !series.band.is_empty());
    let note =
        if spread { "mean, and 5th to 95th percentile of the seeds" } else { "mean over seeds" }.to_owned();
    let y = match scenario.columns.as_slice() {
        [only] => axis(only),
        _ => Axis::default(),
    };
    Plot { title, x: Axis::of_names("", names), y, series, note }.if_any()
}

fn over<'a, T>(cells: &'a [Cell], of: impl Fn(&'a Cell) -> Option<T>) -> impl Iterator<Item = (f64, T)> {
    cells.iter().enumerate().filter_map(move |(index, cell)| Some((index as f64, of(cell)?)))
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
