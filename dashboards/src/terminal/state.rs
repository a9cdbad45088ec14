//! What the user has chosen to see. Knows no clock: time passes by frames.

use super::notice::Notice;
use crate::figures::Scale;
use crate::{Frame, Header};

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
    /// What the bottom line says instead of the keys.
    pub(crate) notice: Notice,
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
            notice: Notice::default(),
        }
    }
}
