//! Panel of attempts per op. It shows how many ops needed how many attempts, and the share of attempts without success.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::rule::{LegendKey, rule};
use super::segments;
use crate::Frame;
use crate::figures::{AttemptStats, attempts_per_op, failures};
use crate::terminal::painter::steps;
use crate::terminal::theme::{Role, Theme};
use crate::text;

/// Widths in terminal columns: of the labels of the bars (such as `100–999`), and of the percentages.
const LABEL: u16 = 8;
const PERCENT: u16 = 8;

pub(crate) fn draw(area: Rect, buf: &mut Buffer, frame: &Frame, theme: Theme) {
    let effort = AttemptStats::new(&frame.snapshot);
    let value = format!("{:>5}", effort.per_op_text());
    rule(
        area,
        buf,
        theme,
        "Attempts per op",
        &[LegendKey { mark: "", name: "".into(), value, role: Role::Faint }],
    );
    if area.height < 3 {
        return;
    }
    let faint = theme.style(Role::Faint);
    let wasted = (format!("no success {:>6}", text::percent(effort.wasted())), Style::new());
    let mut right = vec![(format!("of {}", text::count(effort.attempts)), faint)];
    if area.width >= 40 {
        right.push((format!("efficiency {:>7}", text::percent(effort.efficiency)), Style::new()));
    }
    segments::draw(Rect { y: area.y + 1, height: 1, ..area }, buf, &[wasted], &right);

    let mut rows = area.height - 2;
    if let Some(words) = failures(&frame.snapshot)
        && rows > 1
    {
        rows -= 1;
        let y = area.y + 2 + rows;
        let style = theme.style(Role::Failed);
        buf.set_stringn(area.x, y, format!("failed {words}"), usize::from(area.width), style);
    }
    for (row, bin) in (0..rows).zip(attempts_per_op(&frame.snapshot, usize::from(rows))) {
        let y = area.y + 2 + row;
        buf.set_stringn(area.x, y, format!("{:<7}", bin.label), usize::from(LABEL.min(area.width)), faint);
        let bar = area.width.saturating_sub(LABEL + PERCENT);
        let filled = steps(bin.share, bar).max(u16::from(bin.share > 0.0));
        let role = if bin.label == "1" { Role::Accepted } else { Role::Rejected };
        buf.set_stringn(
            area.x + LABEL,
            y,
            "■".repeat(usize::from(filled)),
            usize::from(bar),
            theme.style(role),
        );
        let percent = format!("{:>8}", text::percent(bin.share));
        let x = area.right().saturating_sub(PERCENT).max(area.x);
        buf.set_stringn(x, y, percent, usize::from(area.right() - x), Style::new());
    }
}
