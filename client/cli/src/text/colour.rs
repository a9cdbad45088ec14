//! Colours of text on a terminal.

use std::env;
use std::io::{self, IsTerminal as _};

/// Way to set words apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Bold,
    Dim,
    Red,
}

impl Colour {
    /// Returns the text between the escape sequences of this colour and of the default one.
    pub(crate) fn paint(self, text: &str) -> String {
        let code = match self {
            Self::Bold => 1,
            Self::Dim => 2,
            Self::Red => 31,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// Returns true if stdout is a terminal with colours and `NO_COLOR` does not forbid them.
pub(crate) fn stdout_has_colours() -> bool {
    let is_dumb = env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    let is_forbidden = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stdout().is_terminal() && !is_dumb && !is_forbidden
}
