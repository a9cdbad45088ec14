//! Panel of attempts per op. It shows how many ops needed how many attempts, and the share of attempts without success.

use ratatui::layout::Rect;

use super::rule::{LegendKey, rule};
use crate::figures::{AttemptStats, attempts_per_op, failures};
use crate::terminal::painter::steps;
use crate::terminal::{Role, Surface, row_of};
use crate::{Frame, text};

/// Widths in terminal columns: of the labels of the bars (such as `100–999`), and of the percentages.
const LABEL: u16 = 8;
const PERCENT: u16 = 8;

pub(crate) fn draw(area: Rect, surface: &mut Surface<'_>, frame: &Frame) {
    let effort = AttemptStats::new(&frame.snapshot);
    let value = format!("{:>5}", effort.per_op_text());
    rule(
        area,
        surface,
        "Attempts per op",
        &[LegendKey { mark: "", name: "".into(), value, role: Role::Faint }],
    );
    if area.height < 3 {
        return;
    }
    let wasted = (format!("no success {:>6}", text::percent(effort.wasted())), Role::Plain);
    let mut right = vec![(format!("of {}", text::count(effort.attempts)), Role::Faint)];
    if area.width >= 40 {
        right.push((format!("efficiency {:>7}", text::percent(effort.efficiency)), Role::Plain));
    }
    surface.segments(row_of(area, 1), &[wasted], &right);

    let mut rows = area.height - 2;
    if let Some(words) = failures(&frame.snapshot)
        && rows > 1
    {
        rows -= 1;
        let y = area.y + 2 + rows;
        surface.print(area.x, y, area.width, format!("failed {words}"), Role::Failed);
    }
    if frame.snapshot.early_shared > 0 && rows > 1 {
        rows -= 1;
        let words = format!("early {:>11}", text::count(frame.snapshot.early_shared));
        surface.print(area.x, area.y + 2 + rows, area.width, words, Role::Rejected);
    }
    for (row, bin) in (0..rows).zip(attempts_per_op(&frame.snapshot, usize::from(rows))) {
        let y = area.y + 2 + row;
        surface.print(area.x, y, LABEL.min(area.width), format!("{:<7}", bin.label), Role::Faint);
        let bar = area.width.saturating_sub(LABEL + PERCENT);
        let filled = steps(bin.share, bar).max(u16::from(bin.share > 0.0));
        let role = if bin.label == "1" { Role::Accepted } else { Role::Rejected };
        surface.print(area.x + LABEL, y, bar, "■".repeat(usize::from(filled)), role);
        let percent = format!("{:>8}", text::percent(bin.share));
        let x = area.right().saturating_sub(PERCENT).max(area.x);
        surface.print(x, y, area.right() - x, percent, Role::Plain);
    }
}
