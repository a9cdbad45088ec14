//! The documents that are merged, and what is wrong with one.

use std::path::Path;

use crate::exit::{Exit, Fatal};
use crate::files::reading::{LARGE, text_of};

/// The text of a file, with its name.
pub(super) type Named = (String, String);

/// Reads one.
pub(super) fn document(path: &Path) -> anyhow::Result<Named> {
    let name = path.display().to_string();
    match text_of(path, LARGE) {
        Ok(text) => Ok((name, text)),
        Err(error) => Err(Fatal::because(Exit::Usage, format!("`{name}` cannot be read"), error)),
    }
}

/// The error that says what is wrong with a file.
pub(super) fn refusal(name: &str, error: &impl std::fmt::Display) -> anyhow::Error {
    Fatal::error(Exit::Usage, format!("`{name}` cannot be merged: {error}"))
}
