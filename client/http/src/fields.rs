//! The headers of a response.

use std::time::Duration;

use http::HeaderMap;
use tailback::{AdviceHeaders, AdviceValue};
use vocabulary::wire;

/// A value that is text: visible ASCII (RFC 9110, section 5.5). Others are as good as none.
pub(crate) fn text(value: &[u8]) -> Option<&str> {
    let is_text = value.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    str::from_utf8(value).ok().filter(|_| is_text)
}

/// Returns the first value of a header, if it is text. A response has a dozen headers: comparing each name costs less than hashing one.
pub(crate) fn first<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.iter().find(|(other, _)| other.as_str() == name).and_then(|(_, value)| text(value.as_bytes()))
}

/// Status and headers of a response, as strategies query them.
pub(crate) struct Headers<'a>(pub(crate) u16, pub(crate) &'a HeaderMap);

impl AdviceHeaders for Headers<'_> {
    fn value(&self, name: &'static str) -> Option<AdviceValue<'_>> {
        first(self.1, name).map(AdviceValue::Text)
    }

    fn is_repeated(&self, name: &'static str) -> bool {
        self.1.iter().filter(|(other, _)| other.as_str() == name).nth(1).is_some()
    }

    fn status(&self) -> u16 {
        self.0
    }

    fn exact_wait(&self) -> Option<Duration> {
        Some(Duration::from_nanos(first(self.1, wire::WAIT)?.parse().ok()?))
    }
}
