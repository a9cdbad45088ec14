//! Lists in the settings of a server, such as outages and faults. A list is written `part,part,…`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use vocabulary::{Instant, duration_text};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Option<String>", into = "String", bound = "T: Listed")]
pub struct List<T>(Vec<T>);

/// Entry of a list. `Display` writes the entry in the notation of its list.
pub trait Listed: Clone + fmt::Display {
    const PLURAL: &'static str;
    const EXAMPLES: &'static str;

    fn read(text: &str) -> Result<Self, String>;

    /// Checks whether the entry, written `text`, may follow the entries `before`.
    fn check_after(&self, before: &[Self], text: &str) -> Result<(), String>;

    /// Checks a whole list.
    fn check(_all: &[Self]) -> Result<(), String> {
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a list of {plural}: {why}; write for example {examples}")]
pub struct ListError {
    text: String,
    plural: &'static str,
    why: String,
    examples: &'static str,
}

impl<T> List<T> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.0.iter()
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Returns whether `text` is a word for an empty list, as help texts name it.
pub(crate) fn is_none(text: &str) -> bool {
    matches!(text.trim(), "none" | "never")
}

/// Writes `items` with `joint` between each two of them.
pub(crate) fn write_joined(
    items: &[impl fmt::Display],
    joint: &str,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        let joint = if index == 0 { "" } else { joint };
        write!(f, "{joint}{item}")?;
    }
    Ok(())
}

pub(crate) fn instant(text: &str) -> Result<Instant, String> {
    let since = duration_text::parse(text.trim()).map_err(|error| error.to_string())?;
    Ok(Instant::ORIGIN + since)
}

pub(crate) fn instant_text(at: Instant) -> String {
    duration_text::format(at.since_origin())
}

impl<T: Listed> FromStr for List<T> {
    type Err = ListError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = |why| ListError { text: text.to_owned(), plural: T::PLURAL, why, examples: T::EXAMPLES };
        if is_none(text) {
            return Ok(Self::default());
        }
        let mut entries: Vec<T> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let next = T::read(part).map_err(refuse)?;
            next.check_after(&entries, part).map_err(refuse)?;
            entries.push(next);
        }
        T::check(&entries).map_err(refuse)?;
        Ok(Self(entries))
    }
}

impl<T: Listed> fmt::Display for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_joined(&self.0, ",", f)
    }
}

impl<T: Listed> TryFrom<Option<String>> for List<T> {
    type Error = ListError;

    fn try_from(text: Option<String>) -> Result<Self, Self::Error> {
        text.unwrap_or_default().parse()
    }
}

impl<T: Listed> From<List<T>> for String {
    fn from(list: List<T>) -> Self {
        list.to_string()
    }
}
