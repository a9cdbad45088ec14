//! Lists of events that are planned for fixed server times. A list is written `part,part,…`, and each event is later than the event before
//! it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use vocabulary::{Instant, duration_text};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Option<String>", into = "String", bound = "T: Planned")]
pub struct PlannedList<T>(Vec<T>);

/// Event that is planned for a fixed server time. `Display` writes the event in the notation of event lists.
pub trait Planned: Clone + fmt::Display {
    const PLURAL: &'static str;
    const EXAMPLES: &'static str;
    const TOO_EARLY: &'static str;

    fn read(text: &str) -> Result<Self, String>;

    fn follows(&self, before: &Self) -> bool;
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a list of {plural}: {why}; write for example {examples}")]
pub struct PlannedListError {
    text: String,
    plural: &'static str,
    why: String,
    examples: &'static str,
}

impl<T> PlannedList<T> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.0.iter()
    }
}

impl<T> Default for PlannedList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Returns whether `text` is a word for an empty list, as help texts name it.
pub(crate) fn is_none(text: &str) -> bool {
    matches!(text.trim(), "none" | "never")
}

pub(crate) fn instant(text: &str) -> Result<Instant, String> {
    let since = duration_text::parse(text.trim()).map_err(|error| error.to_string())?;
    Ok(Instant::ORIGIN + since)
}

pub(crate) fn instant_text(at: Instant) -> String {
    duration_text::format(at.since_origin())
}

impl<T: Planned> FromStr for PlannedList<T> {
    type Err = PlannedListError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse =
            |why| PlannedListError { text: text.to_owned(), plural: T::PLURAL, why, examples: T::EXAMPLES };
        if is_none(text) {
            return Ok(Self::default());
        }
        let mut planned: Vec<T> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let next = T::read(part).map_err(refuse)?;
            if planned.last().is_some_and(|before| !next.follows(before)) {
                return Err(refuse(format!("`{part}` {}", T::TOO_EARLY)));
            }
            planned.push(next);
        }
        Ok(Self(planned))
    }
}

impl<T: Planned> fmt::Display for PlannedList<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, planned) in self.0.iter().enumerate() {
            let joint = if index == 0 { "" } else { "," };
            write!(f, "{joint}{planned}")?;
        }
        Ok(())
    }
}

impl<T: Planned> TryFrom<Option<String>> for PlannedList<T> {
    type Error = PlannedListError;

    fn try_from(text: Option<String>) -> Result<Self, Self::Error> {
        text.unwrap_or_default().parse()
    }
}

impl<T: Planned> From<PlannedList<T>> for String {
    fn from(schedule: PlannedList<T>) -> Self {
        schedule.to_string()
    }
}
