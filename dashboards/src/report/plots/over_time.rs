//! What happened when: rates and progress of the strategies over each other.

use super::{drawn, note};
use crate::report::document::Document;
use crate::report::palette::{ACCEPTED, REJECTED};
use crate::report::plot::{Axis, Figure, Series};
use crate::report::resample::{Course, Grid};
use crate::report::run::Point;
use crate::report::strategy::Strategy;

/// Attempts sent per second.
pub(in crate::report) fn rate(document: &Document) -> Vec<Figure> {
    let sent = |grid: Grid, strategy: &Strategy| grid.rates(strategy, |point| point.sent);
    without_stalled(document, overlay(document, "Attempts sent per second", per_second(), sent))
}

/// The same, logarithmic.
pub(in crate::report) fn rate_log(document: &Document) -> Vec<Figure> {
    let y = Axis::logarithmic("attempts per second", "");
    let title = "Attempts sent per second, logarithmic";
    let mut figures = overlay(document, title, y, |grid, strategy| grid.rates(strategy, |point| point.sent));
    // Nothing sent has no place on a logarithmic axis.
    let least = Grid::of(drawn(document).map(|(_, strategy)| strategy)).single() / 10.0;
    for series in figures.iter_mut().flat_map(|figure| &mut figure.series) {
        for (_, rate) in &mut series.points {
            *rate = if *rate >= least { *rate } else { f64::NAN };
        }
        // Nothing is left of a band where there is nothing, and its parts stay apart.
        for (_, low, high) in &mut series.band {
            (*low, *high) = (low.max(least), high.max(least));
        }
    }
    figures
}

/// Accepted and rejected: together for one strategy, apart for several.
pub(in crate::report) fn outcomes(document: &Document) -> Vec<Figure> {
    let accepted: fn(&Point) -> f64 = |point| point.succeeded;
    let rejected: fn(&Point) -> f64 = |point| point.rejected;
    if let [strategy] = document.strategies.as_slice() {
        let grid = Grid::of(document.strategies.iter());
        let series = [
            ("accepted", ACCEPTED, grid.rates(strategy, accepted)),
            ("rejected", REJECTED, grid.rates(strategy, rejected)),
        ];
        let series = series.into_iter().map(|(label, look, course)| line(label, look, course)).collect();
        let title = "Accepted and rejected per second".to_owned();
        let note = with_smoothing(&note(document), grid);
        return Figure { title, x: time(), y: per_second(), series, note }.if_any().into_iter().collect();
    }
    let of = |count: fn(&Point) -> f64| move |grid: Grid, strategy: &Strategy| grid.rates(strategy, count);
    let mut figures = overlay(document, "Accepted per second", per_second(), of(accepted));
    let refused = overlay(document, "Rejected per second", per_second(), of(rejected));
    figures.extend(without_stalled(document, refused));
    figures
}

/// The figures without strategies that stalled, if there are others: whoever does nothing but be rejected would press the
/// rest flat.
fn without_stalled(document: &Document, mut figures: Vec<Figure>) -> Vec<Figure> {
    let (stalled, others): (Vec<&Strategy>, Vec<&Strategy>) =
        drawn(document).map(|(_, strategy)| strategy).partition(|strategy| strategy.stalled());
    if stalled.is_empty() || others.is_empty() {
        return figures;
    }
    let names: Vec<&str> = stalled.iter().map(|strategy| strategy.label.as_str()).collect();
    for figure in &mut figures {
        figure.series.retain(|series| !names.contains(&series.label.as_str()));
        let left = format!("not drawn, because it stalled: {}", names.join(", "));
        figure.note = if figure.note.is_empty() { left } else { format!("{left}; {}", figure.note) };
    }
    figures
}

/// Ops done so far.
pub(in crate::report) fn done(document: &Document) -> Vec<Figure> {
    let grid = Grid::of(drawn(document).map(|(_, strategy)| strategy));
    let one = |(look, strategy): (usize, &Strategy)| {
        let mut course = grid.totals(strategy, |point| point.succeeded);
        course.points.insert(0, (0.0, 0.0));
        line(&strategy.label, look, course)
    };
    let (series, y) = (drawn(document).map(one).collect(), Axis::linear("ops done", ""));
    Figure { title: "Ops done".to_owned(), x: time(), y, series, note: note(document) }
        .if_any()
        .into_iter()
        .collect()
}

/// Rates of all strategies over each other.
fn overlay(
    document: &Document,
    title: &str,
    y: Axis,
    course: impl Fn(Grid, &Strategy) -> Course,
) -> Vec<Figure> {
    let grid = Grid::of(drawn(document).map(|(_, strategy)| strategy));
    let series =
        drawn(document).map(|(look, strategy)| line(&strategy.label, look, course(grid, strategy))).collect();
    let note = with_smoothing(&note(document), grid);
    Figure { title: title.to_owned(), x: time(), y, series, note }.if_any().into_iter().collect()
}

fn with_smoothing(note: &str, grid: Grid) -> String {
    if note.is_empty() { grid.smoothing() } else { format!("{note}; {}", grid.smoothing()) }
}

fn per_second() -> Axis {
    Axis::linear("attempts per second", "")
}

fn time() -> Axis {
    Axis::linear("time", "s")
}

fn line(label: &str, look: usize, course: Course) -> Series {
    Series { band: course.band, ..Series::line(label, look, course.points) }
}
