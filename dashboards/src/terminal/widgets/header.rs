//! Top line of the dashboard: strategy, workload, target, and the state of the run.

use loadgen_core::Phase;
use ratatui::layout::Rect;

use crate::terminal::state::State;
use crate::terminal::{Role, Segment, Surface};
use crate::{Frame, text};

pub(crate) fn draw(area: Rect, surface: &mut Surface<'_>, frame: &Frame, state: &State) {
    let (phase, role) = match frame.snapshot.phase {
        Phase::Done => ("done", Role::Title),
        _ if state.stopping => ("stopping…", Role::Alert),
        Phase::Stopping => ("stopping…", Role::Alert),
        Phase::Arriving => ("arriving", Role::Title),
        Phase::Finishing => ("finishing", Role::Title),
    };
    let clock = text::clock(frame.snapshot.now.as_secs_f64());
    let status = [(phase.to_owned(), role), (format!("{clock:>7}"), Role::Title)];
    let header = &state.header;
    let titles = [header.strategy.as_str(), &header.workload, &header.target];
    draw_line(area, surface, state.paused.is_some(), header.time_scale, titles, status);
}

/// Draws the titles on the left, and the status on the right.
pub(crate) fn draw_line(
    area: Rect,
    surface: &mut Surface<'_>,
    is_paused: bool,
    time_scale: f64,
    [title, workload, target]: [&str; 3],
    status: impl IntoIterator<Item = Segment>,
) {
    let mut right = Vec::new();
    if is_paused {
        right.push((" view paused ".to_owned(), Role::Alert));
    }
    if time_scale > 0.0 && (time_scale - 1.0).abs() > 1e-9 {
        right.push((format!("time × {time_scale}"), Role::Faint));
    }
    right.extend(status);
    let right_width: usize = right.iter().map(|(text, _)| text::width_of(text) + 2).sum();
    let room = usize::from(area.width).saturating_sub(right_width);
    let title = text::fit(title, room);
    let rest_room = room.saturating_sub(text::width_of(&title) + 2);
    let mut left = vec![(title, Role::Name)];
    if rest_room >= 8 {
        let rest = [workload, target].into_iter().filter(|text| !text.is_empty());
        left.push((text::fit(&rest.collect::<Vec<_>>().join(" · "), rest_room), Role::Plain));
    }
    surface.segments(area, &left, &right);
}
