//! Progress of a run in two rows: a bar of the work done, and the numbers. A mark on the bar shows the elapsed time as
//! a share of the lower bound on the makespan.

use ratatui::layout::Rect;

use super::bar;
use crate::figures::{Goal, Progress};
use crate::terminal::{Role, Segment, Surface, row_of};
use crate::{Frame, text};

pub(crate) fn draw(area: Rect, surface: &mut Surface<'_>, frame: &Frame) {
    let progress = Progress::new(&frame.snapshot);
    bar::draw(area, surface, bar::Extent::new(&progress));
    let (left, right) = numbers_of(&progress, usize::from(area.width));
    surface.segments(row_of(area, 1), &left, &right);
}

fn numbers_of(progress: &Progress, width: usize) -> (Vec<Segment>, Vec<Segment>) {
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
    let mut left = vec![(ops, Role::Title)];
    left.extend(progress.given_up_text().map(|text| (text, Role::Failed)));
    left.push((format!("eta {eta:>6}"), Role::Plain));
    let elapsed = (format!("elapsed {:>6}", text::clock(progress.elapsed_s)), Role::Plain);
    match progress.optimal_s.map(text::clock) {
        Some(optimal) if narrow => (left, vec![(format!("┃min {optimal}"), Role::LowerBound)]),
        None if narrow => (left, vec![elapsed]),
        Some(optimal) => (left, vec![elapsed, (format!("┃ takes at least {optimal}"), Role::LowerBound)]),
        // No lower bound on the makespan is known for servers other than `mockserver`. The bound is also unknown if the
        // server turned out to differ from the one for which the bound was proven.
        None => (left, vec![elapsed, ("no lower bound known".to_owned(), Role::Faint)]),
    }
}
