//! Chart of the attempts in flight and of the strategy's limits on them, against the server's true concurrency cap.

use std::borrow::Cow;

use loadgen_core::{DrawnGauge, Gauge, Point};
use ratatui::layout::Rect;

use super::rule::LegendKey;
use super::time_axis::TimeAxis;
use crate::figures::{CapLimit, Scale, Timeline, level};
use crate::terminal::chart::{Chart, Dash, Layer, columns};
use crate::terminal::{Role, Surface};
use crate::{Frame, text};

pub(crate) fn draw(area: Rect, surface: &mut Surface<'_>, frame: &Frame, labelled: bool) {
    draw_on(TimeAxis::new(&frame.snapshot), area, surface, frame, labelled);
}

pub(crate) fn draw_on(time: TimeAxis, area: Rect, surface: &mut Surface<'_>, frame: &Frame, labelled: bool) {
    let timeline = Timeline::new(&frame.snapshot);
    let width = usize::from(columns(area));
    let ranges = |parts: usize, pick: fn(&Point) -> Gauge| -> Vec<Option<(f64, f64)>> {
        (0..parts).map(|part| timeline.gauge(time.at(part, parts), time.at(part + 1, parts), pick)).collect()
    };
    let window = ranges(2 * width, |point| point.window);
    let ssthresh = ranges(2 * width, |point| point.ssthresh);
    let drawn = counted(&timeline);
    let gauge: Vec<Option<(f64, f64)>> = (0..2 * width)
        .map(|part| {
            let (from_s, to_s) = (time.at(part, 2 * width), time.at(part + 1, 2 * width));
            timeline
                .range(from_s, to_s, |bucket| drawn.map_or_else(Gauge::default, |drawn| drawn.values[bucket]))
        })
        .collect();
    let in_flight = highs(&ranges(width, |point| point.in_flight));
    let latest_cap = timeline.latest(|point| point.server_cap);
    let caps = highs(&ranges(width, |point| point.server_cap));
    let cap = level(&caps, latest_cap);

    // The range of the axis depends on the strategy's window. For a strategy without a window, it depends on the gauge
    // that the strategy reports under a name of its own.
    let leading = if timeline.latest(|point| point.window).is_some() { &window } else { &gauge };
    let values = [&highs(leading), &in_flight, &cap];
    let highest = values.into_iter().flatten().flatten().fold(8.0_f64, |highest, value| highest.max(*value));
    let end = Scale::Linear.ceiling(highest * 1.05);
    // Values far above all others, as at the start of a run, are left out, because they would only flatten the picture.
    let within = |ranges: Vec<Option<(f64, f64)>>| -> Vec<Option<(f64, f64)>> {
        ranges.into_iter().map(|range| range.filter(|(low, _)| *low <= end)).collect()
    };

    let title = match (timeline.latest(|point| point.window), area.width < 100) {
        (Some(_), true) => "Window",
        (Some(_), false) => "Window and in flight",
        (None, _) => "In flight",
    };
    let legend = legend(frame, &timeline, end);
    let layers = vec![
        Layer::Area(Role::InFlight, in_flight),
        Layer::Level(Role::Cap, cap),
        Layer::Line(Role::Ssthresh, Dash::Dashed, within(ssthresh)),
        Layer::Line(Role::Drawn, Dash::Dotted, within(gauge)),
        Layer::Line(Role::Window, Dash::Solid, window),
    ];
    Chart { title, legend, scale: Scale::Linear, end, time, labelled, layers }.draw(area, surface);
}

/// Returns the entries of the chart's legend, the most important first. If there is too little room, the last entries
/// are left out.
fn legend(frame: &Frame, timeline: &Timeline<'_>, end: f64) -> Vec<LegendKey> {
    let key = |mark, name: Cow<'static, str>, role, value: Option<f64>| {
        let value = value?;
        let above = if value > end { "↑" } else { "" };
        let value = format!("{:>4}", format!("{above}{}", text::short(value)));
        Some(LegendKey { mark, name, value, role })
    };
    let cap = CapLimit::new(frame).map_or("cap".into(), |cap| cap.name.into());
    [
        key("──", cap, Role::Cap, timeline.latest(|point| point.server_cap)),
        key("⠒⠒", "window".into(), Role::Window, timeline.latest(|point| point.window)),
        key("██", "in flight".into(), Role::InFlight, timeline.latest(|point| point.in_flight)),
        key("⠒ ⠒", "ssthresh".into(), Role::Ssthresh, timeline.latest(|point| point.ssthresh)),
        counted(timeline).and_then(|drawn| {
            key("⠂ ⠂", drawn.kind.name.into(), Role::Drawn, drawn.values.last().and_then(|last| last.value()))
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the first of the strategy's own gauges that counts attempts, because attempts are the unit of the axis.
/// Other gauges are shown as numbers elsewhere.
fn counted<'a>(timeline: &Timeline<'a>) -> Option<&'a DrawnGauge> {
    timeline.drawn.iter().find(|drawn| drawn.kind.unit.is_empty())
}

fn highs(ranges: &[Option<(f64, f64)>]) -> Vec<Option<f64>> {
    ranges.iter().map(|range| range.map(|(_, high)| high)).collect()
}

#[cfg(test)]
mod tests {
    use loadgen_core::{GaugeKind, Snapshot};
    use ratatui::buffer::Buffer;
    use vocabulary::Instant;

    use super::*;
    use crate::terminal::theme::Theme;

    fn level_at(buf: &Buffer, column: u16) -> Vec<u16> {
        (1..buf.area.height).filter(|y| ["▁", "─", "▔"].contains(&buf[(column, *y)].symbol())).collect()
    }

    /// Not the current cap.
    #[test]
    fn before_the_first_response_the_first_known_cap_is_drawn() {
        let mut snapshot = Snapshot { now: Instant::from_millis(9_000), ..Snapshot::default() };
        // The first answer comes after two seconds, and the cap is halved at five.
        for (ms, cap) in [(0, None), (2_000, Some(50.0)), (5_000, Some(25.0)), (8_999, Some(25.0))] {
            let point = snapshot.series.at(Instant::from_millis(ms));
            point.in_flight.set(0.0);
            if let Some(cap) = cap {
                point.server_cap.set(cap);
            }
        }
        let area = Rect::new(0, 0, 86, 20);
        let mut buf = Buffer::empty(area);
        let mut surface = Surface { buf: &mut buf, theme: Theme::Dark };
        draw(area, &mut surface, &Frame { snapshot, ..Frame::default() }, false);
        let [first, early, late, future] = [6, 20, 60, 85].map(|column| level_at(&buf, column));
        assert_eq!((first.len(), late.len()), (1, 1), "{buf:?}");
        assert_eq!(first, early, "{buf:?}");
        assert!(late[0] > first[0], "{buf:?}");
        assert_eq!(late, future, "{buf:?}");
    }

    #[test]
    fn a_gauge_that_counts_attempts_is_a_line_of_its_own() {
        const TOKENS: GaugeKind = GaugeKind { name: "tokens", unit: "" };
        const SHARE: GaugeKind = GaugeKind { name: "share", unit: "%" };
        let mut snapshot = Snapshot { now: Instant::from_millis(9_000), ..Snapshot::default() };
        for ms in [0, 4_000, 8_999] {
            snapshot.series.draw(Instant::from_millis(ms), &SHARE, 90.0);
            snapshot.series.draw(Instant::from_millis(ms), &TOKENS, 20.0);
        }
        let area = Rect::new(0, 0, 86, 12);
        let mut buf = Buffer::empty(area);
        let mut surface = Surface { buf: &mut buf, theme: Theme::Dark };
        draw(area, &mut surface, &Frame { snapshot, ..Frame::default() }, false);
        let row = |y: u16| (0..area.width).map(|x| buf[(x, y)].symbol()).collect::<String>();
        assert!(row(0).contains("tokens   20") && !row(0).contains("share"), "{}", row(0));
        let colour = Theme::Dark.style(Role::Drawn).fg;
        let drawn = (1..area.height).any(|y| (6..60).all(|x| buf[(x, y)].style().fg == colour));
        assert!(drawn, "{buf:?}");
    }

    #[test]
    fn the_cap_has_its_own_colour_on_bars_in_every_theme() {
        let mut snapshot = Snapshot { now: Instant::from_millis(9_000), ..Snapshot::default() };
        for ms in [0, 4_000, 8_999] {
            let point = snapshot.series.at(Instant::from_millis(ms));
            point.in_flight.set(200.0);
            point.server_cap.set(50.0);
        }
        let area = Rect::new(0, 0, 86, 20);
        for theme in [Theme::Dark, Theme::Light, Theme::Either] {
            let mut buf = Buffer::empty(area);
            let frame = Frame { snapshot: snapshot.clone(), ..Frame::default() };
            draw(area, &mut Surface { buf: &mut buf, theme }, &frame, false);
            let [row] = level_at(&buf, 20)[..] else { panic!("one level: {buf:?}") };
            let (cell, bar) = (&buf[(20, row)], &buf[(20, row + 1)]);
            assert_eq!(cell.bg, bar.fg, "{theme:?}: it is on a bar");
            assert_ne!(cell.fg, cell.bg, "{theme:?}: and can be seen there");
        }
    }
}
