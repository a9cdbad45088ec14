//! Result of an attempt on the wire: a status, or the kind of error that prevented a usable answer.

use std::fmt;

use serde::{Deserialize, Serialize};
use tailback::Missing;

/// Result of an attempt on the wire. The result does not determine whether the attempt counts as rejected or failed: a
/// 503 may be either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    Status(u16),
    Error(ErrorKind),
}

/// Kind of error that left an attempt without a usable answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The answer did not arrive within the attempt's timeout.
    Timeout,
    /// The host refused the connection.
    Refused,
    /// The host is unreachable, or no connection to it was established in time.
    Unreachable,
    /// The connection to the server was reset.
    Reset,
    /// The connection was closed before any part of the answer.
    Closed,
    /// The connection ended in the middle of an answer.
    Truncated,
    /// The server reset the request's HTTP/2 stream.
    StreamReset,
    /// The server shut down the HTTP/2 connection (GOAWAY) before it processed the attempt.
    GoAway,
    /// The answer was not valid HTTP.
    Unreadable,
    /// The answer had more or longer headers than the HTTP client accepts.
    LongHeaders,
    /// The answer's body was longer than the client of an earlier version accepted. No longer reported.
    LongBody,
    /// The TLS handshake failed: the certificate is not trusted, or client and server have no common protocol.
    Tls,
    /// The server answered with plain HTTP where TLS was expected.
    PlainHttp,
    /// The answer to the read before a conditional write had no entity tag.
    NoTag,
    /// The client's machine had no free port or open file.
    Exhausted,
    /// Any error that left the attempt without a usable answer and has no kind of its own.
    Other,
}

impl ErrorKind {
    pub const fn missing(self) -> Missing {
        match self {
            Self::Timeout => Missing::Timeout,
            Self::Refused | Self::Unreachable | Self::Tls | Self::Exhausted => Missing::Refused,
            Self::Reset | Self::Closed | Self::Truncated | Self::StreamReset | Self::GoAway => {
                Missing::Closed
            }
            Self::Unreadable
            | Self::LongHeaders
            | Self::LongBody
            | Self::PlainHttp
            | Self::NoTag
            | Self::Other => Missing::Unreadable,
        }
    }

    /// Returns true if something arrived from the server, although it was no usable answer.
    pub const fn has_arrived(self) -> bool {
        match self {
            Self::Truncated
            | Self::StreamReset
            | Self::GoAway
            | Self::Unreadable
            | Self::LongHeaders
            | Self::LongBody
            | Self::PlainHttp
            | Self::NoTag => true,
            Self::Timeout
            | Self::Refused
            | Self::Unreachable
            | Self::Reset
            | Self::Closed
            | Self::Tls
            | Self::Exhausted
            | Self::Other => false,
        }
    }

    pub const fn words(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Refused => "connection refused",
            Self::Unreachable => "host unreachable",
            Self::Reset => "connection reset",
            Self::Closed => "closed without an answer",
            Self::Truncated => "cut off in mid-answer",
            Self::StreamReset => "HTTP/2 stream reset",
            Self::GoAway => "HTTP/2 connection shut down",
            Self::Unreadable => "no HTTP",
            Self::LongHeaders => "too many or too long headers",
            Self::LongBody => "endless body",
            Self::Tls => "TLS failed",
            Self::PlainHttp => "plain HTTP where TLS was expected",
            Self::NoTag => "no entity tag",
            Self::Exhausted => "no local port or file left",
            Self::Other => "other errors",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureCounts {
    counts: Vec<(Cause, u64)>,
    /// Kind of the latest failure for which something arrived from the server that was no usable answer.
    pub last_arrived: Option<ErrorKind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailureResult {
    pub status: Option<u16>,
    pub kind: Option<ErrorKind>,
    pub attempts: u64,
}

/// HTTP status with the number of attempts that it answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct StatusCount {
    pub status: u16,
    pub attempts: u64,
}

impl FailureCounts {
    /// Returns the statuses among the causes, in ascending order.
    pub fn statuses(&self) -> Vec<StatusCount> {
        let status = |&(cause, attempts): &(Cause, u64)| match cause {
            Cause::Status(status) => Some(StatusCount { status, attempts }),
            Cause::Error(_) => None,
        };
        self.counts.iter().filter_map(status).collect()
    }

    pub fn count(&mut self, cause: Cause) {
        if let Cause::Error(kind) = cause
            && kind.has_arrived()
        {
            self.last_arrived = Some(kind);
        }
        match self.counts.binary_search_by_key(&cause, |(cause, _)| *cause) {
            Ok(index) => self.counts[index].1 += 1,
            Err(index) => self.counts.insert(index, (cause, 1)),
        }
    }

    pub fn by_frequency(&self) -> Vec<(Cause, u64)> {
        let mut counts = self.counts.clone();
        counts.sort_by_key(|(cause, attempts)| (std::cmp::Reverse(*attempts), *cause));
        counts
    }

    pub fn results(&self) -> Vec<FailureResult> {
        let result = |(cause, attempts)| match cause {
            Cause::Status(status) => FailureResult { status: Some(status), kind: None, attempts },
            Cause::Error(kind) => FailureResult { status: None, kind: Some(kind), attempts },
        };
        self.by_frequency().into_iter().map(result).collect()
    }

    pub fn copy_from(&mut self, other: &Self) {
        self.counts.clone_from(&other.counts);
        self.last_arrived = other.last_arrived;
    }
}

impl FailureResult {
    pub fn words(&self) -> String {
        match (self.status, self.kind) {
            (Some(status), _) => status.to_string(),
            (None, kind) => kind.unwrap_or(ErrorKind::Other).words().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Causes are HTTP statuses and error kinds.
    #[test]
    fn failures_are_counted_by_cause_most_frequent_first() {
        let mut counts = FailureCounts::default();
        for cause in [
            Cause::Error(ErrorKind::Reset),
            Cause::Status(404),
            Cause::Error(ErrorKind::Reset),
            Cause::Status(500),
            Cause::Error(ErrorKind::Reset),
            Cause::Status(500),
        ] {
            counts.count(cause);
        }
        let told: Vec<_> = counts.results().iter().map(|one| (one.words(), one.attempts)).collect();
        let expected = [("connection reset", 3), ("500", 2), ("404", 1)];
        assert_eq!(told, expected.map(|(words, attempts)| (words.to_owned(), attempts)));
    }
}
