//! Documents out of files: whatever is wrong is told with its place, and with what is accepted.

use std::collections::BTreeMap;
use std::fmt;

use loadgen_core::{ErrorKind, FailureResult};
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::error::Category;

use crate::over_runs::{FiguresOverRuns, OverRuns};
use crate::sweep::Winner;

/// Beyond this no figure of ours lies, and arithmetic on axes stays finite.
const LARGEST: f64 = 1e15;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}{}{what}", if place.is_empty() { "" } else { ": " })]
pub struct Malformed {
    /// ``line 3, column 14`` or ``` `runs[3].seed` ```; empty for the whole.
    pub place: String,
    /// What is wrong there.
    pub what: String,
}

impl Malformed {
    /// What is wrong with a value at a path; an empty path is the whole.
    pub fn at(path: &str, what: impl Into<String>) -> Self {
        Self { place: if path.is_empty() { String::new() } else { format!("`{path}`") }, what: what.into() }
    }
}

/// Reads a value of this type.
///
/// # Errors
/// When the text is no JSON, or of another form.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Malformed> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        wrong(text, if path == "." { "" } else { &path }, error.inner())
    })?;
    deserializer.end().map_err(|error| malformed("", &error))?;
    Ok(value)
}

/// What is wrong with a text of which this path cannot be read.
fn wrong(text: &str, path: &str, error: &serde_json::Error) -> Malformed {
    // Whoever reads names, such as those of modes, calls a number in their place a fault of the syntax.
    let is_json = || IgnoredAny::deserialize(&mut serde_json::Deserializer::from_str(text)).is_ok();
    if error.is_syntax() && reason(&error.to_string()) == "expected value" && is_json() {
        return Malformed::at(path, "is not a text");
    }
    malformed(path, error)
}

/// Of an error of the parser, without its place.
fn reason(error: &str) -> &str {
    error.split(" at line ").next().unwrap_or_default()
}

fn malformed(path: &str, error: &serde_json::Error) -> Malformed {
    let told = error.to_string();
    let reason = reason(&told);
    let here = || format!("line {}, column {}", error.line(), error.column());
    let what = match error.classify() {
        Category::Data => return wrong_value(path, reason),
        Category::Eof if error.line() <= 1 && error.column() == 0 => "it is empty".to_owned(),
        Category::Eof => "it ends in the middle; the file was cut off".to_owned(),
        _ if reason == "trailing characters" => {
            "another value follows; one result per file is read (`--samples` files are not results)"
                .to_owned()
        }
        _ => format!("it is not JSON: {reason}"),
    };
    Malformed { place: here(), what }
}

/// JSON, but not of the form that is wanted.
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
        "a string" | "string" => "a text",
        "a boolean" => "true or false",
        "f64" | "f32" => "a number",
        "u64" | "u32" | "u16" | "usize" | "i64" => "a whole number",
        wanted => wanted,
    };
    Malformed::at(path, format!("{} is not {wanted}", brief(found)))
}

/// A value as it is named in an error, in one short line.
fn brief(found: &str) -> String {
    const MOST: usize = 60;
    let line: String = found.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if line.chars().count() <= MOST {
        return line;
    }
    format!("{}…", line.chars().take(MOST).collect::<String>())
}

/// The keys of a document, looked at before it is read: they say what it is. No number in it is beyond all measure.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// Of the whole, when it is an object; each with whether it is null.
    keys: Vec<(String, bool)>,
}

impl Outline {
    /// Whether the document has this key, be it null.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|(there, _)| there == key)
    }

    /// Whether the document has this key, and it is not null.
    pub(crate) fn says(&self, key: &str) -> bool {
        self.keys.iter().any(|(there, is_null)| there == key && !is_null)
    }
}

impl<'de> Deserialize<'de> for Outline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Outline;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a result")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Outline, A::Error> {
                let mut keys = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    let Bounded { is_null } = map.next_value()?;
                    keys.push((key, is_null));
                }
                Ok(Outline { keys })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Outline, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Outline::default())
            }

            fn visit_unit<E>(self) -> Result<Outline, E> {
                Ok(Outline::default())
            }

            fn visit_bool<E>(self, _: bool) -> Result<Outline, E> {
                Ok(Outline::default())
            }

            fn visit_u64<E>(self, _: u64) -> Result<Outline, E> {
                Ok(Outline::default())
            }

            fn visit_i64<E>(self, _: i64) -> Result<Outline, E> {
                Ok(Outline::default())
            }

            fn visit_f64<E>(self, _: f64) -> Result<Outline, E> {
                Ok(Outline::default())
            }

            fn visit_str<E>(self, _: &str) -> Result<Outline, E> {
                Ok(Outline::default())
            }
        }
        deserializer.deserialize_any(Keys)
    }
}

/// Any value in which no number is larger than can be drawn.
struct Bounded {
    is_null: bool,
}

impl<'de> Deserialize<'de> for Bounded {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Bounded;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Bounded, A::Error> {
                // The key is not needed, but read as a text it shows in the place of an error.
                while map.next_key::<String>()?.is_some() {
                    map.next_value::<Bounded>()?;
                }
                Ok(Bounded { is_null: false })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Bounded, A::Error> {
                while list.next_element::<Bounded>()?.is_some() {}
                Ok(Bounded { is_null: false })
            }

            fn visit_unit<E>(self) -> Result<Bounded, E> {
                Ok(Bounded { is_null: true })
            }

            fn visit_bool<E>(self, _: bool) -> Result<Bounded, E> {
                Ok(Bounded { is_null: false })
            }

            fn visit_u64<E>(self, _: u64) -> Result<Bounded, E> {
                Ok(Bounded { is_null: false })
            }

            fn visit_i64<E>(self, _: i64) -> Result<Bounded, E> {
                Ok(Bounded { is_null: false })
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Bounded, E> {
                if number.abs() > LARGEST {
                    return Err(E::custom(format!("{number:e} is beyond all measure")));
                }
                Ok(Bounded { is_null: false })
            }

            fn visit_str<E>(self, _: &str) -> Result<Bounded, E> {
                Ok(Bounded { is_null: false })
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// What may be null in a file, which is then as good as missing.
pub(crate) fn or_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Figures over runs, without those that are null.
pub(crate) fn known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<FiguresOverRuns, D::Error> {
    let figures: BTreeMap<String, Option<OverRuns>> = or_default(deserializer)?;
    Ok(figures.into_iter().filter_map(|(path, figure)| Some((path, figure?))).collect())
}

/// Failures by what they came to. A kind of error that a later version tells apart is one of the others here.
pub(crate) fn failures<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<FailureResult>, D::Error> {
    #[derive(Deserialize)]
    #[serde(expecting = "an object")]
    struct Failure {
        status: Option<u16>,
        kind: Option<Kind>,
        attempts: u64,
    }
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "is not a text")]
    enum Kind {
        Known(ErrorKind),
        Later(#[expect(dead_code, reason = "only that it is a text is asked")] String),
    }
    let kind = |kind| match kind {
        Kind::Known(kind) => kind,
        Kind::Later(_) => ErrorKind::Other,
    };
    let failures: Vec<Failure> = or_default(deserializer)?;
    let known = |Failure { status, kind: named, attempts }: Failure| FailureResult {
        status,
        kind: named.map(kind),
        attempts,
    };
    Ok(failures.into_iter().map(known).collect())
}

/// A width, which is none unless it is above zero.
pub(crate) fn above_zero<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let width = f64::deserialize(deserializer)?;
    if width > 0.0 { Ok(width) } else { Err(de::Error::custom("is not above zero")) }
}

/// A key that is there, be it null.
pub(crate) fn said<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Winner, D::Error> {
    Option::deserialize(deserializer).map(Winner::Said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(expecting = "an object")]
    #[expect(dead_code, reason = "only whether it can be read is asked")]
    struct Run {
        seed: u64,
        #[serde(default)]
        config: BTreeMap<String, f64>,
        #[serde(default)]
        mode: Option<crate::run::Mode>,
        #[serde(default)]
        verdict: crate::comparison::PairVerdict,
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place_and_what_is_accepted() {
        let told = |text: &str| read::<BTreeMap<String, Vec<Run>>>(text).unwrap_err().to_string();
        for (text, expected) in [
            (r#"{"runs": [{"seed": 1}, {}]}"#, "`runs[1].seed`: is missing"),
            (r#"{"runs": [{"seed": -3}]}"#, "`runs[0].seed`: integer `-3` is not a whole number"),
            (r#"{"runs": [{"seed": 3, "config": 7}]}"#, "`runs[0].config`: integer `7` is not an object"),
            (r#"{"runs": [7]}"#, "`runs[0]`: integer `7` is not an object"),
            (r#"{"runs": {}}"#, "`runs`: an object is not a list"),
            (r#"{"runs": [{"seed": 1, "mode": 3}]}"#, "`runs[0].mode`: is not a text"),
            (r#"{"runs": [{"seed": 1, "verdict": null}]}"#, "`runs[0].verdict`: is not a text"),
            (
                r#"{"runs": [{"seed": 1, "mode": "faster"}]}"#,
                "`runs[0].mode`: `faster` is not `http` or `simulated`",
            ),
            (
                r#"{"runs": [{"seed": 1, "mode": faster}]}"#,
                "line 1, column 31: it is not JSON: expected value",
            ),
            ("", "line 1, column 0: it is empty"),
            (r#"{"runs": [{"#, "line 1, column 11: it ends in the middle; the file was cut off"),
            ("hello", "line 1, column 1: it is not JSON: expected value"),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
        assert!(told("{}\n{}").starts_with("line 2, column 1: another value follows"));
    }

    #[test]
    fn a_number_that_cannot_be_drawn_is_refused_wherever_it_stands() {
        let told = read::<Outline>(r#"{"a": [1, {"b": 1e300}]}"#).unwrap_err().to_string();
        assert_eq!(told, "`a[1].b`: 1e300 is beyond all measure");
        assert!(read::<Outline>(r#"{"a": [1, {"b": 1e3}], "c": null}"#).unwrap().has("c"));
    }
}
