//! Line above a panel of the dashboard: the title on the left, and the legend or key figure on the right.

use std::borrow::Cow;

use ratatui::layout::Rect;

use crate::terminal::{Role, Surface};
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

pub(crate) fn rule(area: Rect, surface: &mut Surface<'_>, title: &str, legend: &[LegendKey]) {
    let row = Rect { height: 1, ..area }.intersection(surface.buf.area);
    if row.is_empty() || area.height == 0 {
        return;
    }
    surface.print(row.x, row.y, row.width, "─".repeat(usize::from(row.width)), Role::Faint);
    let title = format!(" {} ", text::fit(title, usize::from(row.width.saturating_sub(4))));
    let title_end = surface.print(row.x + 1, row.y, row.width.saturating_sub(2), title, Role::Title);

    let room = usize::from(row.right().saturating_sub(title_end + 2));
    let mut entries = legend;
    let total = |entries: &[LegendKey]| entries.iter().map(|key| key.width() + 2).sum::<usize>();
    while total(entries) > room {
        entries = &entries[..entries.len() - 1];
    }
    let mut x = row.right().saturating_sub(u16::try_from(total(entries)).unwrap_or(0) + 1);
    for key in entries {
        let gap = if key.mark.is_empty() { "" } else { " " };
        for (part, role) in [
            (" ", Role::Faint),
            (key.mark, key.role),
            (gap, Role::Faint),
            (&key.name, Role::Faint),
            (" ", Role::Faint),
            (key.value.as_str(), Role::Title),
            (" ", Role::Faint),
        ] {
            x = surface.print(x, row.y, row.right().saturating_sub(x), part, role);
        }
    }
}
