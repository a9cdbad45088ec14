//! Requests per second over time: what the server accepted, as an area; what it rejected and what failed, as lines.

use loadgen_core::Point;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::rule::LegendKey;
use super::time_axis::TimeAxis;
use crate::Frame;
use crate::figures::{Counter, Scale, Timeline};
use crate::terminal::chart::{Chart, Dash, Layer, columns};
use crate::terminal::theme::{Role, Theme};
use crate::text;

/// Rates are averaged over at least this part of the axis: narrower columns would show single requests.
const SMOOTHING: f64 = 1.0 / 25.0;

/// Draws the chart; `labelled` with the time axis.
pub(crate) fn draw(area: Rect, buf: &mut Buffer, frame: &Frame, scale: Scale, labelled: bool, theme: Theme) {
    let timeline = Timeline::of(&frame.snapshot);
    let time = TimeAxis::of(&frame.snapshot);
    let width = usize::from(columns(area));
    let counter = |count: fn(&Point) -> u32| timeline.counter(count);
    let [accepted, rejected, failed] =
        [counter(|point| point.succeeded), counter(|point| point.rejected), counter(|point| point.failed)];

    let area_values = rates(&accepted, time, width);
    let rejected_values = rates(&rejected, time, 2 * width);
    let failed_values = rates(&failed, time, 2 * width);
    let all = [&area_values, &rejected_values, &failed_values];
    let highest = all.into_iter().flatten().flatten().fold(0.0_f64, |highest, rate| highest.max(*rate));

    let failing = frame.snapshot.attempts.failed > 0;
    let narrow = area.width < 60;
    let name = |long, short| if narrow { short } else { long };
    let mut legend = vec![
        key("██", name("accepted", "ok"), &accepted, Role::Accepted),
        key("⠤⠤", name("rejected", "rej"), &rejected, Role::Rejected),
    ];
    let mut layers = vec![
        Layer::Area(Role::Accepted, area_values),
        Layer::Line(Role::Rejected, Dash::Solid, as_line(&rejected_values)),
    ];
    if failing {
        legend.push(key("⠄⠄", name("failed", "fail"), &failed, Role::Failed));
        layers.push(Layer::Line(Role::Failed, Dash::Dotted, as_line(&failed_values)));
    }
    // A third entry of the legend needs the room of a long title.
    let title = match (scale, narrow || failing && area.width < 100) {
        (Scale::Linear, true) => "Req/s",
        (Scale::Linear, false) => "Requests per second",
        (Scale::Logarithmic, true) => "Log req/s",
        (Scale::Logarithmic, false) => "Requests per second, log",
    };
    Chart { title, legend, scale, end: scale.ceiling(highest.max(8.0)), time, labelled, layers }
        .draw(area, buf, theme);
}

/// The rate around the middle of each part of the axis.
fn rates(counter: &Counter, time: TimeAxis, parts: usize) -> Vec<Option<f64>> {
    let least_s = time.at(1, parts).max(time.span_s * SMOOTHING);
    let around = |part| f64::midpoint(time.at(part, parts), time.at(part + 1, parts));
    (0..parts).map(|part| counter.smoothed(around(part), least_s)).collect()
}

/// No rate is no line rather than one along the bottom.
fn as_line(rates: &[Option<f64>]) -> Vec<Option<(f64, f64)>> {
    rates.iter().map(|rate| rate.filter(|rate| *rate > 0.0).map(|rate| (rate, rate))).collect()
}

fn key(mark: &'static str, name: &'static str, counter: &Counter, role: Role) -> LegendKey {
    LegendKey { mark, name, value: format!("{:>6}", text::rate(counter.now())), role }
}
