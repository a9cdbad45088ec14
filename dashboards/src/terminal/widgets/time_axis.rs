//! Time axis below charts, in experiment time, with a mark at the lower bound on the makespan.

use std::time::Duration;

use loadgen_core::Snapshot;
use ratatui::layout::Rect;

use crate::figures::{Timeline, nice_span, nice_step};
use crate::terminal::painter::steps;
use crate::terminal::{Role, Surface};
use crate::text;

/// Limits for the lower bound on the makespan. The time axis includes this bound only up to `FORESIGHT` times the
/// elapsed time, or up to `MIN_HORIZON_S` seconds if this is later. A later bound is left out, because it would leave
/// no room for the events so far.
const FORESIGHT: f64 = 4.0;
const MIN_HORIZON_S: f64 = 60.0;

/// Span of experiment time that the axis shows, in seconds, starting at the origin of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimeAxis {
    pub(crate) span_s: f64,
    optimal: Option<Duration>,
    /// Time at which a run with the smallest possible makespan would end, in seconds from the origin. It is the time of
    /// the first arrival plus the lower bound on the makespan.
    optimal_at_s: Option<f64>,
}

impl TimeAxis {
    pub(crate) fn new(snapshot: &Snapshot) -> Self {
        let optimal = snapshot.optimal_makespan;
        let end = |optimal: Duration| {
            snapshot.first_arrival.map_or(optimal, |start| start.since_origin() + optimal)
        };
        let optimal_at_s = optimal.map(|optimal| end(optimal).as_secs_f64());
        let now_s = Timeline::new(snapshot).now_s;
        let optimal_end_s = optimal_at_s.unwrap_or(0.0) * 1.05;
        let horizon_s = (FORESIGHT * now_s).max(MIN_HORIZON_S);
        let needed_s = if optimal_end_s <= horizon_s { now_s.max(optimal_end_s) } else { now_s };
        Self { span_s: nice_span(needed_s), optimal, optimal_at_s }
    }

    pub(crate) fn at(&self, column: usize, columns: usize) -> f64 {
        self.span_s * column as f64 / columns.max(1) as f64
    }

    pub(crate) fn optimal_column(&self, width: u16) -> Option<u16> {
        Some(steps(self.optimal_at_s? / self.span_s, width)).filter(|column| *column < width)
    }

    /// Returns the unit of the labels, in seconds, with its name.
    fn unit(&self) -> (f64, &'static str) {
        match self.span_s {
            span if span <= 120.0 => (1.0, "s"),
            span if span <= 7_200.0 => (60.0, "min"),
            _ => (3_600.0, "h"),
        }
    }
}

pub(crate) fn draw(axis: TimeAxis, row: Rect, surface: &mut Surface<'_>) {
    let mut taken = 0..0;
    if let Some(column) = axis.optimal_column(row.width) {
        let text = format!("▲ at least {}", text::clock(axis.optimal.unwrap_or_default().as_secs_f64()));
        let width = u16::try_from(text::width_of(&text)).unwrap_or(u16::MAX);
        let text = if column + width <= row.width { text } else { "▲".to_owned() };
        let end = surface.print(row.x + column, row.y, row.width - column, text, Role::LowerBound);
        taken = column.saturating_sub(1)..end - row.x + 1;
    }
    let (unit_s, unit) = axis.unit();
    let step = nice_step(axis.span_s, f64::from(row.width) / 10.0).max(unit_s);
    let mut time_s = 0.0;
    while time_s <= axis.span_s {
        let label = format!("{:.0} {unit}", time_s / unit_s);
        let width = u16::try_from(text::width_of(&label)).unwrap_or(u16::MAX);
        let start = steps(time_s / axis.span_s, row.width);
        let free = start + width <= taken.start || start >= taken.end;
        if free && start + width <= row.width {
            surface.print(row.x + start, row.y, width, label, Role::Faint);
        }
        time_s += step;
    }
}

#[cfg(test)]
mod tests {
    use vocabulary::Instant;

    use super::*;

    fn span_s(now_s: u64, optimal_s: u64) -> f64 {
        let now = Instant::from_millis(now_s * 1_000);
        let optimal_makespan = Some(Duration::from_secs(optimal_s));
        TimeAxis::new(&Snapshot { now, optimal_makespan, ..Snapshot::default() }).span_s
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "spans are taken from a table")]
    fn the_axis_reaches_the_bound_unless_that_is_far_away() {
        assert_eq!([30.0, 30.0, 45.0], [span_s(1, 20), span_s(25, 20), span_s(31, 20)]);
        assert_eq!([5.0, 1_200.0], [span_s(3, 1_000), span_s(300, 1_000)]);
    }
}
