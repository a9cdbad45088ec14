//! What the user has chosen to see. Knows no clock: time passes by frames.

use crate::figures::Scale;
use crate::{Frame, Header};

/// How many frames a notice stays.
const NOTICE_FRAMES: u16 = 40;

/// What fills the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum View {
    /// A bit of everything.
    #[default]
    Overview,
    /// Requests per second.
    Rates,
    /// Window, ssthresh and in flight against the cap.
    Window,
    /// Op latency and attempts per op.
    Latency,
}

impl View {
    /// In the order of their keys.
    pub(crate) const ALL: [Self; 4] = [Self::Overview, Self::Rates, Self::Window, Self::Latency];

    /// Its name in the bottom line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Overview => "all",
            Self::Rates => "rates",
            Self::Window => "window",
            Self::Latency => "latency",
        }
    }

    /// The view this many places further, round and round.
    pub(crate) fn further(self, places: usize) -> Self {
        Self::ALL[(self as usize + places) % Self::ALL.len()]
    }
}

/// What the user has chosen to see.
pub(crate) struct State {
    pub(crate) header: Header,
    pub(crate) view: View,
    /// Of the rates.
    pub(crate) scale: Scale,
    /// Whether the help lies over the view.
    pub(crate) help: bool,
    /// The frame that is shown while the view is paused.
    pub(crate) paused: Option<Box<Frame>>,
    /// Whether the run was asked to end.
    pub(crate) stopping: bool,
    /// What the bottom line says instead of the keys, and for how many frames more.
    pub(super) notice: Option<(String, u16)>,
}

impl State {
    /// What is shown at first.
    pub(crate) fn new(header: Header) -> Self {
        Self {
            header,
            view: View::default(),
            scale: Scale::default(),
            help: false,
            paused: None,
            stopping: false,
            notice: None,
        }
    }

    /// Another frame is drawn: notices fade.
    pub(crate) fn on_frame(&mut self) {
        self.notice = self.notice.take().and_then(|(text, left)| Some((text, left.checked_sub(1)?)));
    }

    /// Answers a key in the bottom line for a few seconds.
    pub(crate) fn notify(&mut self, text: impl Into<String>) {
        self.notice = Some((text.into(), NOTICE_FRAMES));
    }

    /// Takes the notice back: the next key was pressed.
    pub(crate) fn clear_notice(&mut self) {
        self.notice = None;
    }

    /// What the bottom line says instead of the keys.
    pub(crate) fn notice(&self) -> Option<&str> {
        self.notice.as_ref().map(|(text, _)| text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_fades() {
        let mut state = State::new(Header::default());
        state.notify("the cap can't be changed");
        for _ in 0..NOTICE_FRAMES {
            state.on_frame();
        }
        assert!(state.notice().is_some());
        state.on_frame();
        assert_eq!(state.notice(), None);
    }
}
