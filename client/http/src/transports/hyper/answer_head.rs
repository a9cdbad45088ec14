//! The head of an answer over HTTP/1.1, read where that is simple: a length that is known, nothing said about the connection. Whatever
//! is not so, and whatever is wrong, is left to the general machinery, which knows all rules.

use std::cmp::Ordering;
use std::mem::MaybeUninit;

/// As many headers as the general machinery reads.
const MOST_HEADERS: usize = 100;

/// What a connection's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard<T> {
    /// Not yet a whole answer.
    Partial,
    /// A plain answer and nothing else, understood.
    Plain(T),
    /// Anything else.
    Other,
}

/// Reads an answer; `understand` gets its status, headers and body when it is whole. Answers longer than `most` are not plain.
pub(super) fn read<T>(
    bytes: &[u8],
    most: usize,
    understand: impl FnOnce(u16, &[httparse::Header<'_>], &[u8]) -> T,
) -> Heard<T> {
    let mut room = [const { MaybeUninit::uninit() }; MOST_HEADERS];
    let mut answer = httparse::Response::new(&mut []);
    let config = httparse::ParserConfig::default();
    let head = match config.parse_response_with_uninit_headers(&mut answer, bytes, &mut room) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if bytes.len() < most => return Heard::Partial,
        _ => return Heard::Other,
    };
    let Some((code, body)) = plain(&answer) else { return Heard::Other };
    match (head + body).cmp(&bytes.len()) {
        Ordering::Equal => Heard::Plain(understand(code, answer.headers, &bytes[head..])),
        Ordering::Greater if head + body <= most => Heard::Partial,
        _ => Heard::Other,
    }
}

/// Status and length of the body of an answer whose head is plain.
fn plain(answer: &httparse::Response<'_, '_>) -> Option<(u16, usize)> {
    // 1xx is no answer yet, 204 and 304 have no body whatever they announce (RFC 9112, section 6.3).
    let code = answer.code.filter(|code| (200..=999).contains(code) && ![204, 205, 304].contains(code))?;
    let mut body = None;
    for header in &*answer.headers {
        // Names are compared as a mockserver writes them.
        if header.name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return None;
        }
        match header.name {
            "content-length" if body.is_none() => body = Some(decimal(header.value)?),
            "content-length" | "connection" | "transfer-encoding" | "upgrade" | "trailer" => return None,
            _ => {}
        }
    }
    (answer.version == Some(1)).then_some((code, body?))
}

/// A length in digits, and in nothing else.
fn decimal(value: &[u8]) -> Option<usize> {
    let digits = !value.is_empty() && value.len() < 8 && value.iter().all(u8::is_ascii_digit);
    digits.then(|| value.iter().fold(0, |number, digit| number * 10 + usize::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(text: &str) -> Heard<(u16, usize, String)> {
        read(text.as_bytes(), 2048, |code, headers, body| {
            (code, headers.len(), String::from_utf8_lossy(body).into_owned())
        })
    }

    #[test]
    fn a_plain_answer_is_one_whose_length_is_known() {
        let text =
            "HTTP/1.1 503 Service Unavailable\r\nx-tailback-mock: 1\r\ncontent-length: 5\r\n\r\nbusy\n";
        assert_eq!(heard(text), Heard::Plain((503, 2, "busy\n".to_owned())));
        for length in 0..text.len() {
            assert_eq!(heard(&text[..length]), Heard::Partial, "{length}");
        }
        assert_eq!(heard(&format!("{text}H")), Heard::Other, "nobody asked for more");
    }

    #[test]
    fn whatever_is_not_plain_is_left_to_others() {
        let head = |line: &str, headers: &str| heard(&format!("{line}\r\n{headers}\r\n"));
        assert!(matches!(head("HTTP/1.1 200 OK", "content-length: 0\r\n"), Heard::Plain(_)));
        for line in [
            "HTTP/1.0 200 OK",
            "HTTP/1.1 100 Continue",
            "HTTP/1.1 204 No",
            "HTTP/1.1 304 No",
            "HA! no",
            "HTTP/2 200",
        ] {
            assert_eq!(head(line, "content-length: 0\r\n"), Heard::Other, "{line}");
        }
        for headers in [
            "",
            "Content-Length: 0\r\n",
            "content-length: 0\r\ncontent-length: 0\r\n",
            "content-length: +1\r\n",
            "content-length: 1, 1\r\n",
            "content-length: \r\n",
            "content-length: 99999999\r\n",
            "content-length: 5000\r\n",
            "content-length: 0\r\nconnection: close\r\n",
            "content-length: 0\r\ntransfer-encoding: chunked\r\n",
            "content-length: 0\r\na b: c\r\n",
        ] {
            assert_eq!(head("HTTP/1.1 200 OK", headers), Heard::Other, "{headers:?}");
        }
        let many = "x: y\r\n".repeat(MOST_HEADERS) + "content-length: 0\r\n";
        assert_eq!(head("HTTP/1.1 200 OK", &many), Heard::Other);
    }
}
