//! The headers that clients read advice from.

use std::time::Duration;

/// A header that some client reads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// In small letters.
    pub(super) name: &'static str,
    /// What its value is.
    pub(super) notation: Notation,
    /// The header beside it that says how much is left.
    pub(super) remaining: Option<&'static str>,
}

/// What the value of a header is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    /// A number of this unit, or whatever else the client understands.
    Forms(Unit),
    /// A whole number of milliseconds; anything else, or a second header, means never (gRPC, proposal A6).
    Pushback,
    /// Structured fields (IETF, draft-ietf-httpapi-ratelimit-headers).
    RateLimit,
}

/// What a bare number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Millis,
}

impl Unit {
    /// This many, at most what a duration holds.
    pub(super) const fn times(self, count: u64) -> Duration {
        match self {
            Self::Seconds => Duration::from_secs(count),
            Self::Millis => Duration::from_millis(count),
        }
    }

    /// So many, given the same number of seconds.
    pub(super) fn of_seconds(self, seconds: Duration) -> Duration {
        match self {
            Self::Seconds => seconds,
            Self::Millis => seconds / 1000,
        }
    }
}

/// All of them; a client's own list says in which order it looks.
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
    /// That of this name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        HEADERS.iter().find(|header| header.name == name)
    }
}
