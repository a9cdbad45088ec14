//! State of the dashboard's view, as chosen by the user. The state has no clock, and measures time in frames.

use ratatui::layout::Rect;

use super::Surface;
use crate::Frame;
use crate::figures::Scale;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum View {
    #[default]
    Overview,
    Rates,
    Window,
    Latency,
}

impl View {
    /// All views of the dashboard, in the order of the keys that select them.
    pub(crate) const ALL: [Self; 4] = [Self::Overview, Self::Rates, Self::Window, Self::Latency];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Overview => "all",
            Self::Rates => "rates",
            Self::Window => "window",
            Self::Latency => "latency",
        }
    }

    pub(crate) fn further(self, places: usize) -> Self {
        Self::ALL[(self as usize + places) % Self::ALL.len()]
    }
}

/// Content of a dashboard: the frames of one run, or the lanes of several strategies.
pub(crate) trait Shown: Clone + Default {
    type Header: Default;

    /// Column of the key table that has this dashboard's help.
    const HELP: usize;

    /// Explanations of the charts, which the help shows below the keys.
    const LEGEND: &[&str];

    /// Returns why the server's limit cannot be changed; `None` if it can.
    fn fixed_limit(header: &Self::Header) -> Option<&'static str>;

    /// Draws the whole screen, which is not too small.
    fn draw(&self, screen: Rect, surface: &mut Surface<'_>, state: &State<Self>);
}

#[derive(Default)]
pub(crate) struct State<F: Shown = Frame> {
    pub(crate) header: F::Header,
    pub(crate) view: View,
    /// Scale of the axis of the rates chart.
    pub(crate) scale: Scale,
    /// Index of the lane at the top of the screen, if not all lanes fit. With `None`, the view follows the run in
    /// progress.
    pub(crate) top: Option<usize>,
    pub(crate) help: bool,
    pub(crate) paused: Option<Box<F>>,
    pub(crate) stopping: bool,
    pub(crate) notice: Notice,
}

impl<F: Shown> State<F> {
    pub(crate) fn new(header: F::Header) -> Self {
        Self { header, ..Self::default() }
    }
}

/// Answer to a key press, shown in the bottom line for a few seconds.
const FRAMES: u16 = 40;

/// Notice and the number of frames for which it is still shown. The notice replaces the key hints in the bottom line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notice(Option<(String, u16)>);

impl Notice {
    pub(crate) fn set(&mut self, text: impl Into<String>) {
        self.0 = Some((text.into(), FRAMES));
    }

    pub(crate) fn on_frame(&mut self) {
        self.0 = self.0.take().and_then(|(text, left)| Some((text, left.checked_sub(1)?)));
    }

    pub(crate) fn clear(&mut self) {
        self.0 = None;
    }

    pub(crate) fn text(&self) -> Option<&str> {
        self.0.as_ref().map(|(text, _)| text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_fades() {
        let mut notice = Notice::default();
        notice.set("the cap can't be changed");
        for _ in 0..FRAMES {
            notice.on_frame();
        }
        assert!(notice.text().is_some());
        notice.on_frame();
        assert_eq!(notice.text(), None);
    }
}
