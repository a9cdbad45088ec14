//! Where people read: stdout for what a command came to, and stderr for the rest. What others wrote is shown, and obeyed by no terminal.

use std::io::{self, Write};

use vocabulary::printable;

use crate::files::output::to_stdout;

/// Writes to stderr, if it can.
pub(crate) fn to_stderr(text: &str) {
    // Words that nobody can read change nothing: neither what is done nor how it ends.
    drop(io::stderr().lock().write_all(printable(text).as_bytes()));
}

/// Writes what a command came to: to stdout, or to stderr when stdout is taken by data.
pub(crate) fn to_people(text: &str, stdout_is_taken: bool) -> anyhow::Result<()> {
    if stdout_is_taken {
        to_stderr(text);
        return Ok(());
    }
    to_stdout(printable(text).as_bytes())
}

/// The same to stdout, with the first line that is not empty in bold.
pub(crate) fn titled(text: &str) -> anyhow::Result<()> {
    let shown = printable(text);
    let title = shown.trim_start_matches('\n');
    let (before, (title, rest)) =
        (&shown[..shown.len() - title.len()], title.split_once('\n').unwrap_or((title, "")));
    to_stdout(format!("{before}\u{1b}[1m{title}\u{1b}[0m\n{rest}").as_bytes())
}
