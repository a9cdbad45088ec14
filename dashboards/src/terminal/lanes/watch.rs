//! Loop that shows the lanes (one per strategy) on the terminal until all runs are over.

use crossterm::event::KeyEvent;

use super::keys::handle_key;
use super::render::render;
use super::state::LanesState;
use crate::terminal::theme::Theme;
use crate::terminal::watch::{Dashboard, show};
use crate::{Action, Background, Lanes, LanesHeader, Liveness, WatchError};

/// Shows strategies side by side on the terminal until `refresh` returns [`Liveness::Over`].
///
/// Works like [`watch`](crate::watch()), except that [`Action::Quit`] is the only action. Keys cannot change the
/// server, because the server must be the same for all strategies.
pub fn watch_lanes(
    header: LanesHeader,
    background: Background,
    refresh: impl FnMut(&mut Lanes) -> Liveness,
    mut act: impl FnMut(Action),
) -> Result<(), WatchError> {
    let theme = Theme::chosen(background);
    let act = |action| {
        act(action);
        None
    };
    show(LanesState::new(header), theme, refresh, act)
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
