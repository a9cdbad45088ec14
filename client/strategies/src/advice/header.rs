//! Names and notations of the headers in which clients read advice.

use std::time::Duration;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) name: &'static str,
    pub(super) notation: Notation,
    pub(super) remaining: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    /// Header value in one of the notations that the client accepts for this header. If the value is a number, it is a
    /// time in the unit that this variant contains.
    Forms(Unit),
    /// Header value that is a wait in whole milliseconds. Any other value means that the client must never retry (gRPC,
    /// proposal A6). A repeated header also means that the client must never retry.
    Pushback,
    /// Header value in the syntax of structured fields (IETF, draft-ietf-httpapi-ratelimit-headers).
    RateLimit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Millis,
}

impl Unit {
    pub(super) const fn times(self, count: u64) -> Duration {
        match self {
            Self::Seconds => Duration::from_secs(count),
            Self::Millis => Duration::from_millis(count),
        }
    }

    /// Replaces the unit of a duration given in seconds, and keeps the number. If the new unit is milliseconds, 5 s
    /// become 5 ms.
    pub(super) fn of_seconds(self, seconds: Duration) -> Duration {
        match self {
            Self::Seconds => seconds,
            Self::Millis => seconds / 1000,
        }
    }
}

/// All supported headers in which servers give advice about retries. The order of the headers in this list has no
/// effect, because each client's configuration defines its own order.
pub(super) const HEADERS: &[Header] = &[
    timed("retry-after", Unit::Seconds, None),
    timed("retry-after-ms", Unit::Millis, None),
    timed("x-ms-retry-after-ms", Unit::Millis, None),
    timed("x-amz-retry-after", Unit::Millis, None),
    Header { name: "ratelimit", notation: Notation::RateLimit, remaining: None },
    timed("ratelimit-reset", Unit::Seconds, Some("ratelimit-remaining")),
    timed("x-ratelimit-reset", Unit::Seconds, Some("x-ratelimit-remaining")),
    timed("x-ratelimit-retry-after", Unit::Seconds, Some("x-ratelimit-remaining")),
    timed("x-rate-limit-reset", Unit::Seconds, Some("x-rate-limit-remaining")),
    Header { name: "grpc-retry-pushback-ms", notation: Notation::Pushback, remaining: None },
];

const fn timed(name: &'static str, unit: Unit, remaining: Option<&'static str>) -> Header {
    Header { name, notation: Notation::Forms(unit), remaining }
}

impl Header {
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        HEADERS.iter().find(|header| header.name == name)
    }
}
