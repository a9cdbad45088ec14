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

/// File with the body of some answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GivenBody {
    pub(super) of: BodyOf,
    pub(super) file: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BodyOf {
    /// Answer 200 to the judged call.
    Success,
    /// Answer 200 to another call.
    Call(CallPattern),
    Status(u16),
    /// All statuses with these hundreds, such as 5 for `5xx`.
    Class(u16),
}

impl BodyOf {
    pub(super) fn is_of(&self, status: u16) -> bool {
        match self {
            Self::Status(own) => *own == status,
            Self::Class(hundreds) => *hundreds == status / 100,
            Self::Success | Self::Call(_) => false,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let hundreds = text.strip_suffix("xx").and_then(|hundreds| hundreds.parse().ok());
        match (hundreds, text.parse()) {
            (Some(class @ 4..=5), _) => Some(Self::Class(class)),
            (_, Ok(status @ 400..=599)) => Some(Self::Status(status)),
            _ => text.parse().ok().map(Self::Call),
        }
    }
}

impl FromStr for GivenBody {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some((of, file)) = text.split_once('=') {
            if let Some(of) = BodyOf::parse(of) {
                return Ok(Self { of, file: PathBuf::from(file) });
            }
            let digits = of.strip_suffix("xx").unwrap_or(of);
            if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(format!("`{of}` is no status of a rejection; write 400 to 599, `4xx` or `5xx`"));
            }
        }
        if text.is_empty() {
            return Err("write a file, 429=FILE, 5xx=FILE, or METHOD /PATH=FILE".to_owned());
        }
        Ok(Self { of: BodyOf::Success, file: PathBuf::from(text) })
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
    fn a_body_may_belong_to_a_status_or_another_call() {
        let given = |text: &str| text.parse::<GivenBody>().unwrap();
        assert!(matches!(given("POST /token=token.json").of, BodyOf::Call(_)));
        assert_eq!((given("429=busy.json").of, given("5xx=a=b").of), (BodyOf::Status(429), BodyOf::Class(5)));
        assert_eq!(given("a=b.json"), GivenBody { of: BodyOf::Success, file: PathBuf::from("a=b.json") });
        for text in ["200=b.json", "7xx=b.json", "600=b.json"] {
            assert!(text.parse::<GivenBody>().unwrap_err().contains("400 to 599"));
        }
    }
}
