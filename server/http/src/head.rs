//! The head of a request over HTTP/1.1, read where that is simple: no body, nothing to be said about the connection, a path that is
//! work. Whatever is not so, and whatever is wrong, is left to the general machinery, which knows all rules.

use std::mem::MaybeUninit;

use crate::bounds::MOST_HEADERS;
use crate::identity::{Identity, Marks};

/// What a connection's bytes begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// Not yet a whole head.
    Partial,
    /// A plain request of so many bytes.
    Plain { length: usize, identity: Identity },
    /// Anything else.
    Other,
}

/// Reads what stands first.
pub(crate) fn read(bytes: &[u8]) -> Head {
    // Between two requests empty lines may stand: rare enough.
    if bytes.is_empty() {
        return Head::Partial;
    }
    let mut room = [const { MaybeUninit::uninit() }; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut []);
    let length = match request.parse_with_uninit_headers(bytes, &mut room) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Head::Partial,
        Err(_) => return Head::Other,
    };
    let is_plain = request.version == Some(1)
        && request.method.is_some_and(|method| METHODS.contains(&method))
        && request.path.is_some_and(is_work);
    if !is_plain || bytes[0].is_ascii_whitespace() {
        return Head::Other;
    }
    let mut marks = Marks::default();
    for header in &*request.headers {
        if !is_plain_header(header.name.as_bytes(), header.value) {
            return Head::Other;
        }
        marks.see(header.name.as_bytes(), header.value);
    }
    Head::Plain { length, identity: marks.identity() }
}

/// `HEAD` and `CONNECT` have answers of their own kind.
const METHODS: [&str; 6] = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"];

/// Whether a target is a path to work, of characters about which nobody disagrees.
fn is_work(path: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~?&=%:+,;@".contains(&byte);
    path.starts_with('/')
        && path.len() < 4096
        && path.bytes().all(is_usual)
        && !(path.starts_with("/_mock") || path.starts_with("/metrics"))
}

/// Whether a header says nothing about a body or the connection (RFC 9110, sections 7.6.1, 7.8, 8.6 and 10.1.1; RFC 9112, section 6.1).
fn is_plain_header(name: &[u8], value: &[u8]) -> bool {
    let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
    match name.len() {
        6 => !is("expect"),
        7 => !is("upgrade") && !is("trailer"),
        10 => !is("connection") || value.eq_ignore_ascii_case(b"keep-alive"),
        14 => !is("content-length") || value == b"0",
        17 => !is("transfer-encoding"),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_request_is_read_with_what_it_says_of_itself() {
        let text = "GET /repos/7?page=2 HTTP/1.1\r\nHost: a\r\nX-Tailback-Op: 7\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n";
        let twice = text.repeat(2);
        let identity = Identity { op: Some(7), ..Identity::default() };
        assert_eq!(read(twice.as_bytes()), Head::Plain { length: text.len(), identity });
        for length in 0..text.len() {
            assert_eq!(read(&text.as_bytes()[..length]), Head::Partial, "{length}");
        }
    }

    #[test]
    fn whatever_is_not_plain_is_left_to_others() {
        let head = |line: &str, headers: &str| read(format!("{line}\r\nhost: a\r\n{headers}\r\n").as_bytes());
        assert!(matches!(head("GET / HTTP/1.1", ""), Head::Plain { .. }));
        for line in [
            "GET / HTTP/1.0",
            "HEAD / HTTP/1.1",
            "CONNECT a:1 HTTP/1.1",
            "BREW / HTTP/1.1",
            "GET http://a/ HTTP/1.1",
            "OPTIONS * HTTP/1.1",
            "GET /_mock/stats HTTP/1.1",
            "GET /metrics HTTP/1.1",
            "GET /a#b HTTP/1.1",
            "GET /\u{e9} HTTP/1.1",
            "\r\nGET / HTTP/1.1",
            "nonsense",
        ] {
            assert_eq!(head(line, ""), Head::Other, "{line}");
        }
        for header in [
            "Content-Length: 4",
            "content-length: +0",
            "content-length: 0, 0",
            "Transfer-Encoding: chunked",
            "Expect: 100-continue",
            "Connection: close",
            "Connection: keep-alive, upgrade",
            "Upgrade: h2c",
            "a b: c",
            ": c",
        ] {
            assert_eq!(head("GET / HTTP/1.1", &format!("{header}\r\n")), Head::Other, "{header}");
        }
        assert_eq!(head("GET / HTTP/1.1", &"x: y\r\n".repeat(MOST_HEADERS)), Head::Other);
    }
}
