//! Formatting of lists of quoted names for messages.

use std::fmt::Display;

pub(crate) fn quoted(words: impl IntoIterator<Item: Display>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}
