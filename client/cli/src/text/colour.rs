//! Colours of text on a terminal, and the check whether stdout shows colours.

use std::env;
use std::io::{self, IsTerminal as _};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Bold,
    Dim,
    Red,
}

impl Colour {
    pub(crate) fn paint(self, text: &str) -> String {
        let code = match self {
            Self::Bold => 1,
            Self::Dim => 2,
            Self::Red => 31,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

pub(crate) fn stdout_has_colours() -> bool {
    let is_dumb = env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    let is_forbidden = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stdout().is_terminal() && !is_dumb && !is_forbidden
}
