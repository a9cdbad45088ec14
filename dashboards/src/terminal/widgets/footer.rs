//! Bottom line of the dashboard: the views and the keys, or the answer to the last key.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::segments::{self, Segment};
use crate::Frame;
use crate::terminal::keys::bindings;
use crate::terminal::state::{Shown, State, View};
use crate::terminal::theme::{Role, Theme};
use crate::text;

/// Draws the bottom line of the dashboard. If there is a warning, it replaces the list of keys. Callers pass a warning
/// only if the rest of the screen does not show it.
pub(crate) fn draw(area: Rect, buf: &mut Buffer, state: &State, warning: Option<String>, theme: Theme) {
    if let Some(text) = state.notice.text().map(str::to_owned).or(warning) {
        say(area, buf, &text, theme);
        return;
    }
    let names = area.width >= 60;
    let views: Vec<Segment> =
        (1..).zip(View::ALL).map(|(key, view)| tab(key, view, state, names, theme)).collect();
    let mut keys = hints::<Frame>(theme);
    if let Some(name) = &state.header.adjustable_limit {
        keys.push((format!("[ ] {name}"), theme.style(Role::Faint)));
    }
    segments::draw(area, buf, &views, &keys);
}

pub(crate) fn say(area: Rect, buf: &mut Buffer, text: &str, theme: Theme) {
    let text = text::fit(text, usize::from(area.width));
    segments::draw(area, buf, &[(text, theme.style(Role::Alert))], &[]);
}

pub(crate) fn hints<F: Shown>(theme: Theme) -> Vec<Segment> {
    bindings::<F>()
        .filter(|(binding, _)| !binding.hint.is_empty())
        .map(|(binding, _)| (format!("{} {}", binding.label, binding.hint), theme.style(Role::Faint)))
        .collect()
}

fn tab(key: usize, view: View, state: &State, names: bool, theme: Theme) -> Segment {
    let here = view == state.view;
    let text = if names || here { format!("{key} {}", view.name()) } else { key.to_string() };
    if here {
        (text, theme.style(Role::Title).add_modifier(Modifier::UNDERLINED))
    } else {
        (text, theme.style(Role::Faint))
    }
}
