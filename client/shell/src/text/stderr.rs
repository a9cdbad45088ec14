//! Messages on stderr. Control characters in texts that come from outside the program are escaped, so that the terminal does not obey them.

use std::io::{self, Write};

use vocabulary::printable;

use crate::text::labelled;

pub fn to_stderr(text: &str) {
    write_to_stderr(&printable(text));
}

/// Prints a sentence to stderr, wrapped and after a label such as "warning: ".
pub fn labelled_to_stderr(label: &str, words: &str) {
    to_stderr(&(labelled(label, label.len(), words) + "\n"));
}

pub(super) fn write_to_stderr(text: &str) {
    // Write errors are ignored, because a message that cannot be printed must change neither the work nor the exit code.
    drop(io::stderr().lock().write_all(text.as_bytes()));
}
