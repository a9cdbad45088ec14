//! One value of a configuration, as it is written down.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A truth, a number or a text: what a flag can be given.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(untagged, expecting = "a number, a text, true or false")]
pub enum Setting {
    /// True or false.
    Truth(bool),
    /// A whole number.
    Whole(u64),
    /// Any other number.
    Number(f64),
    /// Everything else, as it is typed: a duration, a distribution.
    Text(String),
}

/// What was varied, by its key; numbers where they are.
pub type At = BTreeMap<String, Setting>;

impl Setting {
    /// What was typed, as a number where it is one.
    pub fn typed(text: &str) -> Self {
        if let Ok(whole) = text.parse() {
            return Self::Whole(whole);
        }
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        number.map_or_else(|| Self::Text(text.to_owned()), Self::Number)
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Number(number) => Some(*number),
            Self::Truth(_) | Self::Text(_) => None,
        }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

impl From<bool> for Setting {
    fn from(truth: bool) -> Self {
        Self::Truth(truth)
    }
}

impl From<&str> for Setting {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl fmt::Display for Setting {
    /// As JSON has it, but texts without quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truth(truth) => truth.fmt(f),
            Self::Whole(number) => number.fmt(f),
            Self::Number(number) => write!(f, "{number:?}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_a_number_where_it_is_one_and_comes_back_from_json() {
        for (typed, read) in [
            ("50", Setting::Whole(50)),
            ("0.5", Setting::Number(0.5)),
            ("-3", Setting::Number(-3.0)),
            ("inf", Setting::Text("inf".to_owned())),
            ("500ms", Setting::Text("500ms".to_owned())),
        ] {
            assert_eq!(Setting::typed(typed), read);
            let json = serde_json::to_string(&read).unwrap();
            assert_eq!(serde_json::from_str::<Setting>(&json).unwrap(), read, "{json}");
        }
    }
}
