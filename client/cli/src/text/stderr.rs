//! Text for people on stderr. Control characters of others are escaped, so that no terminal obeys them.

use std::io::{self, Write};

use vocabulary::printable;

/// Writes to stderr, if it can.
pub(crate) fn to_stderr(text: &str) {
    // Words that nobody can read change nothing: neither what is done nor how it ends.
    drop(io::stderr().lock().write_all(printable(text).as_bytes()));
}
