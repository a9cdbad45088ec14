//! Messages on stderr. Control characters from foreign text are escaped, so that the terminal does not obey them.

use std::io::{self, Write};

use vocabulary::printable;

pub(crate) fn to_stderr(text: &str) {
    // Errors are ignored, because an unreadable message must change neither the work nor the exit code.
    drop(io::stderr().lock().write_all(printable(text).as_bytes()));
}
