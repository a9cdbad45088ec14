//! Bottom line of the dashboard: the views and the keys, or the answer to the last key.

use ratatui::layout::Rect;

use crate::terminal::keys::bindings;
use crate::terminal::state::{Shown, State, View};
use crate::terminal::{Role, Segment, Surface};
use crate::text;

/// Draws the bottom line of the dashboard: texts on the left, and the keys on the right. If there is an answer to the last
/// key or a warning, it replaces them. Callers pass a warning only if the rest of the screen does not show it.
pub(crate) fn draw<F: Shown>(
    area: Rect,
    surface: &mut Surface<'_>,
    state: &State<F>,
    warning: Option<String>,
    left: &[Segment],
    limit: Option<&str>,
) {
    if let Some(text) = state.notice.text().map(str::to_owned).or(warning) {
        let text = text::fit(&text, usize::from(area.width));
        return surface.segments(area, &[(text, Role::Alert)], &[]);
    }
    let hinted = bindings::<F>().filter(|(binding, _)| !binding.hint.is_empty());
    let hints = hinted.map(|(binding, _)| format!("{} {}", binding.label, binding.hint));
    let keys = hints.chain(limit.map(|limit| format!("[ ] {limit}")));
    surface.segments(area, left, &keys.map(|key| (key, Role::Faint)).collect::<Vec<_>>());
}

/// Returns the keys of the views. The names of those that are not shown are left out in a narrow area.
pub(crate) fn views(shown: View, width: u16) -> Vec<Segment> {
    let tab = |(key, view): (usize, View)| {
        let is_shown = view == shown;
        let text = if width >= 60 || is_shown { format!("{key} {}", view.name()) } else { key.to_string() };
        (text, if is_shown { Role::Selected } else { Role::Faint })
    };
    (1..).zip(View::ALL).map(tab).collect()
}
