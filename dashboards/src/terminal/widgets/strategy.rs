//! Panel with the state of the strategy: its phase, the reason of its last change, its numbers, and the numbers of ops
//! by state.

use std::borrow::Cow;

use ratatui::layout::Rect;

use super::rule::rule;
use crate::figures::{CapLimit, RateLimit};
use crate::terminal::{Role, Surface, row_of};
use crate::{Frame, text};

pub(crate) fn draw(area: Rect, surface: &mut Surface<'_>, frame: &Frame) {
    rule(area, surface, "Strategy now", &[]);
    let lines = lines(frame);
    for (row, (name, value)) in (1..area.height).zip(&lines) {
        let room = usize::from(area.width).saturating_sub(text::width_of(name) + 2);
        let value = [(text::fit(value, room), Role::Plain)];
        surface.segments(row_of(area, row), &[(name.to_string(), Role::Faint)], &value);
    }
}

/// Returns the lines of the panel as (name, value), the most informative line first. A small screen shows only the
/// first five lines.
fn lines(frame: &Frame) -> Vec<(Cow<'static, str>, String)> {
    let snapshot = &frame.snapshot;
    let gauges = &snapshot.gauges;
    let text = |text: Option<&str>| text.map(str::to_owned);
    let number = |value: Option<f64>| value.map(|value| format!("{value:.1}"));
    let count = |value: u64| Some(text::count(value));
    let drawn = gauges.drawn().map(|(kind, value)| {
        let value = format!("{value:.1} {}", kind.unit);
        (kind.name, Some(value.trim_end().to_owned()))
    });
    let lines =
        [("phase", text(gauges.phase)), ("reason", text(gauges.reason))].into_iter().chain(drawn).chain([
            ("rate", gauges.rate_per_s.map(text::rate)),
            ("tokens", number(gauges.tokens)),
            ("in flight", count(snapshot.in_flight)),
            ("ready", count(snapshot.ready)),
            ("sleeping", count(snapshot.sleeping)),
            ("shed", count(snapshot.attempts.shed).filter(|_| snapshot.attempts.shed > 0)),
            ("window", number(gauges.window)),
            ("ssthresh", number(gauges.ssthresh)),
        ]);
    let lines = lines.filter_map(|(name, value)| Some((name.into(), value?)));
    lines.chain(of_the_server(frame)).collect()
}

fn of_the_server(frame: &Frame) -> impl Iterator<Item = (Cow<'static, str>, String)> {
    let busy = match CapLimit::new(frame) {
        Some(CapLimit { name, busy, cap }) => {
            let name = if frame.snapshot.server_cap.is_some() { "server busy".into() } else { name.into() };
            Some((name, format!("{} of {}", text::count(busy), text::count(cap))))
        }
        None => frame.snapshot.server_busy.map(|busy| ("server busy".into(), text::count(busy))),
    };
    let left = RateLimit::new(frame).map(|law| {
        let (left, all) = (text::count(law.remaining.into()), text::count(law.limit.into()));
        (law.name.into(), format!("{}, {left} of {all} left", law.rate))
    });
    busy.into_iter().chain(left)
}
