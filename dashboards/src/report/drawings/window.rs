//! How well a limiter knows the server: window, threshold and in flight against the true cap, one figure a strategy.

use super::drawn;
use crate::report::document::Document;
use crate::report::figure::{Axis, Figure, Series};
use crate::report::palette::{CAP, IN_FLIGHT, SSTHRESH, WINDOW};
use crate::report::run::{Point, Run};

/// More figures than that nobody looks at.
const MOST: usize = 6;

/// One figure per strategy.
pub(in crate::report) fn window(document: &Document) -> Vec<Figure> {
    drawn(document)
        .take(MOST)
        .filter_map(|(_, strategy)| {
            let run = strategy.median();
            let title = match document.strategies.len() {
                1 => "Window and in flight".to_owned(),
                _ => format!("Window and in flight: {}", strategy.label),
            };
            let mut series = [
                line(run, "in flight", IN_FLIGHT, |point| point.in_flight),
                line(run, "window", WINDOW, |point| point.window),
                line(run, "server's cap", CAP, |point| point.cap),
            ]
            .to_vec();
            let highest =
                series.iter().flat_map(|series| &series.points).map(|(_, y)| *y).fold(0.0, f64::max);
            let ssthresh = line(run, "ssthresh", SSTHRESH, |point| point.ssthresh);
            let above = ssthresh.points.iter().map(|(_, y)| *y).fold(0.0, f64::max);
            // A threshold far above everything, as at the start, would press the rest flat.
            let cut = |(t, y): &(f64, f64)| (*t, if *y <= highest * 1.5 { *y } else { f64::NAN });
            series.push(Series { points: ssthresh.points.iter().map(cut).collect(), ..ssthresh });
            let mut note = Vec::new();
            if strategy.runs.len() > 1 {
                note.push(format!("the run in the middle by makespan, seed {}", run.seed));
            }
            if above > highest * 1.5 {
                note.push(format!("ssthresh is off the axis where it is not drawn (up to {above})"));
            }
            let y = Axis::linear("attempts", "");
            Figure { title, x: Axis::linear("time", "s"), y, series, note: note.join("; ") }.if_any()
        })
        .collect()
}

fn line(run: &Run, label: &str, look: usize, gauge: fn(&Point) -> f64) -> Series {
    let mut points: Vec<(f64, f64)> = run.series.iter().map(|point| (point.t_s, gauge(point))).collect();
    // Where nothing changes, the ends are enough.
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits();
    let kept = |index: usize| {
        index == 0
            || index + 1 == points.len()
            || !same(points[index - 1].1, points[index].1)
            || !same(points[index + 1].1, points[index].1)
    };
    points = (0..points.len()).filter(|index| kept(*index)).map(|index| points[index]).collect();
    Series::line(label, look, points)
}
