//! Plots of a limiter over time: its window, its threshold and the attempts in flight, compared with the server's true
//! cap. There is one plot per strategy, and all plots have the same axes.

use super::drawn;
use super::gauges::gauges;
use crate::report::palette::{CAP, IN_FLIGHT, SSTHRESH, WINDOW};
use crate::report::run::Point;
use crate::report::{Axis, Document, Plot, Run, Scale, Series, number};

/// Maximum number of window plots. Readers do not look at more of them.
const MOST: usize = 6;

/// Maximum number of points of a line. A line with more points would be a blur. Instead, its mean and its range are
/// drawn for each of `PARTS` intervals.
const MAX_MOVES: usize = 320;
const PARTS: usize = 100;

/// Ratio between the highest values of the highest and of the lowest plot above which the axis of attempts is
/// logarithmic.
const FAR_APART: f64 = 20.0;

pub(in crate::report) fn window(document: &Document) -> Vec<Plot> {
    windows(document).into_iter().chain(gauges(document)).collect()
}

pub(in crate::report) fn windows(document: &Document) -> Vec<Plot> {
    let windows = drawn(document).take(MOST).filter_map(|(_, strategy)| {
        let run = strategy.median();
        let limited = run.series.iter().any(|point| point.window.is_finite());
        let title = if limited { "Window and in flight" } else { "In flight" };
        let title = match document.strategies.len() {
            1 => title.to_owned(),
            _ => format!("{title}: {}", strategy.label),
        };
        let mut series = vec![
            line(run, "in flight", IN_FLIGHT, |point| point.in_flight),
            line(run, "window", WINDOW, |point| point.window),
            line(run, "server's cap", CAP, |point| point.cap),
        ];
        let highest = series.iter().flat_map(|series| &series.points).map(|(_, y)| *y).fold(0.0, f64::max);
        let ssthresh = line(run, "ssthresh", SSTHRESH, |point| point.ssthresh);
        let above = ssthresh.points.iter().map(|(_, y)| *y).fold(0.0, f64::max);
        // The limiter's threshold may be far above all other lines of the plot, for example at the start of a run. Such
        // parts of the threshold are not drawn, because they would compress the other lines.
        let cut = |(t, y): &(f64, f64)| (*t, if *y <= highest * 1.5 { *y } else { f64::NAN });
        series.push(Series { points: ssthresh.points.iter().map(cut).collect(), ..ssthresh });
        let mut note = Vec::new();
        if series.iter().any(|series| series.points.len() > MAX_MOVES) {
            let part_s = run.end_s() / PARTS as f64;
            series = series.into_iter().map(|series| calmed(series, part_s)).collect();
            note.push(format!("lines: means over {} s; bands: lowest to highest", number(part_s)));
        }
        if strategy.runs.len() > 1 {
            note.push(format!("the run with the median makespan, seed {}", run.result.seed));
        }
        if above > highest * 1.5 {
            note.push(format!("ssthresh is not drawn where it exceeds the axis (maximum {above})"));
        }
        Plot::new(title, Axis::time(), Axis::linear("attempts", ""), series, note.join("; "))
    });
    with_shared_axes(windows.collect())
}

fn with_shared_axes(mut plots: Vec<Plot>) -> Vec<Plot> {
    let wider = |(t, high): (f64, f64), point: &(f64, f64)| (point.0.max(t), point.1.max(high));
    let corner = |plot: &Plot| {
        let points = plot.points();
        points.filter(|(_, y)| y.is_finite()).fold((0.0, 0.0), wider)
    };
    let corners: Vec<(f64, f64)> = plots.iter().map(corner).collect();
    let (end_s, high) = corners.iter().fold((0.0, 0.0), wider);
    let low = corners.iter().map(|corner| corner.1).filter(|high| *high > 0.0).fold(f64::INFINITY, f64::min);
    for plot in &mut plots {
        (plot.x.reaches, plot.y.reaches) = (end_s, high);
        if high > FAR_APART * low {
            plot.y.scale = Scale::Logarithmic;
            // A logarithmic axis has no zero, so values below one attempt are drawn as one.
            let points = plot.series.iter_mut().flat_map(|series| &mut series.points);
            points.filter(|(_, y)| *y < 1.0).for_each(|(_, y)| *y = 1.0);
            let bands = plot.series.iter_mut().flat_map(|series| &mut series.band);
            bands.for_each(|(_, low, high)| (*low, *high) = (low.max(1.0), high.max(1.0)));
        }
    }
    plots
}

fn calmed(series: Series, part_s: f64) -> Series {
    let (mut points, mut band) = (Vec::new(), Vec::new());
    if series.points.len() <= MAX_MOVES {
        return series;
    }
    for part in 0..PARTS {
        let (from, to) = (part as f64 * part_s, (part + 1) as f64 * part_s);
        let inside = series.points.iter().filter(|(t, _)| (from..to).contains(t)).map(|(_, y)| *y);
        let values: Vec<f64> = inside.filter(|value| value.is_finite()).collect();
        if let Some(high) = values.iter().copied().reduce(f64::max) {
            let middle_s = f64::midpoint(from, to);
            points.push((middle_s, values.iter().sum::<f64>() / values.len() as f64));
            band.push((middle_s, values.iter().copied().fold(high, f64::min), high));
        }
    }
    Series { points, band, ..series }
}

fn line(run: &Run, label: &str, look: usize, gauge: fn(&Point) -> f64) -> Series {
    let points: Vec<(f64, f64)> = run.series.iter().map(|point| (point.t_s, gauge(point))).collect();
    let bits = |index: usize| points[index].1.to_bits();
    let kept = |index: &usize| match *index {
        0 => true,
        index if index + 1 == points.len() => true,
        index => bits(index - 1) != bits(index) || bits(index + 1) != bits(index),
    };
    Series::line(label, look, (0..points.len()).filter(kept).map(|index| points[index]).collect())
}
