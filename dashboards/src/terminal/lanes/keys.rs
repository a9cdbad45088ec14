//! Keyboard keys of the dashboard for several strategies. They are the keys of a single run's dashboard that make sense
//! for several runs, and keys that scroll to other strategies. The keys that change a limit only show a notice.

use crossterm::event::{KeyCode, KeyEvent};

use super::state::LanesState;
use crate::terminal::keys::{Binding, find};
use crate::{Action, Lanes};

pub(crate) const BINDINGS: &[Binding<LanesState, Lanes>] = &[
    Binding {
        label: "q",
        hint: "quit",
        help: "stop; keep the completed seeds (also Ctrl-C)",
        codes: &[KeyCode::Char('q')],
        command: |state, _| Some(quit(state)),
    },
    Binding {
        label: "?",
        hint: "help",
        help: "show or hide this (Esc: hide)",
        codes: &[KeyCode::Char('?'), KeyCode::Char('h')],
        command: |state, _| {
            state.help = !state.help;
            None
        },
    },
    Binding {
        label: "",
        hint: "",
        help: "",
        codes: &[KeyCode::Esc],
        command: |state, _| {
            (state.help, state.top) = (false, None);
            None
        },
    },
    Binding {
        label: "p",
        hint: "pause",
        help: "pause the display; the runs go on",
        codes: &[KeyCode::Char('p'), KeyCode::Char(' ')],
        command: toggle_pause,
    },
    Binding {
        label: "↑ ↓",
        hint: "",
        help: "scroll to the other strategies",
        codes: &[KeyCode::Up, KeyCode::Char('k')],
        command: |state, _| scroll(state, usize::saturating_sub),
    },
    Binding {
        label: "",
        hint: "",
        help: "",
        codes: &[KeyCode::Down, KeyCode::Char('j')],
        command: |state, _| scroll(state, usize::saturating_add),
    },
    Binding {
        label: "",
        hint: "",
        help: "",
        codes: &[KeyCode::Char('['), KeyCode::Char(']')],
        command: |state, _| {
            state.notice.set("the cap cannot be changed: all strategies need the same server");
            None
        },
    },
];

pub(crate) fn handle_key(state: &mut LanesState, key: KeyEvent, lanes: &Lanes) -> Option<Action> {
    let binding = find(BINDINGS, key)?;
    state.notice.clear();
    (binding.command)(state, lanes)
}

fn quit(state: &mut LanesState) -> Action {
    state.stopping = true;
    state.paused = None;
    state.help = false;
    Action::Quit
}

fn toggle_pause(state: &mut LanesState, lanes: &Lanes) -> Option<Action> {
    state.paused = match state.paused.take() {
        Some(_) => None,
        None => Some(Box::new(lanes.clone())),
    };
    None
}

fn scroll(state: &mut LanesState, step: fn(usize, usize) -> usize) -> Option<Action> {
    state.top = Some(step(state.top.unwrap_or(0), 1));
    None
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyModifiers;

    use super::*;
    use crate::LanesHeader;

    fn press(state: &mut LanesState, code: KeyCode, modifiers: KeyModifiers) -> Option<Action> {
        handle_key(state, KeyEvent::new(code, modifiers), &Lanes::default())
    }

    #[test]
    fn no_two_keys_are_the_same() {
        let codes: Vec<_> = BINDINGS.iter().flat_map(|binding| binding.codes).collect();
        for (index, code) in codes.iter().enumerate() {
            assert!(!codes[..index].contains(code), "{code:?}");
        }
    }

    /// Brackets change no limit, because all strategies need the same server.
    #[test]
    fn q_and_ctrl_c_quit_and_brackets_explain_the_fixed_server() {
        let mut state = LanesState::new(LanesHeader::default());
        assert_eq!(press(&mut state, KeyCode::Char('['), KeyModifiers::NONE), None);
        assert!(state.notice.text().unwrap().contains("same server"));
        assert_eq!(press(&mut state, KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Action::Quit));
        assert!(state.stopping && state.notice.text().is_none());
        assert_eq!(press(&mut state, KeyCode::Char('q'), KeyModifiers::NONE), Some(Action::Quit));
    }
}
