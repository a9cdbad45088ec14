//! Panel of op latency, from an op's arrival to its success: percentiles beside or above a histogram.

use std::time::Duration;

use loadgen_core::Latencies;
use ratatui::layout::{Constraint, Layout, Rect};

use super::rule::{LegendKey, rule};
use crate::figures::{latency_bins, nice_ceiling};
use crate::terminal::painter::Painter;
use crate::terminal::{Role, Surface, row_of};
use crate::{Frame, text};

const FEW: &[f64] = &[0.5, 0.9, 0.99];
const MANY: &[f64] = &[0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

const FIGURES: u16 = 15;

pub(crate) fn draw(area: Rect, surface: &mut Surface<'_>, frame: &Frame) {
    let latencies = &frame.snapshot.op_latency;
    let value = format!("{:>5}", text::count(latencies.count()));
    rule(
        area,
        surface,
        "Op latency",
        &[LegendKey { mark: "", name: "ops".into(), value, role: Role::Faint }],
    );
    let inner = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let [figures, histogram] =
        Layout::horizontal([Constraint::Length(FIGURES), Constraint::Min(0)]).spacing(1).areas(inner);
    draw_figures(figures, surface, latencies);
    draw_histogram(histogram, surface, latencies);
}

fn draw_figures(area: Rect, surface: &mut Surface<'_>, latencies: &Latencies) {
    let shares = if area.height > 7 { MANY } else { FEW };
    let shown = |latency: Duration| match latencies.count() {
        0 => "–".to_owned(),
        _ => text::duration(latency),
    };
    let mut lines: Vec<_> = shares
        .iter()
        .map(|&share| (format!("p{}", (share * 1_000.0).round() / 10.0), shown(latencies.quantile(share))))
        .collect();
    lines.push(("max".to_owned(), shown(latencies.max())));
    for (row, (name, value)) in (0..area.height).zip(lines) {
        surface.segments(row_of(area, row), &[(name, Role::Faint)], &[(value, Role::Plain)]);
    }
}

fn draw_histogram(area: Rect, surface: &mut Surface<'_>, latencies: &Latencies) {
    if area.width < 6 || area.height < 2 || latencies.count() == 0 {
        return;
    }
    let end = round_end(latencies.max());
    let bins = latency_bins(latencies, end, u32::from(area.width));
    let highest = bins.iter().copied().max().unwrap_or(0).max(1) as f64;
    let plot = Rect { height: area.height - 1, ..area };
    let mut painter = Painter::new(surface, plot);
    for (column, count) in (0_u16..).zip(&bins) {
        painter.bar(column, *count as f64 / highest, Role::Latency);
    }
    let faint = Role::Faint;
    let axis = Rect { y: plot.bottom(), height: 1, ..area };
    let middle = if area.width >= 24 { round(end / 2) } else { String::new() };
    surface.segments(axis, &[("0".to_owned(), faint)], &[(round(end), faint)]);
    let x = area.x + area.width / 2;
    surface.print(x, axis.y, area.width / 2, middle, faint);
}

fn round(duration: Duration) -> String {
    text::duration(duration).replace(".0 ", " ")
}

fn round_end(longest: Duration) -> Duration {
    let units = nice_ceiling(longest.as_secs_f64() * 1e6);
    Duration::from_secs_f64((units / 1e6).min(1e9))
}
