//! Reason that an answer gives in its body or a header. Examples are an error code of AWS, a reason of Google, and a
//! phrase of GitHub.
//!
//! The name of a reason determines the text that matches. A name without `-` matches a whole word. In the body, the
//! word must be between the delimiters of JSON or XML: `"reason": "rateLimitExceeded"`, `"__type":
//! "com.amazonaws.sqs#RequestThrottled"`, `<Code>SlowDown</Code>`. In the headers `x-amzn-query-error` and
//! `x-amzn-errortype`, it must be at the start. A name with `-` matches a phrase with its words in that order:
//! `secondary-rate` matches "a secondary rate limit".

use std::num::NonZeroU8;

use crate::AdviceHeaders;

/// Maximum number of bytes of an answer's body that are searched for reasons.
pub(crate) const MAX_BODY: usize = 8 << 10;

/// Headers whose value begins with an error code, each with the character that ends the code.
const HEADERS: [(&str, char); 2] = [("x-amzn-query-error", ';'), ("x-amzn-errortype", ':')];

/// Returns the first of `reasons` that the answer contains, as its position in the list, from 1.
pub(crate) fn reason(
    reasons: &[String],
    headers: &(impl AdviceHeaders + ?Sized),
    body: &[u8],
) -> Option<NonZeroU8> {
    let code = error_code(headers);
    let body = &body[..body.len().min(MAX_BODY)];
    let gives = |reason: &String| code == Some(reason) || in_body(reason.as_bytes(), body);
    let place = reasons.iter().position(gives)?;
    NonZeroU8::new(u8::try_from(place + 1).ok()?)
}

/// Returns the error code that an answer has in a header of AWS.
pub fn error_code(headers: &(impl AdviceHeaders + ?Sized)) -> Option<&str> {
    HEADERS.iter().find_map(|(name, end)| headers.text(name)?.split(*end).next().map(str::trim))
}

/// Returns whether `text` contains `words`, in any case. Each `-` of `words` matches a blank, `-` or `_`.
pub fn contains_words(words: &[u8], text: &[u8]) -> bool {
    let same = |there: &u8, wanted: &u8| match wanted {
        b'-' => matches!(there, b' ' | b'-' | b'_'),
        wanted => there.eq_ignore_ascii_case(wanted),
    };
    !words.is_empty()
        && text.windows(words.len()).any(|there| there.iter().zip(words).all(|(a, b)| same(a, b)))
}

fn in_body(reason: &[u8], body: &[u8]) -> bool {
    if reason.is_empty() || reason.len() > body.len() {
        return false;
    }
    if reason.contains(&b'-') {
        return contains_words(reason, body);
    }
    let is_start = |at: usize| at > 0 && matches!(body[at - 1], b'"' | b'#' | b'>' | b'.');
    let is_end = |at: usize| body.get(at).is_some_and(|mark| matches!(mark, b'"' | b'<' | b':' | b'@'));
    body.windows(reason.len())
        .enumerate()
        .any(|(at, there)| there == reason && is_start(at) && is_end(at + reason.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_HEADERS: [(&str, &str); 0] = [];

    fn found(names: &[&str], body: &str) -> Option<u8> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        reason(&names, &NO_HEADERS[..], body.as_bytes()).map(NonZeroU8::get)
    }

    #[test]
    fn codes_are_found_only_between_json_and_xml_delimiters() {
        let names = ["SlowDown", "ThrottlingException", "rateLimitExceeded"];
        for (body, expected) in [
            ("<Error><Code>SlowDown</Code><Message>x</Message></Error>", Some(1)),
            (r#"{"__type":"com.amazonaws.sqs#ThrottlingException","message":"x"}"#, Some(2)),
            (r#"{"__type": "ThrottlingException:http://internal.amazon.com/coral"}"#, Some(2)),
            (r#"{"error": {"errors": [{"reason": "rateLimitExceeded"}]}}"#, Some(3)),
            (r#"{"error": {"errors": [{"reason": "userRateLimitExceeded"}]}}"#, None),
            ("SlowDown", None),
            ("please SlowDown now", None),
            ("", None),
        ] {
            assert_eq!(found(&names, body), expected, "{body}");
        }
    }

    #[test]
    fn phrases_are_found_in_texts() {
        let text = r#"{"message": "You have exceeded a secondary rate limit. Please wait."}"#;
        assert_eq!(found(&["primary-rate", "secondary-rate"], text), Some(2));
        assert_eq!(found(&["secondary-limit"], text), None);
    }

    #[test]
    fn codes_are_found_in_headers_and_the_start_of_the_body() {
        let names = ["RequestThrottled".to_owned()];
        let headers = [("X-Amzn-Query-Error", "RequestThrottled;Sender")];
        assert_eq!(reason(&names, &headers[..], b"").map(NonZeroU8::get), Some(1));
        let long = format!("{}\"RequestThrottled\"", " ".repeat(MAX_BODY));
        assert_eq!(reason(&names, &NO_HEADERS[..], long.as_bytes()), None);
    }
}
