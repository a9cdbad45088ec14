//! What a request is besides its place in a run: kept only where a policy or an answer goes by it.

use std::collections::BTreeSet;
use std::net::IpAddr;

/// What a request says of itself in the words of HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// In upper case.
    pub method: Box<str>,
    /// Without what follows a `?`.
    pub path: Box<str>,
    /// Where it came from, where that is known.
    pub address: Option<IpAddr>,
    /// Names in lower case; only those that are [wanted](Wants::headers), and the first of each name.
    pub headers: Vec<(Box<str>, Box<str>)>,
    /// Numbers in its body, as JSON writes them, by their [wanted](Wants::fields) paths; only those that are there.
    pub fields: Vec<(Box<str>, Box<str>)>,
}

impl Details {
    /// The value of this header; the name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        value_of(&self.headers, name)
    }

    /// The number in the body to which this path leads.
    pub fn field(&self, path: &str) -> Option<&str> {
        value_of(&self.fields, path)
    }
}

fn value_of<'a>(pairs: &'a [(Box<str>, Box<str>)], name: &str) -> Option<&'a str> {
    pairs.iter().find_map(|(there, value)| (**there == *name).then_some(&**value))
}

/// What of requests anybody looks at: whoever brings them need not keep more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Anything at all: method, path and address at least.
    pub any: bool,
    /// The names of headers, in lower case.
    pub headers: BTreeSet<String>,
    /// Numbers in bodies of JSON: the keys that lead there, with a point between them.
    pub fields: BTreeSet<String>,
}

impl Wants {
    /// The wanted numbers of this body, which is read once, however many are wanted; what is no whole JSON has none.
    pub fn fields_in(&self, body: &[u8]) -> Vec<(Box<str>, Box<str>)> {
        if self.fields.is_empty() || body.is_empty() {
            return Vec::new();
        }
        let Ok(body) = serde_json::from_slice::<serde_json::Value>(body) else { return Vec::new() };
        let field = |path: &String| {
            let value = path.split('.').try_fold(&body, |value, key| value.get(key))?;
            Some((path.as_str().into(), value.as_number()?.to_string().into()))
        };
        self.fields.iter().filter_map(field).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_their_keys_wherever_they_stand_in_the_body() {
        let fields = ["usage.tokens", "n", "text", "usage", "none"].map(str::to_owned).into();
        let wants = Wants { any: true, fields, ..Wants::default() };
        let filler = "x".repeat(500 << 10);
        let body = format!(r#"{{"text":"{filler}","n":1e3,"usage":{{"tokens":120}}}}"#);
        let details = Details { fields: wants.fields_in(body.as_bytes()), ..Details::default() };
        assert_eq!((details.field("usage.tokens"), details.field("n")), (Some("120"), Some("1000.0")));
        assert_eq!(details.fields.len(), 2, "texts and objects are no numbers");
        for nonsense in ["", "{", "[1]", &body[..body.len() - 1]] {
            assert!(wants.fields_in(nonsense.as_bytes()).is_empty());
        }
    }
}
