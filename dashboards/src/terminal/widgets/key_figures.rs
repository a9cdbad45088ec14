//! The most important figures of the panels in three lines, for screens that are too small for panels.

use ratatui::layout::Rect;

use crate::figures::{AttemptStats, CapLimit, RateLimit, failures};
use crate::terminal::{Role, Segment, Surface, row_of};
use crate::{Frame, text};

pub(crate) fn draw(area: Rect, surface: &mut Surface<'_>, frame: &Frame) {
    for (row, line) in (0..area.height).zip(lines(frame)) {
        surface.segments(row_of(area, row), &line, &[]);
    }
}

fn lines(frame: &Frame) -> [Vec<Segment>; 3] {
    let snapshot = &frame.snapshot;
    let effort = AttemptStats::new(snapshot);
    let latency = |share| match snapshot.op_latency.count() {
        0 => "–".to_owned(),
        _ => text::duration(snapshot.op_latency.quantile(share)),
    };
    let mut flight = vec![format!("in flight {:>4}", text::count(snapshot.in_flight))];
    flight.extend(snapshot.gauges.window.map(|window| format!("window {window:>5.1}")));
    flight.extend(CapLimit::new(frame).map(|limit| format!("{} {}", limit.name, text::count(limit.cap))));
    flight
        .extend(RateLimit::new(frame).map(|limit| format!("{} {} {}", limit.name, limit.rate, limit.left())));
    flight.push(format!("ready {}", text::count(snapshot.ready)));
    flight.push(format!("sleeping {}", text::count(snapshot.sleeping)));
    let mut attempts = vec![
        format!("attempts {:>5}", effort.per_op_text() + "/op"),
        format!("no success {:>6}", text::percent(effort.wasted())),
        format!("{} sent", text::count(effort.attempts)),
    ];
    attempts.extend(failures(snapshot).map(|words| format!("failed {words}")));
    let mut latencies = vec![format!("latency p50 {:>6}", latency(0.5)), format!("p99 {:>6}", latency(0.99))];
    latencies.extend(snapshot.gauges.phase.map(str::to_owned));
    latencies.extend(snapshot.gauges.reason.map(str::to_owned));
    [flight, attempts, latencies].map(|line| line.into_iter().map(|text| (text, Role::Plain)).collect())
}
