//! Flag values with a syntax of their own: HTTP methods and headers.

use std::str::FromStr;

/// Headers that frame an HTTP/1.1 message or control its connection, so users cannot set them.
const FRAMING: [&str; 7] =
    ["connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Method(pub(crate) http::Method);

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        http::Method::from_bytes(text.to_ascii_uppercase().as_bytes())
            .map(Self)
            .map_err(|_| "it is not an HTTP method; write for example GET, POST or PUT".to_owned())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) name: http::HeaderName,
    pub(crate) value: http::HeaderValue,
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

#[cfg(test)]
mod tests {
    use super::*;

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
