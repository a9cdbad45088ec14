//! Chart of requests per second over time: accepted requests as an area, rejected and failed requests as lines. If the
//! server has a rate limit, the chart also shows the limit's long-run rate.

use loadgen_core::{Gauge, RATE_LIMIT};
use ratatui::layout::Rect;

use super::rule::LegendKey;
use super::time_axis::TimeAxis;
use crate::figures::{Counter, RateLimit, Scale, Timeline, level};
use crate::terminal::chart::{Chart, Dash, Layer, columns};
use crate::terminal::{Role, Surface};
use crate::{Frame, text};

/// Minimum width over which rates are smoothed, as a share of the time axis. With less smoothing, narrow columns would
/// show single requests.
const SMOOTHING: f64 = 1.0 / 25.0;

/// Maximum ratio of the rate limit to the highest rate at which the axis still includes the limit.
const FAR: f64 = 2.0;

pub(crate) fn draw(area: Rect, surface: &mut Surface<'_>, frame: &Frame, scale: Scale, labelled: bool) {
    let timeline = Timeline::new(&frame.snapshot);
    let time = TimeAxis::new(&frame.snapshot);
    let width = usize::from(columns(area));
    let accepted = timeline.counter(|point| point.succeeded);
    let rejected = timeline.counter(|point| point.rejected);
    let failed = timeline.counter(|point| point.failed);

    let area_values = rates(&accepted, time, width);
    let rejected_values = rates(&rejected, time, 2 * width);
    let failed_values = rates(&failed, time, 2 * width);
    let all = [&area_values, &rejected_values, &failed_values];
    let highest = all.into_iter().flatten().flatten().fold(8.0_f64, |highest, rate| highest.max(*rate));
    let limit = RateLimit::new(frame);
    let limits = limits(&timeline, time, width);
    // Only limits near the rates extend the axis. A limit far above all rates would flatten the picture.
    let near = limits.iter().flatten().copied().filter(|rate| *rate <= FAR * highest);
    let end = scale.ceiling(near.fold(highest, f64::max));

    let failing = frame.snapshot.attempts.failed > 0;
    let narrow = area.width < 60 || limit.is_some() && area.width < 100;
    let name = |long, short| if narrow { short } else { long };
    let mut legend = vec![
        key("██", name("accepted", "ok"), &accepted, Role::Accepted),
        key("⠤⠤", name("rejected", "rej"), &rejected, Role::Rejected),
    ];
    let mut layers = vec![
        Layer::Area(Role::Accepted, area_values),
        Layer::Level(Role::Cap, limits.into_iter().map(|rate| rate.filter(|rate| *rate <= end)).collect()),
        Layer::Line(Role::Rejected, Dash::Solid, as_line(&rejected_values)),
    ];
    if let Some(limit) = limit {
        let above = if limit.per_s > end { "↑" } else { "" };
        let left = if area.width < 72 { String::new() } else { format!(" {}", limit.left()) };
        let value = format!("{above}{}{left}", limit.rate);
        legend.push(LegendKey { mark: "──", name: limit.name.into(), value, role: Role::Cap });
    }
    if failing {
        legend.push(key("⠄⠄", name("failed", "fail"), &failed, Role::Failed));
        layers.push(Layer::Line(Role::Failed, Dash::Dotted, as_line(&failed_values)));
    }
    // Below 100 columns, the title is short if the legend has a third entry, because the entry needs the room of the
    // long title.
    let title = match (scale, narrow || failing && area.width < 100) {
        (Scale::Linear, true) => "Req/s",
        (Scale::Linear, false) => "Requests per second",
        (Scale::Logarithmic, true) => "Log req/s",
        (Scale::Logarithmic, false) => "Requests per second, log",
    };
    Chart { title, legend, scale, end, time, labelled, layers }.draw(area, surface);
}

/// Returns the lowest rate limit in each column of the chart. If the server has several limits, its responses advertise
/// the limit closest to exhaustion.
fn limits(timeline: &Timeline<'_>, time: TimeAxis, width: usize) -> Vec<Option<f64>> {
    let Some(drawn) = timeline.drawn.iter().find(|drawn| *drawn.kind == RATE_LIMIT) else {
        return vec![None; width];
    };
    let value = |bucket: usize| drawn.values.get(bucket).copied().unwrap_or_default();
    let least = |column| timeline.range(time.at(column, width), time.at(column + 1, width), value);
    let known: Vec<Option<f64>> = (0..width).map(|column| Some(least(column)?.0)).collect();
    level(&known, drawn.values.last().copied().and_then(Gauge::value))
}

fn rates(counter: &Counter, time: TimeAxis, parts: usize) -> Vec<Option<f64>> {
    let least_s = time.at(1, parts).max(time.span_s * SMOOTHING);
    let around = |part| f64::midpoint(time.at(part, parts), time.at(part + 1, parts));
    (0..parts).map(|part| counter.smoothed(around(part), least_s)).collect()
}

/// Turns zero rates into gaps, because zero rates would be a line along the bottom of the chart.
fn as_line(rates: &[Option<f64>]) -> Vec<Option<(f64, f64)>> {
    rates.iter().map(|rate| rate.filter(|rate| *rate > 0.0).map(|rate| (rate, rate))).collect()
}

fn key(mark: &'static str, name: &'static str, counter: &Counter, role: Role) -> LegendKey {
    LegendKey { mark, name: name.into(), value: format!("{:>6}", text::rate(counter.now())), role }
}
