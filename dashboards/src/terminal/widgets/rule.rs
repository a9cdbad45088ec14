//! Line above a panel of the dashboard: the title on the left, and the legend or key figure on the right.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::terminal::theme::{Role, Theme};
use crate::text;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LegendKey {
    /// Sample of how the chart draws the legend entry; may be empty.
    pub(crate) mark: &'static str,
    pub(crate) name: Cow<'static, str>,
    /// Latest value of the legend entry. Its width is constant, so that the text beside it does not move.
    pub(crate) value: String,
    pub(crate) role: Role,
}

impl LegendKey {
    fn width(&self) -> usize {
        let gap = usize::from(!self.mark.is_empty());
        text::width_of(self.mark) + gap + text::width_of(&self.name) + 1 + text::width_of(&self.value)
    }
}

pub(crate) fn rule(area: Rect, buf: &mut Buffer, theme: Theme, title: &str, legend: &[LegendKey]) {
    let row = Rect { height: 1, ..area }.intersection(buf.area);
    if row.is_empty() || area.height == 0 {
        return;
    }
    let faint = theme.style(Role::Faint);
    buf.set_stringn(row.x, row.y, "─".repeat(usize::from(row.width)), usize::from(row.width), faint);
    let title = format!(" {} ", text::fit(title, usize::from(row.width.saturating_sub(4))));
    let (title_end, _) = buf.set_stringn(
        row.x + 1,
        row.y,
        title,
        usize::from(row.width.saturating_sub(2)),
        theme.style(Role::Title),
    );

    let room = usize::from(row.right().saturating_sub(title_end + 2));
    let mut entries = legend;
    let total = |entries: &[LegendKey]| entries.iter().map(|key| key.width() + 2).sum::<usize>();
    while total(entries) > room {
        entries = &entries[..entries.len() - 1];
    }
    let mut x = row.right().saturating_sub(u16::try_from(total(entries)).unwrap_or(0) + 1);
    for key in entries {
        let gap = if key.mark.is_empty() { "" } else { " " };
        for (part, style) in [
            (" ", faint),
            (key.mark, theme.style(key.role)),
            (gap, faint),
            (&key.name, faint),
            (" ", faint),
            (key.value.as_str(), theme.style(Role::Title)),
            (" ", faint),
        ] {
            x = buf.set_stringn(x, row.y, part, usize::from(row.right().saturating_sub(x)), style).0;
        }
    }
}
