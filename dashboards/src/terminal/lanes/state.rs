//! What the user has chosen to see of the lanes.

use crossterm::event::KeyEvent;

use super::keys::handle_key;
use super::render::render;
use crate::terminal::notice::Notice;
use crate::terminal::theme::Theme;
use crate::terminal::watch::Dashboard;
use crate::{Action, Lanes, LanesHeader};

/// What the user has chosen to see.
pub(crate) struct LanesState {
    pub(crate) header: LanesHeader,
    /// Whether the help lies over the lanes.
    pub(crate) help: bool,
    /// The lanes that are shown while the view is paused.
    pub(crate) paused: Option<Box<Lanes>>,
    /// Whether all was asked to end.
    pub(crate) stopping: bool,
    /// The lane at the top where they do not all fit; `None` follows the run that goes on.
    pub(crate) top: Option<usize>,
    /// What the bottom line says instead of the keys.
    pub(crate) notice: Notice,
}

impl LanesState {
    /// What is shown at first.
    pub(crate) fn new(header: LanesHeader) -> Self {
        Self { header, help: false, paused: None, stopping: false, top: None, notice: Notice::default() }
    }
}

impl Dashboard for LanesState {
    type Frame = Lanes;

    fn on_frame(&mut self) {
        self.notice.on_frame();
    }

    fn handle_key(&mut self, key: KeyEvent, frame: &Lanes) -> Option<Action> {
        handle_key(self, key, frame)
    }

    fn say(&mut self, words: String) {
        self.notice.set(words);
    }

    fn render(&self, canvas: &mut ratatui::Frame<'_>, frame: &Lanes, theme: Theme) {
        render(canvas, frame, self, theme);
    }
}
