//! Horizontal bars whose length is exact to an eighth of a column.

use ratatui::layout::Rect;

use crate::figures::Progress;
use crate::terminal::painter::steps;
use crate::terminal::{Role, Surface};
use crate::text;

const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

const IN_VAIN: &str = "×";

const PERCENT: u16 = 6;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent {
    /// Share of the work that has ended, successful or not, 0 to 1; `None` if the total is unknown.
    pub(crate) share: Option<f64>,
    /// Share of all work that ended without success, 0 to 1. It is part of `share`.
    pub(crate) in_vain: f64,
    /// Position of a mark on the bar, 0 to 1. The mark shows the elapsed time as a share of the lower bound on the
    /// makespan.
    pub(crate) mark: Option<f64>,
}

impl Extent {
    pub(crate) fn plain(share: f64) -> Self {
        Self { share: Some(share), ..Self::default() }
    }

    pub(crate) fn new(progress: &Progress) -> Self {
        let mark = progress.optimal_share();
        Self { share: progress.share(), in_vain: progress.given_up_share(), mark }
    }
}

pub(crate) fn draw(area: Rect, surface: &mut Surface<'_>, extent: Extent) {
    let Extent { share, in_vain, mark } = extent;
    let bar =
        Rect { height: 1, width: area.width.saturating_sub(PERCENT), ..area }.intersection(surface.buf.area);
    surface.print(bar.x, bar.y, bar.width, "░".repeat(usize::from(bar.width)), Role::Faint);
    let over = share.unwrap_or(0.0);
    if in_vain > 0.0 {
        let columns = usize::from(steps(over, bar.width).max(1));
        surface.print(bar.x, bar.y, bar.width, IN_VAIN.repeat(columns), Role::Failed);
    }
    // A difference of at most 1e-9 is a rounding error, so it is not drawn as successful work.
    let done = if over - in_vain > 1e-9 { over - in_vain } else { 0.0 };
    fill(bar, surface, done, Role::Accepted);
    if let (Some(mark), Some(_)) = (mark, share) {
        let column = steps(mark, bar.width.saturating_sub(1));
        surface.print(bar.x + column, bar.y, 1, "┃", Role::LowerBound);
    }
    let percent = share.map_or_else(|| "–".to_owned(), text::whole_percent);
    surface.print(bar.right(), bar.y, PERCENT, format!("{percent:>6}"), Role::Title);
}

/// Fills a share (0 to 1) of a row with a bar. A positive share fills at least one eighth of a column.
pub(crate) fn fill(row: Rect, surface: &mut Surface<'_>, share: f64, role: Role) {
    let row = Rect { height: row.height.min(1), ..row }.intersection(surface.buf.area);
    if !row.is_empty() {
        let eighths = steps(share, row.width.saturating_mul(8)).max(u16::from(share > 0.0));
        let filled = "█".repeat(usize::from(eighths / 8)) + EIGHTHS[usize::from(eighths % 8)];
        surface.print(row.x, row.y, row.width, filled, role);
    }
}
