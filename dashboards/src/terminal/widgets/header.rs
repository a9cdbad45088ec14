//! Top line of the dashboard: strategy, workload, target, and the state of the run.

use loadgen_core::Phase;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::segments;
use crate::Frame;
use crate::terminal::state::State;
use crate::terminal::theme::{Role, Theme};
use crate::text;

pub(crate) fn draw(area: Rect, buf: &mut Buffer, frame: &Frame, state: &State, theme: Theme) {
    let mut status = Vec::new();
    if state.paused.is_some() {
        status.push((" view paused ".to_owned(), theme.style(Role::Alert)));
    }
    if state.header.time_scale > 0.0 && (state.header.time_scale - 1.0).abs() > 1e-9 {
        status.push((format!("time × {}", state.header.time_scale), theme.style(Role::Faint)));
    }
    let (phase, role) = match frame.snapshot.phase {
        Phase::Done => ("done", Role::Title),
        _ if state.stopping => ("stopping…", Role::Alert),
        Phase::Stopping => ("stopping…", Role::Alert),
        Phase::Arriving => ("arriving", Role::Title),
        Phase::Finishing => ("finishing", Role::Title),
    };
    status.push((phase.to_owned(), theme.style(role)));
    let clock = text::clock(frame.snapshot.now.as_secs_f64());
    status.push((format!("{clock:>7}"), theme.style(Role::Title)));

    let status_width: usize = status.iter().map(|(text, _)| text::width_of(text) + 2).sum();
    let room = usize::from(area.width).saturating_sub(status_width);
    segments::draw(area, buf, &titles(state, room, theme), &status);
}

fn titles(state: &State, room: usize, theme: Theme) -> Vec<(String, Style)> {
    let header = &state.header;
    let strategy = text::fit(&header.strategy, room);
    let rest = [header.workload.as_str(), header.target.as_str()];
    let rest: Vec<_> = rest.into_iter().filter(|text| !text.is_empty()).collect();
    let left = room.saturating_sub(text::width_of(&strategy) + 2);
    let mut titles = vec![(strategy, theme.style(Role::Window).add_modifier(Modifier::BOLD))];
    if left >= 8 {
        titles.push((text::fit(&rest.join(" · "), left), Style::new()));
    }
    titles
}
