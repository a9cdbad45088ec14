//! Two rows: a bar of what is done, with a mark where the optimal client would be; and the same in numbers.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::bar;
use super::segments::{self, Segment};
use crate::Frame;
use crate::figures::{Goal, Progress};
use crate::terminal::theme::{Role, Theme};
use crate::text;

/// Draws it.
pub(crate) fn draw(area: Rect, buf: &mut Buffer, frame: &Frame, theme: Theme) {
    let progress = Progress::of(&frame.snapshot);
    bar::draw(area, buf, progress.share(), progress.optimal_share(), theme);
    let numbers = Rect { y: area.y + 1, height: 1, ..area };
    let (left, right) = numbers_of(&progress, usize::from(area.width), theme);
    segments::draw(numbers, buf, &left, &right);
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
