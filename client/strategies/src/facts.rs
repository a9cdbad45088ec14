//! Facts about an answer that strategies use, such as its status code. They take eight bytes, and every driver (HTTP
//! client or simulation) provides them.

use std::num::NonZeroU8;

use vocabulary::grpc;

/// Facts about an answer that strategies use, or the reason why there is no answer. Rules of
/// strategies use these facts; parts use the [`Status`](crate::Status).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// HTTP status code of the answer; 0 if there is no answer.
    pub code: u16,
    /// Reason why the attempt got no answer; `None` if it got an answer, or if nothing is known.
    pub missing: Option<Missing>,
    /// Hints about retries in the headers of the answer.
    pub hints: Hints,
    /// gRPC status of the answer. It is set only if a rule of the strategy uses it.
    pub grpc: Option<Grpc>,
    /// Reason given in the answer, such as an error code. The reason is stored as its position, from 1, in the list of
    /// reasons for which the strategy searches answers.
    pub reason: Option<NonZeroU8>,
}

impl Facts {
    /// Facts of an attempt if nothing is known about its answer.
    pub const NONE: Self = Self { code: 0, missing: None, hints: Hints::NONE, grpc: None, reason: None };

    /// Creates the facts of an answer of which only the status code is known.
    pub const fn code(code: u16) -> Self {
        Self { code, ..Self::NONE }
    }

    /// Creates the facts of an attempt that got no answer. `why` is the reason for the missing answer.
    pub const fn missing(why: Missing) -> Self {
        Self { missing: Some(why), ..Self::NONE }
    }
}

/// Reason why an attempt got no usable answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The connection could not be established.
    Refused,
    /// The connection ended before the end of the answer.
    Closed,
    /// The attempt took longer than its timeout.
    Timeout,
    /// The received data was not a valid answer.
    Unreadable,
}

/// Set of header values by which servers advise for or against a retry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints(u8);

impl Hints {
    /// Empty set of hints about retries.
    pub const NONE: Self = Self(0);
    /// Hint for a retry: the header `x-should-retry: true`.
    pub const SHOULD_RETRY: Self = Self(1);
    /// Hint against a retry: the header `x-should-retry: false`.
    pub const SHOULD_NOT_RETRY: Self = Self(2);
    /// Hint for a retry: the header `stripe-should-retry: true`.
    pub const STRIPE_SHOULD_RETRY: Self = Self(4);
    /// Hint against a retry: the header `stripe-should-retry: false`.
    pub const STRIPE_SHOULD_NOT_RETRY: Self = Self(8);
    /// Hint by Envoy: the header `x-envoy-ratelimited` or `x-envoy-overloaded`, with any value.
    pub const ENVOY_RATE_LIMITED: Self = Self(16);

    /// Returns the union of two sets of hints about retries.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether two sets of hints have a hint in common.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// gRPC status, stored as its number (gRPC, `statuscodes.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Grpc(u8);

impl Grpc {
    /// Returns the gRPC status with this name. The name must be in capitals, as gRPC writes it.
    pub fn named(name: &str) -> Option<Self> {
        grpc::named(name).map(Self)
    }

    /// Parses the value of the header `grpc-status`. An invalid value is parsed as the status UNKNOWN.
    pub fn numbered(text: &str) -> Self {
        Self(grpc::number(text))
    }

    /// Returns the gRPC status that corresponds to an HTTP status if the header `grpc-status` is missing (gRPC,
    /// `http-grpc-status-mapping.md`).
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

    /// Returns the name of the gRPC status in capitals, as gRPC writes it.
    pub fn name(self) -> &'static str {
        grpc::STATUSES[usize::from(self.0)]
    }

    /// Returns the number of the gRPC status, from 0 to 16.
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
