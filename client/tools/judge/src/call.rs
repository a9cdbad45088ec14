//! Calls of the client under test: patterns such as `GET /v1/*`, and the bodies of answers.

use std::path::PathBuf;
use std::str::FromStr;

/// Method and path of a call. In the path, `*` matches any text. Queries are ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallPattern {
    method: String,
    path: String,
}

impl CallPattern {
    pub(super) fn matches(&self, method: &str, path: &str) -> bool {
        self.method == method && is_like(&self.path, path)
    }
}

fn is_like(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    // The last part must be at the end of the text. All other parts are found from left to right.
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

impl FromStr for CallPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        match words[..] {
            [method, path]
                if path.starts_with(['/', '*']) && method.bytes().all(|byte| byte.is_ascii_alphabetic()) =>
            {
                Ok(Self { method: method.to_ascii_uppercase(), path: path.to_owned() })
            }
            _ => Err("write it as METHOD /PATH, such as 'GET /v1/*'".to_owned()),
        }
    }
}

/// File with the body of the answer 200. Without a call, it is the answer to the judged call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OtherBody {
    pub(super) call: Option<CallPattern>,
    pub(super) file: PathBuf,
}

impl FromStr for OtherBody {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some((call, file)) = text.split_once('=')
            && let Ok(call) = call.parse()
        {
            return Ok(Self { call: Some(call), file: PathBuf::from(file) });
        }
        if text.is_empty() {
            return Err("write a file, or METHOD /PATH=FILE".to_owned());
        }
        Ok(Self { call: None, file: PathBuf::from(text) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_method_and_path() {
        let matches = |pattern: &str, method: &str, path: &str| {
            pattern.parse::<CallPattern>().unwrap().matches(method, path)
        };
        assert!(matches("get /v1/*", "GET", "/v1/things"));
        assert!(matches("GET /v1/*/items", "GET", "/v1/7/items"));
        assert!(matches("GET *", "GET", "/"));
        assert!(!matches("GET /v1/*/items", "GET", "/v1/items"));
        assert!(!matches("GET /v1/things", "GET", "/v1/things/7"));
        assert!(!matches("GET /v1/*", "POST", "/v1/things"));
        assert!("GET".parse::<CallPattern>().is_err() && "/v1".parse::<CallPattern>().is_err());
    }

    #[test]
    fn a_body_may_belong_to_another_call() {
        let body: OtherBody = "POST /token=token.json".parse().unwrap();
        assert_eq!((body.call.is_some(), body.file), (true, PathBuf::from("token.json")));
        let body: OtherBody = "a=b.json".parse().unwrap();
        assert_eq!((body.call, body.file), (None, PathBuf::from("a=b.json")));
    }
}
