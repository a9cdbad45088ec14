//! Headers of a response, in the form in which strategies query them.

use std::time::Duration;

use http::{HeaderMap, HeaderName};
use tailback::{AdviceHeaders, AdviceValue};
use vocabulary::wire;

// The header name is a constant, so that it is not parsed from a text at each look-up.
const WAIT: HeaderName = HeaderName::from_static(wire::WAIT);

/// Status and headers of a response. Header values with characters other than visible ASCII (RFC 9110, section 5.5) count as
/// missing.
pub(crate) struct Headers<'a>(pub(crate) u16, pub(crate) &'a HeaderMap);

impl AdviceHeaders for Headers<'_> {
    fn value(&self, name: &'static str) -> Option<AdviceValue<'_>> {
        self.1.get(name)?.to_str().ok().map(AdviceValue::Text)
    }

    fn is_repeated(&self, name: &'static str) -> bool {
        self.1.get_all(name).iter().nth(1).is_some()
    }

    fn status(&self) -> u16 {
        self.0
    }

    fn exact_wait(&self) -> Option<Duration> {
        let nanos = self.1.get(&WAIT)?.to_str().ok()?.parse().ok()?;
        Some(Duration::from_nanos(nanos))
    }
}
