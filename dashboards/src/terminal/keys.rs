//! Keys of both dashboards, in one table that defines the key handler, the hints and the help.

use crossterm::event::KeyCode::{BackTab, Char, Down, Esc, Left, Right, Tab, Up};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::state::{Shown, State, View};
use crate::Action;

pub(crate) struct Binding {
    /// Name of the key in the help; empty if the help does not list the key.
    pub(crate) label: &'static str,
    /// Label of the key in the bottom line, in one or two words; empty if the bottom line does not list the key.
    pub(crate) hint: &'static str,
    /// Help of the dashboard of one run, and of that of several strategies: `None` if it lacks the key, empty if its
    /// help does not list it.
    help: [Option<&'static str>; 2],
    codes: &'static [KeyCode],
    command: Command,
}

#[derive(Clone, Copy)]
enum Command {
    Quit,
    ToggleHelp,
    /// Hides the help, and follows the run in progress again.
    Close,
    TogglePause,
    ToggleScale,
    /// Requests a change of the server's limit. The caller of the dashboard makes the change, and answers with the limit's
    /// name and new value. If no limit can be changed, a notice is shown instead.
    ChangeLimit(Action),
    Further(usize),
    Show(View),
    Scroll(fn(usize, usize) -> usize),
}

const fn key(
    label: &'static str,
    hint: &'static str,
    help: [Option<&'static str>; 2],
    codes: &'static [KeyCode],
    command: Command,
) -> Binding {
    Binding { label, hint, help, codes, command }
}

const UNLISTED: Option<&str> = Some("");
const SHOW_HELP: Option<&str> = Some("show or hide this (Esc: hide)");
const BACK: usize = View::ALL.len() - 1;

const BINDINGS: &[Binding] = &[
    key(
        "q",
        "quit",
        [
            Some("end the run, keep its results (also Ctrl-C)"),
            Some("stop; keep the completed seeds (also Ctrl-C)"),
        ],
        &[Char('q')],
        Command::Quit,
    ),
    key("?", "help", [SHOW_HELP; 2], &[Char('?'), Char('h')], Command::ToggleHelp),
    key("", "", [UNLISTED; 2], &[Esc], Command::Close),
    key(
        "p",
        "pause",
        [Some("pause the display; the run goes on"), Some("pause the display; the runs go on")],
        &[Char('p'), Char(' ')],
        Command::TogglePause,
    ),
    key("l", "log", [Some("rates: linear or logarithmic"), None], &[Char('l')], Command::ToggleScale),
    key(
        "[",
        "",
        [Some("lower the server's limit; it stays changed"), UNLISTED],
        &[Char('[')],
        Command::ChangeLimit(Action::LowerLimit),
    ),
    key(
        "]",
        "",
        [Some("raise the server's limit; it stays changed"), UNLISTED],
        &[Char(']')],
        Command::ChangeLimit(Action::RaiseLimit),
    ),
    key("Tab", "", [Some("next view (Shift-Tab: back)"), None], &[Tab, Right], Command::Further(1)),
    key("", "", [UNLISTED, None], &[BackTab, Left], Command::Further(BACK)),
    key("1", "", [Some("overview"), None], &[Char('1')], Command::Show(View::Overview)),
    key("2", "", [Some("requests per second"), None], &[Char('2')], Command::Show(View::Rates)),
    key("3", "", [Some("window against the cap"), None], &[Char('3')], Command::Show(View::Window)),
    key("4", "", [Some("latency and attempts per op"), None], &[Char('4')], Command::Show(View::Latency)),
    key(
        "↑ ↓",
        "",
        [None, Some("scroll to the other strategies")],
        &[Up, Char('k')],
        Command::Scroll(usize::saturating_sub),
    ),
    key("", "", [None, UNLISTED], &[Down, Char('j')], Command::Scroll(usize::saturating_add)),
];

/// Returns the keys of a dashboard, each with its help.
pub(crate) fn bindings<F: Shown>() -> impl Iterator<Item = (&'static Binding, &'static str)> {
    BINDINGS.iter().filter_map(|binding| Some((binding, binding.help[F::HELP]?)))
}

/// Executes the command of a key. Keys without a command have no effect. `frame` is the frame that would be drawn now. In raw mode, Ctrl-C
/// arrives as a key, and has the binding of `q`.
pub(crate) fn handle_key<F: Shown>(state: &mut State<F>, key: KeyEvent, frame: &F) -> Option<Action> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let code = match key.code {
        Char('c') if control => Char('q'),
        Char(_) if control || key.modifiers.contains(KeyModifiers::ALT) => return None,
        code => code,
    };
    let (Binding { command, .. }, _) = bindings::<F>().find(|(binding, _)| binding.codes.contains(&code))?;
    state.notice.clear();
    match *command {
        Command::Quit => {
            (state.stopping, state.paused, state.help) = (true, None, false);
            return Some(Action::Quit);
        }
        Command::ToggleHelp => state.help = !state.help,
        Command::Close => (state.help, state.top) = (false, None),
        Command::TogglePause => {
            state.paused = match state.paused.take() {
                Some(_) => None,
                None => Some(Box::new(frame.clone())),
            }
        }
        Command::ToggleScale => state.scale = state.scale.other(),
        Command::ChangeLimit(action) => match F::fixed_limit(&state.header) {
            None => return Some(action),
            Some(why) => state.notice.set(why),
        },
        Command::Further(places) => (state.view, state.help) = (state.view.further(places), false),
        Command::Show(view) => (state.view, state.help) = (view, false),
        Command::Scroll(step) => state.top = Some(step(state.top.unwrap_or(0), 1)),
    }
    None
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyModifiers;

    use super::*;
    use crate::figures::Scale;
    use crate::{Frame, Header, Lanes, LanesHeader};

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

    fn press_with<F: Shown>(state: &mut State<F>, code: KeyCode, modifiers: KeyModifiers) -> Option<Action> {
        handle_key(state, KeyEvent::new(code, modifiers), &F::default())
    }

    #[test]
    fn q_and_ctrl_c_quit_and_brackets_explain_the_fixed_server() {
        let mut state = State::<Lanes>::new(LanesHeader::default());
        assert_eq!(press_with(&mut state, KeyCode::Char('['), KeyModifiers::NONE), None);
        assert!(state.notice.text().unwrap().contains("same server"));
        assert_eq!(press_with(&mut state, KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Action::Quit));
        assert!(state.stopping && state.notice.text().is_none());
        assert_eq!(press_with(&mut state, KeyCode::Char('q'), KeyModifiers::NONE), Some(Action::Quit));
    }
}
