//! The headers of an answer, however they are kept.

use std::time::Duration;

use http::HeaderMap;
use tailback::{AdviceHeaders, AdviceValue};
use vocabulary::wire;

/// Header by header, in the order in which they came; names in lower case.
pub(crate) trait Fields {
    /// All of them.
    fn all(&self) -> impl Iterator<Item = (&str, &[u8])>;

    /// The first value of a header, if it is text. Answers have a dozen of them: to look at each is cheaper than to hash a name.
    fn first(&self, name: &str) -> Option<&str> {
        self.all().find(|(there, _)| *there == name).and_then(|(_, value)| text(value))
    }
}

/// A value that is text: visible ASCII (RFC 9110, section 5.5). Others are as good as none.
pub(crate) fn text(value: &[u8]) -> Option<&str> {
    let is_text = value.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    str::from_utf8(value).ok().filter(|_| is_text)
}

impl Fields for HeaderMap {
    fn all(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))
    }
}

impl Fields for [httparse::Header<'_>] {
    fn all(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.iter().map(|header| (header.name, header.value))
    }
}

/// Status and headers of an answer, as strategies ask for them.
pub(crate) struct Headers<'a, F: ?Sized>(pub(crate) u16, pub(crate) &'a F);

impl<F: Fields + ?Sized> AdviceHeaders for Headers<'_, F> {
    fn value(&self, name: &'static str) -> Option<AdviceValue<'_>> {
        self.1.first(name).map(AdviceValue::Text)
    }

    fn is_repeated(&self, name: &'static str) -> bool {
        self.1.all().filter(|(there, _)| *there == name).nth(1).is_some()
    }

    fn status(&self) -> u16 {
        self.0
    }

    fn exact_wait(&self) -> Option<Duration> {
        Some(Duration::from_nanos(self.1.first(wire::WAIT)?.parse().ok()?))
    }
}
