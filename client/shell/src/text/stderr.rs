//! Messages on stderr. Control characters in texts that come from outside the program are escaped, so that the terminal does not obey them.

use std::io::{self, Write};

use vocabulary::printable;

pub fn to_stderr(text: &str) {
    write_to_stderr(&printable(text));
}

pub(super) fn write_to_stderr(text: &str) {
    // Write errors are ignored, because a message that cannot be printed must change neither the work nor the exit code.
    drop(io::stderr().lock().write_all(text.as_bytes()));
}
