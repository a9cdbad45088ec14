//! Layout of the dashboard for screens of different sizes. Every rectangle lies within the screen.

use ratatui::layout::{Constraint, Layout, Rect};

/// Minimum size of a screen that can show a run, in columns and rows.
pub(crate) const SMALLEST: (u16, u16) = (40, 12);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrangement {
    pub(crate) header: Rect,
    pub(crate) progress: Rect,
    pub(crate) body: Rect,
    /// Row for the state of the load generator. Empty on small screens.
    pub(crate) generator: Rect,
    pub(crate) footer: Rect,
}

/// Divides a screen of at least [`SMALLEST`] size into the rectangles of the dashboard.
pub(crate) fn arrange(screen: Rect) -> Arrangement {
    let generator = u16::from(screen.height >= 16);
    let [header, progress, body, generator, footer] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(2),
        Constraint::Min(0),
        Constraint::Length(generator),
        Constraint::Length(1),
    ])
    .areas(screen);
    Arrangement { header, progress, body, generator, footer }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Overview {
    pub(crate) charts: Vec<Rect>,
    /// Panels for the strategy, the latency and the attempts; `None` on small screens.
    pub(crate) panels: Option<[Rect; 3]>,
    /// Area for three lines of text, which replace the panels on small screens.
    pub(crate) lines: Option<Rect>,
}

pub(crate) fn overview(body: Rect) -> Overview {
    let (charts, panels) = if body.width >= 110 && body.height >= 18 {
        let side_width = (body.width * 36 / 100).min(64);
        let [charts, side] =
            Layout::horizontal([Constraint::Min(0), Constraint::Length(side_width)]).spacing(2).areas(body);
        (charts, stacked_panels(side))
    } else if body.width >= 76 && body.height >= 17 {
        let panel_height = (body.height / 3).clamp(6, 10);
        let [charts, row] =
            Layout::vertical([Constraint::Min(0), Constraint::Length(panel_height)]).areas(body);
        let panels = Layout::horizontal([5, 4, 4].map(Constraint::Fill)).spacing(2).areas(row);
        (charts, panels)
    } else if body.height >= 34 {
        let [charts, panels] = Layout::vertical([Constraint::Min(0), Constraint::Length(20)]).areas(body);
        (charts, stacked_panels(panels))
    } else {
        let [charts, lines] = Layout::vertical([Constraint::Min(0), Constraint::Length(3)]).areas(body);
        let charts = if charts.height >= 11 { halves(charts) } else { vec![charts] };
        return Overview { charts, panels: None, lines: Some(lines) };
    };
    Overview { charts: halves(charts), panels: Some(panels), lines: None }
}

fn stacked_panels(area: Rect) -> [Rect; 3] {
    let strategy = (area.height / 4).clamp(6, 11);
    let attempts = (area.height / 3).clamp(5, 13);
    Layout::vertical([Constraint::Length(strategy), Constraint::Min(0), Constraint::Length(attempts)])
        .areas(area)
}

/// Splits an area into two charts, one above the other. The lower chart has one more row for the time axis.
fn halves(area: Rect) -> Vec<Rect> {
    let upper = area.height.saturating_sub(1) / 2;
    Layout::vertical([Constraint::Length(upper), Constraint::Min(0)]).split(area).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(width: u16, height: u16) -> (usize, bool) {
        let overview = overview(arrange(Rect::new(0, 0, width, height)).body);
        (overview.charts.len(), overview.panels.is_some())
    }

    #[test]
    fn small_screens_show_less() {
        assert_eq!(shape(40, 12), (1, false));
        assert_eq!(shape(60, 20), (2, false));
        assert_eq!(shape(80, 24), (2, true));
        assert_eq!(shape(120, 40), (2, true));
        assert_eq!(shape(50, 50), (2, true));
    }
}
