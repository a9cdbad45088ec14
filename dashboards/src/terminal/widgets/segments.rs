//! Row of short texts. If not all texts fit, the last ones are left out.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::text;

const GAP: usize = 2;

pub(crate) type Segment = (String, Style);

pub(crate) fn draw(area: Rect, buf: &mut Buffer, left: &[Segment], right: &[Segment]) {
    let row = Rect { height: 1, ..area }.intersection(buf.area);
    if row.is_empty() || area.height == 0 {
        return;
    }
    let width = usize::from(row.width);
    let left = fitting(left, width);
    let left_width = width_of(left);
    let right = fitting(right, width.saturating_sub(left_width + GAP));
    put(row.x, row, buf, left);
    let right_width = u16::try_from(width_of(right)).unwrap_or(row.width);
    put(row.right().saturating_sub(right_width), row, buf, right);
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

fn put(mut x: u16, row: Rect, buf: &mut Buffer, segments: &[Segment]) {
    for (text, style) in segments {
        x = buf.set_stringn(x, row.y, text, usize::from(row.right().saturating_sub(x)), *style).0;
        x = x.saturating_add(2);
    }
}
