//! Values out of foreign JSON. Whatever is wrong is told with the place of the key.

use serde_json::Value;

/// Beyond this no figure of ours lies, and arithmetic on axes stays finite.
const LARGEST: f64 = 1e15;

/// What is wrong, and where: `attempts.total`, `runs[3].series[0].t_s`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) place: String,
    pub(super) what: String,
}

impl Wrong {
    pub(super) fn new(place: &str, what: impl Into<String>) -> Self {
        Self { place: place.to_owned(), what: what.into() }
    }

    /// The same, seen from further out.
    pub(super) fn within(self, outer: &str) -> Self {
        let place = match self.place.as_str() {
            "" => outer.to_owned(),
            inner if inner.starts_with('[') => format!("{outer}{inner}"),
            inner => format!("{outer}.{inner}"),
        };
        Self { place, ..self }
    }
}

/// The value at a path of keys; nothing when it is missing or null.
pub(super) fn look<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let found = path.split('.').try_fold(value, |value, key| value.get(key))?;
    (!found.is_null()).then_some(found)
}

/// A number, when there is one.
pub(super) fn number(value: &Value, path: &str) -> Result<Option<f64>, Wrong> {
    look(value, path).map(|found| as_number(found, path)).transpose()
}

/// A number that must be there.
pub(super) fn needed_number(value: &Value, path: &str) -> Result<f64, Wrong> {
    number(value, path)?.ok_or_else(|| missing(path))
}

/// A whole number that must be there.
pub(super) fn count(value: &Value, path: &str) -> Result<u64, Wrong> {
    let found = look(value, path).ok_or_else(|| missing(path))?;
    found.as_u64().ok_or_else(|| Wrong::new(path, format!("{} is no whole number", brief(found))))
}

/// A text that must be there.
pub(super) fn text(value: &Value, path: &str) -> Result<String, Wrong> {
    let found = look(value, path).ok_or_else(|| missing(path))?;
    found
        .as_str()
        .map(ToOwned::to_owned)
        .ok_or_else(|| Wrong::new(path, format!("{} is no text", brief(found))))
}

/// Refuses anything but an object, if there is something.
pub(super) fn object(value: &Value, path: &str) -> Result<(), Wrong> {
    match look(value, path) {
        None | Some(Value::Object(_)) => Ok(()),
        Some(other) => Err(Wrong::new(path, format!("{} is no object", brief(other)))),
    }
}

/// The items of a list; none when it is missing.
pub(super) fn list<'a>(value: &'a Value, path: &str) -> Result<&'a [Value], Wrong> {
    match look(value, path) {
        None => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(other) => Err(Wrong::new(path, format!("{} is no list", brief(other)))),
    }
}

/// Reads every item of a list; errors name its number.
pub(super) fn each<'a, T>(
    value: &'a Value,
    path: &str,
    read: impl Fn(&'a Value) -> Result<T, Wrong>,
) -> Result<Vec<T>, Wrong> {
    let item = |(index, item)| read(item).map_err(|wrong| wrong.within(&format!("{path}[{index}]")));
    list(value, path)?.iter().enumerate().map(item).collect()
}

/// The value as a number that can be drawn.
pub(super) fn as_number(found: &Value, path: &str) -> Result<f64, Wrong> {
    let number = found.as_f64().ok_or_else(|| Wrong::new(path, format!("{} is no number", brief(found))))?;
    if number.abs() > LARGEST {
        return Err(Wrong::new(path, format!("{number:e} is beyond all measure")));
    }
    Ok(number)
}

pub(super) fn missing(path: &str) -> Wrong {
    Wrong::new(path, "is missing")
}

/// A value as it is named in an error.
fn brief(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 30 {
        return format!("`{text}`");
    }
    format!("`{}…`", text.chars().take(30).collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let value =
            json!({ "runs": [{ "ops": { "total": 3 } }, { "ops": { "total": -3 } }, { "ops": null }] });
        let totals = |value| each(value, "runs", |run| count(run, "ops.total"));
        let wrong = totals(&value).unwrap_err();
        assert_eq!(
            (wrong.place.as_str(), wrong.what.as_str()),
            ("runs[1].ops.total", "`-3` is no whole number")
        );
        let value = json!({ "runs": [{ "ops": null }] });
        assert_eq!(totals(&value).unwrap_err(), Wrong::new("runs[0].ops.total", "is missing"));
    }

    #[test]
    fn a_number_that_cannot_be_drawn_is_refused() {
        assert!(number(&json!({ "x": 1e300 }), "x").is_err());
        assert_eq!(number(&json!({ "x": null }), "x"), Ok(None));
    }
}
