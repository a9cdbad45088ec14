//! Bars from the left, exact to an eighth of a column.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::terminal::painter::steps;
use crate::terminal::theme::{Role, Theme};
use crate::text;

/// Parts of a block from the left, in eighths.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// Columns of the percentage.
const PERCENT: u16 = 6;

/// What is done, of one, with the percentage at its end; and a mark where one could be.
pub(crate) fn draw(area: Rect, buf: &mut Buffer, share: Option<f64>, mark: Option<f64>, theme: Theme) {
    let bar = Rect { height: 1, width: area.width.saturating_sub(PERCENT), ..area }.intersection(buf.area);
    let width = usize::from(bar.width);
    buf.set_stringn(bar.x, bar.y, "░".repeat(width), width, theme.style(Role::Faint));
    fill(bar, buf, share.unwrap_or(0.0), theme.style(Role::Accepted));
    if let (Some(mark), Some(_)) = (mark, share) {
        let column = steps(mark, bar.width.saturating_sub(1));
        buf.set_stringn(bar.x + column, bar.y, "┃", 1, theme.style(Role::Optimum));
    }
    let percent = share.map_or_else(|| "–".to_owned(), text::whole_percent);
    buf.set_stringn(
        bar.right(),
        bar.y,
        format!("{percent:>6}"),
        usize::from(PERCENT),
        theme.style(Role::Title),
    );
}

/// A part of a row, of one. Something is never nothing.
pub(crate) fn fill(row: Rect, buf: &mut Buffer, share: f64, style: Style) {
    let row = Rect { height: row.height.min(1), ..row }.intersection(buf.area);
    if !row.is_empty() {
        let eighths = steps(share, row.width.saturating_mul(8)).max(u16::from(share > 0.0));
        let filled = "█".repeat(usize::from(eighths / 8)) + EIGHTHS[usize::from(eighths % 8)];
        buf.set_stringn(row.x, row.y, filled, usize::from(row.width), style);
    }
}
