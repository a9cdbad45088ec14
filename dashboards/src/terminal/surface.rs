//! Surface on which widgets draw: the buffer of the screen, and the theme that gives every role its style.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Role, Theme};
use crate::text;

const GAP: usize = 2;

/// Short text in a row, with its role.
pub(crate) type Segment = (String, Role);

pub(crate) struct Surface<'a> {
    pub(crate) buf: &'a mut Buffer,
    pub(crate) theme: Theme,
}

impl Surface<'_> {
    /// Writes a text of at most `width` columns, and returns the column after it.
    pub(crate) fn print(&mut self, x: u16, y: u16, width: u16, text: impl AsRef<str>, role: Role) -> u16 {
        self.buf.set_stringn(x, y, text, usize::from(width), self.theme.style(role)).0
    }

    /// Draws a row of short texts. If not all texts fit, the last ones are left out.
    pub(crate) fn segments(&mut self, area: Rect, left: &[Segment], right: &[Segment]) {
        let row = Rect { height: 1, ..area }.intersection(self.buf.area);
        if row.is_empty() || area.height == 0 {
            return;
        }
        let width = usize::from(row.width);
        let left = fitting(left, width);
        let left_width = width_of(left);
        let right = fitting(right, width.saturating_sub(left_width + GAP));
        self.put(row.x, row, left);
        let right_width = u16::try_from(width_of(right)).unwrap_or(row.width);
        self.put(row.right().saturating_sub(right_width), row, right);
    }

    fn put(&mut self, mut x: u16, row: Rect, segments: &[Segment]) {
        for (text, role) in segments {
            x = self.print(x, row.y, row.right().saturating_sub(x), text, *role);
            x = x.saturating_add(2);
        }
    }
}

/// Returns a row of the area, counted from its top.
pub(crate) fn row_of(area: Rect, row: u16) -> Rect {
    Rect { y: area.y + row, height: 1, ..area }
}

fn fitting(mut segments: &[Segment], width: usize) -> &[Segment] {
    while width_of(segments) > width {
        segments = &segments[..segments.len() - 1];
    }
    segments
}

fn width_of(segments: &[Segment]) -> usize {
    let texts: usize = segments.iter().map(|(text, _)| text::width_of(text)).sum();
    texts + GAP * segments.len().saturating_sub(1)
}
