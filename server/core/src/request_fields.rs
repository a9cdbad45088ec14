//! HTTP properties of a request. The properties are kept only if a policy or an answer uses them.

use std::collections::BTreeSet;
use std::net::IpAddr;

/// Maximum number of bytes of a request's body that are searched for numbers. The rest of a longer body is ignored.
pub const MAX_SEARCHED_BODY: usize = 1 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFields {
    /// HTTP method in upper case.
    pub method: Box<str>,
    /// Path of the URL without the query.
    pub path: Box<str>,
    pub address: Option<IpAddr>,
    /// Headers with their names in lower case. Only the [selected](FieldSelection::headers) headers are kept, and only the first header of
    /// each name.
    pub headers: Vec<(Box<str>, Box<str>)>,
    /// Numbers in the body, formatted as in JSON, by their [selected](FieldSelection::fields) paths. A number that the body does not
    /// contain is left out.
    pub fields: Vec<(Box<str>, Box<str>)>,
}

impl RequestFields {
    /// Returns the value of a request header; `name` must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        value_of(&self.headers, name)
    }

    pub fn field(&self, path: &str) -> Option<&str> {
        value_of(&self.fields, path)
    }
}

fn value_of<'a>(pairs: &'a [(Box<str>, Box<str>)], name: &str) -> Option<&'a str> {
    pairs.iter().find_map(|(there, value)| (**there == *name).then_some(&**value))
}

/// Selection of those parts of requests that the configuration uses. Callers need not store any other parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelection {
    /// True if the configuration uses any part of requests. If true, method, path and address are always stored.
    pub any: bool,
    /// Names of the headers that are used, in lower case.
    pub headers: BTreeSet<String>,
    /// Paths of the numbers in JSON bodies that are used. A path consists of keys joined by points.
    pub fields: BTreeSet<String>,
}

impl FieldSelection {
    /// Extracts the selected numbers from a request body, which is parsed only once. Returns an empty list for a body that is not complete
    /// JSON.
    pub fn fields_in(&self, body: &[u8]) -> Vec<(Box<str>, Box<str>)> {
        if self.fields.is_empty() || body.is_empty() {
            return Vec::new();
        }
        let parsed = match serde_json::from_slice::<serde_json::Value>(body) {
            Err(_) if body.len() >= MAX_SEARCHED_BODY => serde_json::from_slice(&completed(body)),
            parsed => parsed,
        };
        let Ok(body) = parsed else { return Vec::new() };
        let field = |path: &String| {
            let value = path.split('.').try_fold(&body, |value, key| value.get(key))?;
            Some((path.as_str().into(), value.as_number()?.to_string().into()))
        };
        self.fields.iter().filter_map(field).collect()
    }
}

/// Completes a JSON text that was cut off. Its last value is left out, because it may be incomplete, and all open objects and lists are
/// closed.
fn completed(cut: &[u8]) -> Vec<u8> {
    let (last_comma, _) = brackets(cut);
    let whole = &cut[..last_comma];
    let (_, mut open) = brackets(whole);
    open.reverse();
    [whole, &open].concat()
}

/// Returns the position of the last comma outside of texts, and the closing brackets that are missing at the end, the outermost first.
fn brackets(json: &[u8]) -> (usize, Vec<u8>) {
    let (mut last_comma, mut open) = (0, Vec::new());
    let (mut is_text, mut is_escaped) = (false, false);
    for (at, byte) in json.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => drop(open.pop()),
            b',' => last_comma = at,
            _ => {}
        }
    }
    (last_comma, open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_key_anywhere_in_the_body() {
        let fields = ["usage.tokens", "n", "text", "usage", "none"].map(str::to_owned).into();
        let wants = FieldSelection { any: true, fields, ..FieldSelection::default() };
        let filler = "x".repeat(500 << 10);
        let body = format!(r#"{{"text":"{filler}","n":1e3,"usage":{{"tokens":120}}}}"#);
        let details = RequestFields { fields: wants.fields_in(body.as_bytes()), ..RequestFields::default() };
        assert_eq!((details.field("usage.tokens"), details.field("n")), (Some("120"), Some("1000.0")));
        assert_eq!(details.fields.len(), 2, "texts and objects are no numbers");
        for nonsense in ["", "{", "[1]", &body[..body.len() - 1]] {
            assert!(wants.fields_in(nonsense.as_bytes()).is_empty());
        }
    }

    #[test]
    fn numbers_before_the_end_of_the_searched_part_are_found() {
        let fields = ["usage.tokens", "n", "last"].map(str::to_owned).into();
        let wants = FieldSelection { any: true, fields, ..FieldSelection::default() };
        let start =
            r#"{"a":[{"b":"\\\"}]{"}],"usage":{"tokens":7},"text":"x","n":8,"list":[{"c":1},{"last":9"#;
        for filler in ["\"x\"", "[1,2]", "{\"d\":5}"] {
            let filler = format!(",{filler}").repeat(1 + MAX_SEARCHED_BODY / (1 + filler.len()));
            let long = format!("{start}}}{filler}");
            let found = wants.fields_in(&long.as_bytes()[..MAX_SEARCHED_BODY]);
            assert_eq!(found.len(), 2, "{filler:.20}: {found:?}");
        }
        let deep = "[,".repeat(MAX_SEARCHED_BODY / 2);
        assert!(
            wants.fields_in(deep.as_bytes()).is_empty(),
            "the time grows with the length, not with its square"
        );
        let text = format!("{start}{}", "9".repeat(MAX_SEARCHED_BODY));
        assert_eq!(
            wants.fields_in(&text.as_bytes()[..MAX_SEARCHED_BODY]).len(),
            2,
            "the last value may be incomplete"
        );
        assert!(wants.fields_in(&vec![b'['; MAX_SEARCHED_BODY]).is_empty());
    }
}
