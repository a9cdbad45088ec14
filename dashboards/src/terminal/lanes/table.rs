//! Table of strategies with one row each, for small screens and many strategies.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::numbers;
use crate::terminal::theme::{Role, Theme};
use crate::terminal::widgets::{bar, segments};
use crate::{Lane, Lanes, text};

/// Widths in columns of a figure, of a bar with its percentage, and of a percentage alone. `NAME` is the minimum width
/// of a name.
const FIGURE: u16 = 12;
const BAR: u16 = 20;
const PERCENT: u16 = 6;
const NAME: u16 = 16;

pub(crate) fn draw_head(row: Rect, buf: &mut Buffer, lanes: &Lanes, theme: Theme) {
    let faint = theme.style(Role::Faint);
    let names =
        lanes.columns.iter().map(|column| column.name.to_owned()).chain(Some("window now".to_owned()));
    let names = in_columns(names.take(figures(row, lanes)));
    segments::draw(row, buf, &[("  strategy".to_owned(), faint)], &[(names, faint)]);
}

pub(crate) fn draw(row: Rect, buf: &mut Buffer, lanes: &Lanes, lane: &Lane, theme: Theme) {
    let figures = figures(row, lanes);
    let numbers_width = u16::try_from(figures).unwrap_or(0) * FIGURE;
    let bar_width = bar_width(row, figures);
    let name_width = row.width.saturating_sub(numbers_width + bar_width);
    let name = format!("{} {}", numbers::mark(lane), lane.name);
    let role = if lane.running { Role::Title } else { Role::Window };
    let at = |x: u16, width: u16| Rect { x: row.x + x, width, ..row };
    let name = text::fit(&name, usize::from(name_width.saturating_sub(1)));
    segments::draw(at(0, name_width), buf, &[(name, theme.style(role))], &[]);
    bar::draw(at(name_width, bar_width), buf, bar::Extent::plain(numbers::share(lane)), theme);
    let dash = || "–".to_owned();
    let medians =
        lanes.columns.iter().zip(&lane.figures).map(|(column, spread)| {
            spread.map_or_else(dash, |spread| numbers::value(*column, spread.median))
        });
    let window = numbers::going_on(lane).and_then(|frame| frame.snapshot.gauges.window);
    let window = window.map_or_else(String::new, text::short);
    let texts = in_columns(medians.chain(Some(window)).take(figures));
    segments::draw(at(name_width + bar_width, numbers_width), buf, &[(texts, theme.style(Role::Title))], &[]);
}

fn in_columns(texts: impl Iterator<Item = String>) -> String {
    let padded =
        texts.map(|text| " ".repeat(usize::from(FIGURE).saturating_sub(text::width_of(&text))) + &text);
    padded.collect()
}

fn figures(row: Rect, lanes: &Lanes) -> usize {
    let room = row.width.saturating_sub(NAME + PERCENT) / FIGURE;
    let looked_into = lanes.lanes.iter().any(|lane| lane.run.is_some());
    usize::from(room).min(lanes.columns.len() + usize::from(looked_into))
}

fn bar_width(row: Rect, figures: usize) -> u16 {
    let taken = NAME + u16::try_from(figures).unwrap_or(0) * FIGURE;
    if row.width.saturating_sub(taken) >= BAR { BAR } else { PERCENT }
}
