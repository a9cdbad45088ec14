//! A key and what it does: tables of these make both the handler and the help.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::Action;

/// A key of a dashboard whose view is an `S` of an `F`.
pub(crate) struct Binding<S: 'static, F: 'static> {
    /// Its name in the help; empty when it is not listed there.
    pub(crate) label: &'static str,
    /// One or two words for the bottom line; empty when it is not listed there.
    pub(crate) hint: &'static str,
    /// A sentence for the help.
    pub(crate) help: &'static str,
    pub(crate) codes: &'static [KeyCode],
    /// What it does; it may ask the caller for something.
    pub(crate) command: fn(&mut S, &F) -> Option<Action>,
}

/// What a key means; in raw mode Ctrl-C is a key and means the same as `q`.
pub(crate) fn find<S, F>(bindings: &[Binding<S, F>], key: KeyEvent) -> Option<&Binding<S, F>> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let code = match key.code {
        KeyCode::Char('c') if control => KeyCode::Char('q'),
        KeyCode::Char(_) if control || key.modifiers.contains(KeyModifiers::ALT) => return None,
        code => code,
    };
    bindings.iter().find(|binding| binding.codes.contains(&code))
}
