//! Single value of a configuration, in the form in which documents contain it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Value that a flag can have: true, false, a number or a text. In a scenario, a varied value may also be a list or a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Setting {
    Truth(bool),
    Whole(u64),
    Number(f64),
    /// Value of a setting that is a text, such as a duration or a distribution.
    Text(String),
    /// Value of a setting that no command-line flag can have, such as the list of the parts of a scattered workload.
    Other(Value),
}

pub type At = BTreeMap<String, Setting>;

/// Parses the keys and values of varied parameters. A value becomes a number if possible. In keys, `-` is replaced by `_`.
pub fn at<'a>(values: impl Iterator<Item = (&'a str, &'a str)>) -> At {
    values.map(|(key, text)| (key.replace('-', "_"), Setting::typed(text))).collect()
}

impl Setting {
    pub fn typed(text: &str) -> Self {
        if let Ok(whole) = text.parse() {
            return Self::Whole(whole);
        }
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        number.map_or_else(|| Self::Text(text.to_owned()), Self::Number)
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Number(number) => Some(*number),
            Self::Truth(_) | Self::Text(_) | Self::Other(_) => None,
        }
    }

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
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truth(truth) => truth.fmt(f),
            Self::Whole(number) => number.fmt(f),
            Self::Number(number) => write!(f, "{number:?}"),
            Self::Text(text) => f.write_str(text),
            Self::Other(value) => value.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_parse_numbers_and_round_trip_through_json() {
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

    #[test]
    fn a_list_is_read_written_and_shown_as_json_has_it() {
        let json = r#"[{"ops":10,"within":"1s"}]"#;
        let read: At = serde_json::from_str(&format!(r#"{{"scatter":{json}}}"#)).unwrap();
        assert_eq!(read["scatter"].to_string(), json);
        assert_eq!(read["scatter"].number(), None);
        assert_eq!(serde_json::to_string(&read["scatter"]).unwrap(), json);
    }
}
