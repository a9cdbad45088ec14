//! Two rows: a bar of what is done, with a mark where the optimal client would be; and the same in numbers.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::segments::{self, Segment};
use crate::Frame;
use crate::figures::{Goal, Progress};
use crate::terminal::painter::steps;
use crate::terminal::theme::{Role, Theme};
use crate::text;

/// Parts of a block from the left, in eighths.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// Columns of the percentage.
const PERCENT: u16 = 6;

/// Draws it.
pub(crate) fn draw(area: Rect, buf: &mut Buffer, frame: &Frame, theme: Theme) {
    let progress = Progress::of(&frame.snapshot);
    draw_bar(area, buf, &progress, theme);
    let numbers = Rect { y: area.y + 1, height: 1, ..area };
    let (left, right) = numbers_of(&progress, usize::from(area.width), theme);
    segments::draw(numbers, buf, &left, &right);
}

fn draw_bar(area: Rect, buf: &mut Buffer, progress: &Progress, theme: Theme) {
    let bar = Rect { height: 1, width: area.width.saturating_sub(PERCENT), ..area }.intersection(buf.area);
    let share = progress.share();
    let eighths = steps(share.unwrap_or(0.0), bar.width.saturating_mul(8));
    buf.set_stringn(
        bar.x,
        bar.y,
        "░".repeat(usize::from(bar.width)),
        usize::from(bar.width),
        theme.style(Role::Faint),
    );
    let filled = "█".repeat(usize::from(eighths / 8)) + EIGHTHS[usize::from(eighths % 8)];
    buf.set_stringn(bar.x, bar.y, filled, usize::from(bar.width), theme.style(Role::Accepted));
    if let (Some(optimal), Some(_)) = (progress.optimal_share(), share) {
        let column = steps(optimal, bar.width.saturating_sub(1));
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

fn numbers_of(progress: &Progress, width: usize, theme: Theme) -> (Vec<Segment>, Vec<Segment>) {
    let narrow = width < 76;
    let eta = progress.eta_s.map_or_else(|| "–".to_owned(), text::estimate);
    let ops = match progress.goal {
        Goal::Ops(ops) => {
            let (ended, ops) = (text::count(progress.ended), text::count(ops));
            let slash = if narrow { "/" } else { " / " };
            format!("{ended:>w$}{slash}{ops} ops", w = ops.len())
        }
        Goal::Seconds(seconds) => format!("{} ops in {}", text::count(progress.ended), text::clock(seconds)),
        Goal::Open => format!("{} ops", text::count(progress.ended)),
    };
    let mut left = vec![(ops, theme.style(Role::Title)), (format!("eta {eta:>6}"), Style::new())];
    let Some(optimal_s) = progress.optimal_s else {
        left.push((format!("elapsed {}", text::clock(progress.elapsed_s)), Style::new()));
        return (left, Vec::new());
    };
    let optimal = text::clock(optimal_s);
    let style = theme.style(Role::Optimum);
    if narrow {
        return (left, vec![(format!("┃opt {optimal}"), style)]);
    }
    let elapsed = format!("elapsed {:>6}", text::clock(progress.elapsed_s));
    let pace = format!("┃ optimal pace, done at {optimal}");
    (left, vec![(elapsed, Style::new()), (pace, style)])
}
