//! Drawing of one lane (strategy): its name, its progress, bars of its figures so far, and a chart of its window over
//! time.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::numbers;
use crate::figures::Progress;
use crate::terminal::theme::{Role, Theme};
use crate::terminal::widgets::rule::{LegendKey, rule};
use crate::terminal::widgets::segments::{self, Segment};
use crate::terminal::widgets::time_axis::TimeAxis;
use crate::terminal::widgets::{bar, window};
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
    buf: &mut Buffer,
    lanes: &Lanes,
    lane: &Lane,
    time: Option<TimeAxis>,
    theme: Theme,
) {
    let bars = area.height.saturating_sub(2).min(u16::try_from(lanes.columns.len()).unwrap_or(u16::MAX));
    let title = format!("{} {}", numbers::mark(lane), lane.name);
    rule(area, buf, theme, title.trim_start(), &legend(area, lanes, lane, usize::from(bars)));
    let row = |y: u16| Rect { y: area.y + y, height: 1, ..area };
    draw_progress(row(1), buf, lane, theme);
    for (y, column) in (2..).zip(0..usize::from(bars)) {
        draw_figure(row(y), buf, lanes, lane, column, theme);
    }
    let rest = Rect { y: area.y + 2 + bars, height: area.height - 2 - bars, ..area };
    if let (Some(frame), Some(time), CHART..) = (lane.run.as_deref(), time, rest.height) {
        window::draw_on(time, rest, buf, frame, rest.height > CHART + 2, theme);
    }
}

/// Returns the legend of a lane: the figures that have no row of their own. On narrow screens, the legend shows the
/// state of the run in progress instead. The progress bar normally shows this state, but has no room for it on a narrow
/// screen.
fn legend(area: Rect, lanes: &Lanes, lane: &Lane, bars: usize) -> Vec<LegendKey> {
    let key = |mark, name: &'static str, value, role| LegendKey { mark, name: name.into(), value, role };
    let mut keys = Vec::new();
    if lane.short > 0 {
        let value = format!("{} of {} runs", text::count(lane.short as u64), text::count(lane.done as u64));
        keys.push(key("!", "ops undone in", value, Role::Rejected));
    }
    if let Some(frame) = numbers::going_on(lane).filter(|_| area.width < NARROW) {
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
        keys.push(key("", "done", numbers::runs(lane), Role::Title));
    }
    keys
}

fn draw_progress(row: Rect, buf: &mut Buffer, lane: &Lane, theme: Theme) {
    let going_on = numbers::going_on(lane);
    let (name, extent) = match going_on.map(|frame| Progress::new(&frame.snapshot)) {
        Some(run) => (format!("run {}", lane.done + 1), bar::Extent::new(&run)),
        None => ("runs".to_owned(), bar::Extent::plain(numbers::share(lane))),
    };
    let [label, bar_area, behind] = parts(row);
    segments::draw(label, buf, &[(name, theme.style(Role::Faint))], &[]);
    bar::draw(bar_area, buf, extent, theme);
    let words: Vec<Segment> = match going_on {
        Some(frame) => {
            let fitting = |text: String| (text::fit(&text, usize::from(behind.width)), Style::new());
            numbers::now(&frame.snapshot).into_iter().map(fitting).collect()
        }
        None => vec![(format!("  {:>15}", numbers::runs(lane)), theme.style(Role::Faint))],
    };
    segments::draw(behind, buf, &words, &[]);
}

fn draw_figure(row: Rect, buf: &mut Buffer, lanes: &Lanes, lane: &Lane, column: usize, theme: Theme) {
    let (highest, name) = (numbers::highest(lanes, column), lanes.columns[column].name);
    let [label, bar_area, behind] = parts(row);
    segments::draw(label, buf, &[(name.to_owned(), theme.style(Role::Faint))], &[]);
    let Some(spread) = lane.figures.get(column).copied().flatten() else {
        return segments::draw(behind, buf, &[(format!("{:>17}", "–"), theme.style(Role::Faint))], &[]);
    };
    let role = [Role::Latency, Role::Rejected, Role::Failed][column % 3];
    let share = if highest > 0.0 { spread.median / highest } else { 0.0 };
    bar::fill(bar_area, buf, share, theme.style(role));
    let median = numbers::value(lanes.columns[column], spread.median);
    let mut words = vec![(format!("{median:>17}"), theme.style(Role::Title))];
    words
        .extend(numbers::range(lanes.columns[column], spread).map(|range| (range, theme.style(Role::Faint))));
    segments::draw(behind, buf, &words, &[]);
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
