//! Attempts in flight and what limits them, against the server's true cap.

use loadgen_core::{Gauge, Point};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::rule::LegendKey;
use super::time_axis::TimeAxis;
use crate::Frame;
use crate::figures::{Scale, Timeline};
use crate::terminal::chart::{Chart, Dash, Layer, columns};
use crate::terminal::theme::{Role, Theme};
use crate::text;

/// Draws the chart; `labelled` with the time axis.
pub(crate) fn draw(area: Rect, buf: &mut Buffer, frame: &Frame, labelled: bool, theme: Theme) {
    draw_on(TimeAxis::of(&frame.snapshot), area, buf, frame, labelled, theme);
}

/// The same on a given time axis: charts of several runs can share one.
pub(crate) fn draw_on(
    time: TimeAxis,
    area: Rect,
    buf: &mut Buffer,
    frame: &Frame,
    labelled: bool,
    theme: Theme,
) {
    let timeline = Timeline::of(&frame.snapshot);
    let width = usize::from(columns(area));
    let ranges = |parts: usize, pick: fn(&Point) -> Gauge| -> Vec<Option<(f64, f64)>> {
        (0..parts).map(|part| timeline.gauge(time.at(part, parts), time.at(part + 1, parts), pick)).collect()
    };
    let window = ranges(2 * width, |point| point.window);
    let ssthresh = ranges(2 * width, |point| point.ssthresh);
    let in_flight = highs(&ranges(width, |point| point.in_flight));
    let latest_cap = timeline.latest(|point| point.server_cap);
    // The cap goes on into the future: it is what the window should find.
    let cap: Vec<_> =
        highs(&ranges(width, |point| point.server_cap)).into_iter().map(|cap| cap.or(latest_cap)).collect();

    let values = [&highs(&window), &in_flight, &cap];
    let highest = values.into_iter().flatten().flatten().fold(8.0_f64, |highest, value| highest.max(*value));
    let end = Scale::Linear.ceiling(highest * 1.05);
    // Far above everything else, as at first, it would only flatten the picture.
    let ssthresh: Vec<_> = ssthresh.into_iter().map(|range| range.filter(|(low, _)| *low <= end)).collect();

    let title = match (timeline.latest(|point| point.window), area.width < 100) {
        (Some(_), true) => "Window",
        (Some(_), false) => "Window and in flight",
        (None, _) => "In flight",
    };
    let legend = legend(&timeline, end);
    let layers = vec![
        Layer::Area(Role::InFlight, in_flight),
        Layer::Level(Role::Cap, cap),
        Layer::Line(Role::Ssthresh, Dash::Dashed, ssthresh),
        Layer::Line(Role::Window, Dash::Solid, window),
    ];
    Chart { title, legend, scale: Scale::Linear, end, time, labelled, layers }.draw(area, buf, theme);
}

/// What is there, the most important first: the last ones go when there is no room.
fn legend(timeline: &Timeline<'_>, end: f64) -> Vec<LegendKey> {
    let key = |mark, name, role, pick: fn(&Point) -> Gauge| {
        let value = timeline.latest(pick)?;
        let above = if value > end { "↑" } else { "" };
        let value = format!("{:>4}", format!("{above}{}", text::short(value)));
        Some(LegendKey { mark, name, value, role })
    };
    [
        key("──", "cap", Role::Cap, |point| point.server_cap),
        key("⠒⠒", "window", Role::Window, |point| point.window),
        key("██", "in flight", Role::InFlight, |point| point.in_flight),
        key("⠒ ⠒", "ssthresh", Role::Ssthresh, |point| point.ssthresh),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn highs(ranges: &[Option<(f64, f64)>]) -> Vec<Option<f64>> {
    ranges.iter().map(|range| range.map(|(_, high)| high)).collect()
}
