//! Keys of the dashboard and their commands. Tables define both the key handler and the help.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::Action;

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
