//! Drawing of one lane (strategy): its name, its progress, bars of its figures so far, and a chart of its window over
//! time.

use ratatui::layout::Rect;

use super::numbers;
use crate::figures::Progress;
use crate::terminal::widgets::rule::{LegendKey, rule};
use crate::terminal::widgets::time_axis::TimeAxis;
use crate::terminal::widgets::{bar, window};
use crate::terminal::{Role, Segment, Surface, row_of};
use crate::{Lane, Lanes, text};

/// Widths in columns. `NAME` is the width of a row's name. `BEHIND` and `BEHIND_NARROW` are the widths of the text
/// after a bar, on wide and on narrow lanes. `WIDE` and `NARROW` are the minimum widths of these two kinds of lanes.
const NAME: u16 = 10;
const BEHIND: u16 = 57;
const BEHIND_NARROW: u16 = 47;
const WIDE: u16 = 100;
const NARROW: u16 = 76;

const CHART: u16 = 3;

const TALLEST: u16 = 22;

/// Returns the maximum height of a lane in rows. Lanes have no charts if there are no measurements of single runs.
pub(crate) fn tallest(lanes: &Lanes) -> u16 {
    let rows = u16::try_from(lanes.columns.len()).unwrap_or(TALLEST).saturating_add(2);
    let charts = lanes.lanes.iter().any(|lane| lane.run.is_some());
    if charts { TALLEST.max(rows) } else { rows.saturating_add(1) }
}

/// Draws one lane (strategy), which has at least two rows. All lanes share the time axis.
pub(crate) fn draw(
    area: Rect,
    surface: &mut Surface<'_>,
    lanes: &Lanes,
    lane: &Lane,
    time: Option<TimeAxis>,
) {
    let bars = area.height.saturating_sub(2).min(u16::try_from(lanes.columns.len()).unwrap_or(u16::MAX));
    let title = format!("{} {}", numbers::mark(lane), lane.name);
    rule(area, surface, title.trim_start(), &legend(area, lanes, lane, usize::from(bars)));
    draw_progress(row_of(area, 1), surface, lane);
    for (y, column) in (2..).zip(0..usize::from(bars)) {
        draw_figure(row_of(area, y), surface, lanes, lane, column);
    }
    let rest = Rect { y: area.y + 2 + bars, height: area.height - 2 - bars, ..area };
    if let (Some(frame), Some(time), CHART..) = (lane.run.as_deref(), time, rest.height) {
        window::draw_on(time, rest, surface, frame, rest.height > CHART + 2);
    }
}

/// Returns the legend of a lane: the figures that have no row of their own. On narrow screens, the legend shows the
/// state of the run in progress instead. The progress bar normally shows this state, but has no room for it on a narrow
/// screen.
fn legend(area: Rect, lanes: &Lanes, lane: &Lane, bars: usize) -> Vec<LegendKey> {
    let key = |mark, name: &'static str, value, role| LegendKey { mark, name: name.into(), value, role };
    let mut keys = Vec::new();
    if lane.short > 0 {
        keys.push(key("!", "ops undone in", numbers::runs(lane.short, lane.done), Role::Rejected));
    }
    if let Some(frame) = lane.going_on().filter(|_| area.width < NARROW) {
        let (attempts, gauges) = (frame.snapshot.attempts.total, &frame.snapshot.gauges);
        keys.push(key("", "attempts", format!("{:>6}", text::count(attempts)), Role::Title));
        let window = gauges.window.map(|window| format!("{:>3}", text::short(window)));
        keys.extend(window.map(|window| key("", "window", window, Role::Window)));
        return keys;
    }
    let figures = lanes.columns.iter().zip(&lane.figures).skip(bars);
    keys.extend(figures.filter_map(|(column, spread)| {
        Some(key("", column.name, numbers::value(*column, (*spread)?.median), Role::Title))
    }));
    if lane.running {
        keys.push(key("", "done", numbers::runs(lane.done, lane.runs), Role::Title));
    }
    keys
}

fn draw_progress(row: Rect, surface: &mut Surface<'_>, lane: &Lane) {
    let going_on = lane.going_on();
    let (name, extent) = match going_on.map(|frame| Progress::new(&frame.snapshot)) {
        Some(run) => (format!("run {}", lane.done + 1), bar::Extent::new(&run)),
        None => ("runs".to_owned(), bar::Extent::plain(numbers::share(lane))),
    };
    let [label, bar_area, behind] = parts(row);
    surface.segments(label, &[(name, Role::Faint)], &[]);
    bar::draw(bar_area, surface, extent);
    let words: Vec<Segment> = match going_on {
        Some(frame) => {
            let fitting = |text: String| (text::fit(&text, usize::from(behind.width)), Role::Plain);
            numbers::now(&frame.snapshot).into_iter().map(fitting).collect()
        }
        None => vec![(format!("  {:>15}", numbers::runs(lane.done, lane.runs)), Role::Faint)],
    };
    surface.segments(behind, &words, &[]);
}

fn draw_figure(row: Rect, surface: &mut Surface<'_>, lanes: &Lanes, lane: &Lane, column: usize) {
    let (highest, kind) = (numbers::highest(lanes, column), lanes.columns[column]);
    let [label, bar_area, behind] = parts(row);
    surface.segments(label, &[(kind.name.to_owned(), Role::Faint)], &[]);
    let Some(spread) = lane.figures.get(column).copied().flatten() else {
        return surface.segments(behind, &[(format!("{:>17}", "–"), Role::Faint)], &[]);
    };
    let role = [Role::Latency, Role::Rejected, Role::Failed][column % 3];
    let share = if highest > 0.0 { spread.median / highest } else { 0.0 };
    bar::fill(bar_area, surface, share, role);
    let median = numbers::value(kind, spread.median);
    let mut words = vec![(format!("{median:>17}"), Role::Title)];
    words.extend(numbers::range(kind, spread).map(|range| (range, Role::Faint)));
    surface.segments(behind, &words, &[]);
}

fn parts(row: Rect) -> [Rect; 3] {
    let behind = match row.width {
        WIDE.. => BEHIND,
        NARROW.. => BEHIND_NARROW,
        _ => 0,
    };
    let name = if behind > 0 { NAME } else { 0 };
    let at = |x: u16, width: u16| Rect { x: row.x + x, width, ..row };
    let bar = row.width - name - behind;
    [at(0, name), at(name, bar), at(name + bar, behind)]
}
