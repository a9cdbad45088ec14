//! Where people read: stdout for what a command came to, and stderr for the rest.

use std::io::{self, Write};

use crate::files::output::to_stdout;

/// Writes to stderr, if it can.
pub(crate) fn to_stderr(text: &str) {
    // Words that nobody can read change nothing: neither what is done nor how it ends.
    drop(io::stderr().lock().write_all(text.as_bytes()));
}

/// Writes what a command came to: to stdout, or to stderr when stdout is taken by data.
pub(crate) fn to_people(text: &str, stdout_is_taken: bool) -> anyhow::Result<()> {
    if stdout_is_taken {
        to_stderr(text);
        return Ok(());
    }
    to_stdout(text.as_bytes())
}
