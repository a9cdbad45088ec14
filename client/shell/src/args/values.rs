//! Flag values with a syntax of their own: HTTP methods and headers.

use std::ffi::OsStr;
use std::str::FromStr;

use clap::builder::TypedValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

/// Headers that frame an HTTP/1.1 message or control its connection, so users cannot set them.
const FRAMING: [&str; 7] =
    ["connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method(pub http::Method);

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        http::Method::from_bytes(text.to_ascii_uppercase().as_bytes())
            .map(Self)
            .map_err(|_| "it is not an HTTP method; write for example GET, POST or PUT".to_owned())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub name: http::HeaderName,
    pub value: http::HeaderValue,
}

impl FromStr for Header {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, value) = text
            .split_once(':')
            .ok_or_else(|| "write it as `Name: value`, such as `Accept: text/plain`".to_owned())?;
        let name: http::HeaderName =
            name.trim().parse().map_err(|_| format!("`{name}` is not a valid header name"))?;
        if name.as_str().starts_with("x-tailback-") {
            return Err(format!("the header `{name}` is reserved for loadgen; choose another name"));
        }
        if FRAMING.contains(&name.as_str()) {
            return Err(format!(
                "loadgen itself sets the header `{name}` from the body and the connection; leave it out"
            ));
        }
        let value =
            value.trim().parse().map_err(|_| format!("the value of `{name}` is not allowed in a header"))?;
        Ok(Self { name, value })
    }
}

/// Parser of a URL without a flag. Any other word is refused as an unknown subcommand.
#[derive(Clone)]
pub(super) struct PositionalUrl;

impl TypedValueParser for PositionalUrl {
    type Value = String;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        let word = value.to_string_lossy();
        if is_url(&word) {
            return Ok(word.into_owned());
        }
        let mut error = clap::Error::new(ErrorKind::InvalidSubcommand).with_cmd(command);
        error.insert(ContextKind::InvalidSubcommand, ContextValue::String(word.into_owned()));
        Err(error)
    }
}

/// Returns true if a word is a URL, and not a mistyped subcommand or the name of a file. Without a scheme, a URL has a port, a path after
/// a dotted name, or the name or address of a machine.
pub fn is_url(word: &str) -> bool {
    if word.contains("://") {
        return true;
    }
    let (place, has_path) = match word.find(['/', '?']) {
        Some(end) => (&word[..end], true),
        None => (word, false),
    };
    let Ok(authority) = place.parse::<http::uri::Authority>() else { return false };
    let host = authority.host().trim_matches(['[', ']']);
    let is_named = host.starts_with(|first: char| first.is_ascii_alphanumeric());
    authority.port_u16().is_some()
        || host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok()
        || has_path && is_named && host.contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_without_a_scheme_is_told_from_a_word() {
        for url in [
            "http://a",
            "HTTPS://a/b",
            "ftp://a",
            "localhost",
            "localhost:8080",
            "localhost/x",
            "127.0.0.1:80/x",
            "127.0.0.1",
            "[::1]:80",
            "[::1]",
            "api:8080",
            "example.com/v1?a=b",
            "me:word@host:80/",
        ] {
            assert!(is_url(url), "{url}");
        }
        for word in [
            "",
            "compar",
            "aimd",
            "aimd:beta=0.5",
            "aimd+none",
            "50",
            "result.json",
            "./a.toml",
            "a/b.c",
            "../x",
            ":",
            "/x",
            "a b",
        ] {
            assert!(!is_url(word), "{word}");
        }
    }

    #[test]
    fn headers_are_names_and_values_and_never_the_runs_own() {
        let header: Header = "Accept: text/plain".parse().unwrap();
        assert_eq!((header.name.as_str(), header.value.to_str().unwrap()), ("accept", "text/plain"));
        for text in ["Accept", ": x", "a b: c", "X-Tailback-Op: 1", "a: \u{7f}", "TE: trailers"] {
            assert!(text.parse::<Header>().is_err(), "{text}");
        }
        let error = "Content-Length: 5".parse::<Header>().unwrap_err();
        assert!(error.contains("sets the header `content-length`"), "{error}");
        assert!("Host: example".parse::<Header>().is_ok());
    }
}
