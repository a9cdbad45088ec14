//! Errors in texts that are not valid documents. Each error contains its place in the document and the kind of value that is accepted at
//! this place.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::error::Category;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}{}{what}", if place.is_empty() { "" } else { ": " })]
pub struct Malformed {
    /// Place of the error: ``line 3, column 14`` or ``` `runs[3].seed` ```. Empty for the whole document.
    pub place: String,
    pub what: String,
}

impl Malformed {
    pub fn at(path: &str, what: impl Into<String>) -> Self {
        Self { place: if path.is_empty() { String::new() } else { format!("`{path}`") }, what: what.into() }
    }

    pub(crate) fn new(text: &str, path: &str, error: &serde_json::Error) -> Self {
        // If a document contains a number in place of a text (such as the name of a mode), the deserializer reports a syntax error. This
        // error is misleading, because the document is valid JSON.
        let is_json = || IgnoredAny::deserialize(&mut serde_json::Deserializer::from_str(text)).is_ok();
        if error.is_syntax() && reason(&error.to_string()) == "expected value" && is_json() {
            return Self::at(path, "is not a text");
        }
        malformed(path, error)
    }
}

fn reason(error: &str) -> &str {
    error.split(" at line ").next().unwrap_or_default()
}

fn malformed(path: &str, error: &serde_json::Error) -> Malformed {
    let text = error.to_string();
    let reason = reason(&text);
    let here = || format!("line {}, column {}", error.line(), error.column());
    let what = match error.classify() {
        Category::Data => return wrong_value(path, reason),
        Category::Eof if error.line() <= 1 && error.column() == 0 => "it is empty".to_owned(),
        Category::Eof => "the document is incomplete, because the file was cut off".to_owned(),
        _ if reason == "trailing characters" => {
            "the file contains a second value, and only one result per file is read (`--samples` files are not results)"
                .to_owned()
        }
        _ => format!("it is not JSON: {reason}"),
    };
    Malformed { place: here(), what }
}

fn wrong_value(path: &str, reason: &str) -> Malformed {
    if let Some(key) = reason.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
        let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        return Malformed::at(&path, "is missing");
    }
    let Some((found, wanted)) = reason.split_once(", expected ") else { return Malformed::at(path, reason) };
    let heads = ["invalid type: ", "invalid value: ", "unknown variant "];
    let found = heads.iter().find_map(|head| found.strip_prefix(head)).unwrap_or(found);
    let found = match found {
        "map" => "an object",
        "sequence" => "a list",
        found => found,
    };
    let wanted = match wanted {
        "a sequence" => "a list",
        "a map" => "an object",
        // serde's derive begins its message for an object with named fields with this word, followed by the name of the type.
        wanted if wanted.starts_with("struct ") => "an object",
        "a string" | "string" => "a text",
        "a boolean" => "true or false",
        "f64" | "f32" => "a number",
        "u64" | "u32" | "u16" | "usize" | "i64" => "a whole number",
        wanted => wanted,
    };
    Malformed::at(path, format!("{} is not {wanted}", brief(found)))
}

fn brief(found: &str) -> String {
    const MOST: usize = 60;
    let line: String = found.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if line.chars().count() <= MOST {
        return line;
    }
    format!("{}…", line.chars().take(MOST).collect::<String>())
}
