//! What an attempt came to on the wire, as far as strategies ask for it: eight bytes that both drivers hand over.

use std::num::NonZeroU8;

use vocabulary::grpc;

/// What an answer says, or why there is none. How the harness counts it is its [`Status`](crate::Status).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The HTTP status; 0 without an answer.
    pub code: u16,
    /// Why there is no answer.
    pub missing: Option<Missing>,
    /// What headers that are hints said.
    pub hints: Hints,
    /// The gRPC status, where a strategy asks for it.
    pub grpc: Option<Grpc>,
    /// Which of the reasons that the strategy looks for the answer gave: its place in that list, from 1.
    pub reason: Option<NonZeroU8>,
}

impl Facts {
    /// Nothing is known.
    pub const NONE: Self = Self { code: 0, missing: None, hints: Hints::NONE, grpc: None, reason: None };

    /// An answer with this status, of which nothing else is known.
    pub const fn code(code: u16) -> Self {
        Self { code, ..Self::NONE }
    }

    /// No answer, for this reason.
    pub const fn missing(why: Missing) -> Self {
        Self { missing: Some(why), ..Self::NONE }
    }
}

/// Why there is no answer that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// No connection was made.
    Refused,
    /// The connection ended before the answer did.
    Closed,
    /// It took longer than the attempt's timeout.
    Timeout,
    /// What came was no answer.
    Unreadable,
}

/// What the headers said by which servers hint whether to try again: a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints(u8);

impl Hints {
    /// None of them was there.
    pub const NONE: Self = Self(0);
    /// `x-should-retry: true`.
    pub const SHOULD_RETRY: Self = Self(1);
    /// `x-should-retry: false`.
    pub const SHOULD_NOT_RETRY: Self = Self(2);
    /// `stripe-should-retry: true`.
    pub const STRIPE_SHOULD_RETRY: Self = Self(4);
    /// `stripe-should-retry: false`.
    pub const STRIPE_SHOULD_NOT_RETRY: Self = Self(8);
    /// `x-envoy-ratelimited` or `x-envoy-overloaded`, whatever its value.
    pub const ENVOY_RATE_LIMITED: Self = Self(16);

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether any of `other` is in it.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// A gRPC status, by its number (gRPC, `statuscodes.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Grpc(u8);

impl Grpc {
    /// Success.
    pub const OK: Self = Self(0);

    /// The status of this name, in capitals as gRPC writes it.
    pub fn named(name: &str) -> Option<Self> {
        grpc::named(name).map(Self)
    }

    /// What `grpc-status` says; what it cannot say is UNKNOWN.
    pub fn numbered(text: &str) -> Self {
        Self(grpc::number(text))
    }

    /// What an answer without `grpc-status` means (gRPC, `http-grpc-status-mapping.md`).
    pub const fn of_http(code: u16) -> Self {
        Self(match code {
            400 => 13,
            401 => 16,
            403 => 7,
            404 => 12,
            429 | 502..=504 => 14,
            _ => 2,
        })
    }

    /// As gRPC writes it.
    pub fn name(self) -> &'static str {
        grpc::STATUSES[usize::from(self.0)]
    }

    /// Its number, below 17.
    pub const fn number(self) -> u8 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_stay_as_small_as_a_pointer() {
        assert!(size_of::<Facts>() <= 8);
    }

    #[test]
    fn hints_are_a_set() {
        let hints = Hints::SHOULD_RETRY.with(Hints::ENVOY_RATE_LIMITED);
        assert!(hints.has(Hints::SHOULD_RETRY) && !hints.has(Hints::SHOULD_NOT_RETRY));
        assert!(!Hints::NONE.has(Hints::SHOULD_RETRY));
    }

    #[test]
    fn grpc_statuses_have_names_and_numbers_and_come_from_http_too() {
        assert_eq!(Grpc::named("UNAVAILABLE"), Some(Grpc::numbered("14")));
        assert_eq!(Grpc::named("unavailable"), None);
        for (code, name) in
            [(503, "UNAVAILABLE"), (429, "UNAVAILABLE"), (500, "UNKNOWN"), (404, "UNIMPLEMENTED")]
        {
            assert_eq!(Grpc::of_http(code).name(), name, "{code}");
        }
        for garbage in ["", "17", "-1", "300", "x"] {
            assert_eq!(Grpc::numbered(garbage).name(), "UNKNOWN", "{garbage}");
        }
    }
}
