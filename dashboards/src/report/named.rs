//! Lookup of plots by name. There are two kinds of plots: those in the registry, which show the whole document, and
//! those that a scenario requests.

use super::scenario_plot::ScenarioPlot;
use super::{Document, Entry, Plot};

pub(super) fn plots_for(exhibit: &ScenarioPlot) -> Vec<Plot> {
    let Some(entry) = Entry::named(&exhibit.plot.draw) else { return Vec::new() };
    let mut plots = (entry.draw)(&exhibit.shown);
    for plot in &mut plots {
        exhibit.adjust(plot);
    }
    if let [only] = plots.as_mut_slice() {
        only.title.clone_from(&exhibit.plot.title);
    }
    plots
}

pub(super) fn drawn(entry: &Entry, document: &Document) -> Vec<Plot> {
    (entry.draw)(document).into_iter().map(in_fitting_unit).collect()
}

pub fn plots_named(document: &Document, name: &str) -> Vec<Plot> {
    let mut plots = Entry::named(name).map(|entry| drawn(entry, document)).unwrap_or_default();
    for exhibit in document.exhibits() {
        if exhibit.plot.name == name || exhibit.plot.draw == name {
            plots.extend(plots_for(exhibit));
        }
    }
    plots
}

pub fn exhibit_names(document: &Document) -> impl Iterator<Item = &str> {
    document.exhibits().map(|exhibit| exhibit.plot.name.as_str())
}

/// Units of the time axis, as (minimum length of the axis, length of the unit, name). Both lengths are in seconds. On
/// an axis in days, ticks are at midnight.
const UNITS: [(f64, f64, &str); 3] =
    [(172_800.0, 86_400.0, "d"), (36_000.0, 3600.0, "h"), (3600.0, 60.0, "min")];

pub(super) fn in_fitting_unit(mut plot: Plot) -> Plot {
    if plot.x.label != "time" || plot.x.unit != "s" {
        return plot;
    }
    let longest = plot.points().map(|(x, _)| *x).fold(plot.x.reaches, f64::max);
    let Some((_, seconds, name)) = UNITS.into_iter().find(|(from, ..)| longest >= *from) else { return plot };
    plot.x.unit = name;
    plot.x.reaches /= seconds;
    plot.series.iter_mut().for_each(|series| series.convert(seconds, 1.0));
    plot
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::plot::{Axis, Series};

    fn until(end_s: f64, x: Axis) -> (&'static str, f64) {
        let line =
            Series { band: vec![(end_s, 0.0, 1.0)], ..Series::line("a", 0, vec![(0.0, 1.0), (end_s, 2.0)]) };
        let plot = in_fitting_unit(Plot { x, series: vec![line], ..Plot::default() });
        let end = plot.series[0].points[1].0;
        assert!((end - plot.series[0].band[0].0).abs() < 1e-9, "bands go with their lines");
        (plot.x.unit, end)
    }

    #[test]
    fn an_hour_is_shown_in_minutes_and_three_days_in_days() {
        let time = || Axis::linear("time", "s");
        assert_eq!(until(3599.0, time()), ("s", 3599.0));
        assert_eq!(until(3600.0, time()), ("min", 60.0));
        assert_eq!(until(72_000.0, time()), ("h", 20.0));
        assert_eq!(until(259_200.0, time()), ("d", 3.0));
        assert_eq!(until(259_200.0, Axis::linear("op latency", "s")), ("s", 259_200.0));
    }
}
