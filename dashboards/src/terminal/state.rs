//! State of the dashboard's view, as chosen by the user. The state has no clock, and measures time in frames.

use crate::figures::Scale;
use crate::{Frame, Header};

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

pub(crate) struct State {
    pub(crate) header: Header,
    pub(crate) view: View,
    /// Scale of the axis of the rates chart.
    pub(crate) scale: Scale,
    pub(crate) help: bool,
    pub(crate) paused: Option<Box<Frame>>,
    pub(crate) stopping: bool,
    pub(crate) notice: Notice,
}

impl State {
    pub(crate) fn new(header: Header) -> Self {
        Self {
            header,
            view: View::default(),
            scale: Scale::default(),
            help: false,
            paused: None,
            stopping: false,
            notice: Notice::default(),
        }
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
