//! Stderr, for what people read.

use std::io::{self, Write};

/// Writes to stderr, if it can.
pub(crate) fn to_stderr(text: &str) {
    // Words that nobody can read change nothing: neither what is done nor how it ends.
    drop(io::stderr().lock().write_all(text.as_bytes()));
}
