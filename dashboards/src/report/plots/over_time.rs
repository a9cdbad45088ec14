//! Plots of rates and progress over time, with all strategies in one plot.

use super::{drawn, note};
use crate::report::document::Document;
use crate::report::palette::{ACCEPTED, REJECTED};
use crate::report::plot::{Axis, Plot, Series};
use crate::report::resample::{Grid, ResampledSeries};
use crate::report::run::Point;
use crate::report::strategy::Strategy;

pub(in crate::report) fn rate(document: &Document) -> Vec<Plot> {
    let sent = |grid: Grid, strategy: &Strategy| grid.rates(strategy, |point| point.sent);
    without_stalled(document, overlay(document, "Attempts sent per second", per_second(), sent))
}

pub(in crate::report) fn rate_log(document: &Document) -> Vec<Plot> {
    let y = Axis::logarithmic("attempts per second", "");
    let title = "Attempts sent per second, logarithmic";
    let mut plots = overlay(document, title, y, |grid, strategy| grid.rates(strategy, |point| point.sent));
    // Rates that are too low for a single event count as zero. They become gaps, because a rate of zero has no position
    // on a logarithmic axis.
    let least = Grid::new(drawn(document).map(|(_, strategy)| strategy)).single() / 10.0;
    for series in plots.iter_mut().flat_map(|plot| &mut plot.series) {
        for (_, rate) in &mut series.points {
            *rate = if *rate >= least { *rate } else { f64::NAN };
        }
        // Both edges of the band are raised to the lowest rate that is drawn. So the band has no height at times
        // without attempts, and its visible parts stay separate.
        for (_, low, high) in &mut series.band {
            (*low, *high) = (low.max(least), high.max(least));
        }
    }
    plots
}

/// Draws the accepted and the rejected attempts of a single strategy. For several strategies, draws only the accepted
/// attempts. The rejected ones are left out, because they are the difference between sent and accepted attempts.
pub(in crate::report) fn outcomes(document: &Document) -> Vec<Plot> {
    let accepted: fn(&Point) -> f64 = |point| point.succeeded;
    let rejected: fn(&Point) -> f64 = |point| point.rejected;
    if let [strategy] = document.strategies.as_slice() {
        let grid = Grid::new(document.strategies.iter());
        let series = [
            ("accepted", ACCEPTED, grid.rates(strategy, accepted)),
            ("rejected", REJECTED, grid.rates(strategy, rejected)),
        ];
        let series = series.into_iter().map(|(label, look, course)| line(label, look, course)).collect();
        let title = "Accepted and rejected per second".to_owned();
        let note = with_smoothing(&note(document), grid);
        return Plot { title, x: time(), y: per_second(), series, note }.if_any().into_iter().collect();
    }
    overlay(document, "Accepted per second", per_second(), |grid, strategy| grid.rates(strategy, accepted))
}

/// Removes stalled strategies from the plots, if there are other strategies. A stalled strategy makes no progress, for
/// example because all its attempts are rejected. It would compress the curves of the others.
fn without_stalled(document: &Document, mut plots: Vec<Plot>) -> Vec<Plot> {
    let (stalled, others): (Vec<&Strategy>, Vec<&Strategy>) =
        drawn(document).map(|(_, strategy)| strategy).partition(|strategy| strategy.stalled());
    if stalled.is_empty() || others.is_empty() {
        return plots;
    }
    let names: Vec<&str> = stalled.iter().map(|strategy| strategy.label.as_str()).collect();
    for plot in &mut plots {
        plot.series.retain(|series| !names.contains(&series.label.as_str()));
        let left = format!("not drawn, because it stalled: {}", names.join(", "));
        plot.note = if plot.note.is_empty() { left } else { format!("{left}; {}", plot.note) };
    }
    plots
}

pub(in crate::report) fn done(document: &Document) -> Vec<Plot> {
    let grid = Grid::new(drawn(document).map(|(_, strategy)| strategy));
    let one = |(look, strategy): (usize, &Strategy)| {
        let mut course = grid.totals(strategy, |point| point.succeeded);
        course.points.insert(0, (0.0, 0.0));
        line(&strategy.label, look, course)
    };
    let (series, y) = (drawn(document).map(one).collect(), Axis::linear("ops done", ""));
    Plot { title: "Ops done".to_owned(), x: time(), y, series, note: note(document) }
        .if_any()
        .into_iter()
        .collect()
}

fn overlay(
    document: &Document,
    title: &str,
    y: Axis,
    course: impl Fn(Grid, &Strategy) -> ResampledSeries,
) -> Vec<Plot> {
    let grid = Grid::new(drawn(document).map(|(_, strategy)| strategy));
    let series =
        drawn(document).map(|(look, strategy)| line(&strategy.label, look, course(grid, strategy))).collect();
    let note = with_smoothing(&note(document), grid);
    Plot { title: title.to_owned(), x: time(), y, series, note }.if_any().into_iter().collect()
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

fn line(label: &str, look: usize, course: ResampledSeries) -> Series {
    Series { band: course.band, ..Series::line(label, look, course.points) }
}
