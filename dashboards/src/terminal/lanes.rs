//! The dashboard of several strategies: a lane for each, one below the other.

mod keys;
mod lane;
mod numbers;
mod render;
mod state;
mod table;

#[cfg(test)]
mod tests;

use super::theme::Theme;
use super::watch::show;
use crate::{Action, Background, Lanes, LanesHeader, Liveness, WatchError};
use state::LanesState;

/// Shows strategies side by side on the terminal until `refresh` says that all is over.
///
/// Everything is as with [`watch`](crate::watch()), but nothing can be asked for except [`Action::Quit`]: a server that
/// is changed in between would not be the same for all.
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
