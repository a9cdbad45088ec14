//! Keys of the dashboard of a single run, in one table that defines both the key handler and the help.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::state::{State, View};
use crate::{Action, Frame};

pub(crate) const BINDINGS: &[Binding<State, Frame>] = &[
    Binding {
        label: "q",
        hint: "quit",
        help: "end the run, keep its results (also Ctrl-C)",
        codes: &[KeyCode::Char('q')],
        command: |state, _| Some(quit(state)),
    },
    Binding {
        label: "?",
        hint: "help",
        help: "show or hide this (Esc: hide)",
        codes: &[KeyCode::Char('?'), KeyCode::Char('h')],
        command: toggle_help,
    },
    Binding {
        label: "",
        hint: "",
        help: "",
        codes: &[KeyCode::Esc],
        command: |state, _| show(state, state.view),
    },
    Binding {
        label: "p",
        hint: "pause",
        help: "pause the display; the run goes on",
        codes: &[KeyCode::Char('p'), KeyCode::Char(' ')],
        command: toggle_pause,
    },
    Binding {
        label: "l",
        hint: "log",
        help: "rates: linear or logarithmic",
        codes: &[KeyCode::Char('l')],
        command: toggle_scale,
    },
    Binding {
        label: "[",
        hint: "",
        help: "lower the server's limit; it stays changed",
        codes: &[KeyCode::Char('[')],
        command: lower_limit,
    },
    Binding {
        label: "]",
        hint: "",
        help: "raise the server's limit; it stays changed",
        codes: &[KeyCode::Char(']')],
        command: raise_limit,
    },
    Binding {
        label: "Tab",
        hint: "",
        help: "next view (Shift-Tab: back)",
        codes: &[KeyCode::Tab, KeyCode::Right],
        command: |state, _| show(state, state.view.further(1)),
    },
    Binding {
        label: "",
        hint: "",
        help: "",
        codes: &[KeyCode::BackTab, KeyCode::Left],
        command: |state, _| show(state, state.view.further(View::ALL.len() - 1)),
    },
    Binding {
        label: "1",
        hint: "",
        help: "overview",
        codes: &[KeyCode::Char('1')],
        command: |state, _| show(state, View::Overview),
    },
    Binding {
        label: "2",
        hint: "",
        help: "requests per second",
        codes: &[KeyCode::Char('2')],
        command: |state, _| show(state, View::Rates),
    },
    Binding {
        label: "3",
        hint: "",
        help: "window against the cap",
        codes: &[KeyCode::Char('3')],
        command: |state, _| show(state, View::Window),
    },
    Binding {
        label: "4",
        hint: "",
        help: "latency and attempts per op",
        codes: &[KeyCode::Char('4')],
        command: |state, _| show(state, View::Latency),
    },
];

/// Executes the command of a key. Keys without a command have no effect. `frame` is the frame that would be drawn now.
pub(crate) fn handle_key(state: &mut State, key: KeyEvent, frame: &Frame) -> Option<Action> {
    let binding = find(BINDINGS, key)?;
    state.notice.clear();
    (binding.command)(state, frame)
}

fn quit(state: &mut State) -> Action {
    state.stopping = true;
    state.paused = None;
    state.help = false;
    Action::Quit
}

fn toggle_help(state: &mut State, _: &Frame) -> Option<Action> {
    state.help = !state.help;
    None
}

fn toggle_pause(state: &mut State, frame: &Frame) -> Option<Action> {
    state.paused = match state.paused.take() {
        Some(_) => None,
        None => Some(Box::new(frame.clone())),
    };
    None
}

fn toggle_scale(state: &mut State, _: &Frame) -> Option<Action> {
    state.scale = state.scale.other();
    None
}

fn show(state: &mut State, view: View) -> Option<Action> {
    state.view = view;
    state.help = false;
    None
}

fn lower_limit(state: &mut State, _: &Frame) -> Option<Action> {
    change_limit(state, Action::LowerLimit)
}

fn raise_limit(state: &mut State, _: &Frame) -> Option<Action> {
    change_limit(state, Action::RaiseLimit)
}

/// Returns the action that requests a change of the server's limit. The caller of the dashboard executes the action,
/// and answers with the limit's name and new value. If no limit can be changed, shows a notice instead.
fn change_limit(state: &mut State, action: Action) -> Option<Action> {
    if state.header.adjustable_limit.is_some() {
        Some(action)
    } else {
        state.notice.set("no limit can be changed: the target is not a mock server, or has no limits");
        None
    }
}

/// Keys of the dashboard and their commands. Tables define both the key handler and the help.
pub(crate) struct Binding<S: 'static, F: 'static> {
    /// Name of the key in the help; empty if the help does not list the key.
    pub(crate) label: &'static str,
    /// Label of the key in the bottom line, in one or two words; empty if the bottom line does not list the key.
    pub(crate) hint: &'static str,
    pub(crate) help: &'static str,
    pub(crate) codes: &'static [KeyCode],
    pub(crate) command: fn(&mut S, &F) -> Option<Action>,
}

/// Returns the binding of a key. In raw mode, Ctrl-C arrives as a key, and has the binding of `q`.
pub(crate) fn find<S, F>(bindings: &[Binding<S, F>], key: KeyEvent) -> Option<&Binding<S, F>> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let code = match key.code {
        KeyCode::Char('c') if control => KeyCode::Char('q'),
        KeyCode::Char(_) if control || key.modifiers.contains(KeyModifiers::ALT) => return None,
        code => code,
    };
    bindings.iter().find(|binding| binding.codes.contains(&code))
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyModifiers;

    use super::*;
    use crate::Header;
    use crate::figures::Scale;

    fn state(is_adjustable: bool) -> State {
        let adjustable_limit = is_adjustable.then(|| "cap".to_owned());
        State::new(Header { adjustable_limit, ..Header::default() })
    }

    fn press(state: &mut State, code: KeyCode) -> Option<Action> {
        handle_key(state, KeyEvent::new(code, KeyModifiers::NONE), &Frame::default())
    }

    #[test]
    fn no_key_has_two_meanings() {
        let codes: Vec<_> = BINDINGS.iter().flat_map(|binding| binding.codes).collect();
        for (index, code) in codes.iter().enumerate() {
            assert!(!codes[..index].contains(code), "{code:?}");
        }
    }

    #[test]
    fn quitting_asks_each_time_and_says_that_it_stops() {
        let mut state = state(false);
        assert_eq!(press(&mut state, KeyCode::Char('q')), Some(Action::Quit));
        assert!(state.stopping);
        assert_eq!(press(&mut state, KeyCode::Char('q')), Some(Action::Quit));
        let ctrl_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(handle_key(&mut state, ctrl_c, &Frame::default()), Some(Action::Quit));
    }

    #[test]
    fn tab_goes_round_the_views_and_back() {
        let mut state = state(false);
        for view in [View::Rates, View::Window, View::Latency, View::Overview] {
            press(&mut state, KeyCode::Tab);
            assert_eq!(state.view, view);
        }
        press(&mut state, KeyCode::BackTab);
        assert_eq!(state.view, View::Latency);
        press(&mut state, KeyCode::Char('3'));
        assert_eq!(state.view, View::Window);
    }

    #[test]
    fn a_limit_is_only_changed_where_that_is_possible() {
        let mut mock = state(true);
        assert_eq!(press(&mut mock, KeyCode::Char('[')), Some(Action::LowerLimit));
        assert_eq!(press(&mut mock, KeyCode::Char(']')), Some(Action::RaiseLimit));
        let mut foreign = state(false);
        assert_eq!(press(&mut foreign, KeyCode::Char('[')), None);
        assert!(foreign.notice.text().unwrap().contains("not a mock server"));
    }

    #[test]
    fn pausing_keeps_the_frame_and_l_changes_the_scale() {
        let mut state = state(false);
        press(&mut state, KeyCode::Char('p'));
        assert!(state.paused.is_some());
        press(&mut state, KeyCode::Char('p'));
        assert!(state.paused.is_none());
        press(&mut state, KeyCode::Char('l'));
        assert_eq!(state.scale, Scale::Logarithmic);
        press(&mut state, KeyCode::Char('?'));
        assert!(state.help);
    }

    #[test]
    fn unknown_keys_do_nothing() {
        let mut state = state(true);
        assert_eq!(press(&mut state, KeyCode::Char('x')), None);
        let alt = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::ALT);
        assert_eq!(handle_key(&mut state, alt, &Frame::default()), None);
        assert!(!state.stopping);
    }
}
