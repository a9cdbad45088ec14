//! State of the dashboard's view, as chosen by the user. The state has no clock, and measures time in frames.

use super::notice::Notice;
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
