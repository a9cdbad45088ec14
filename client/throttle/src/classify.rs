//! Results of attempts, as far as a strategy uses them.

use std::time::Duration;

use http::{HeaderMap, HeaderName};
use tailback::{Advice, Facts, Failure, Missing, Outcome, ResponseParser, Status};

use crate::headers::{HttpHeaders, server_clock};

/// Result of an attempt, as far as a strategy uses it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Seen<'a> {
    /// The server responded with HTTP. The statuses 429, 503 and 529 are rejections, 2xx are successes, and other 5xx are failures that may
    /// be retried ([`Status::from_http`]).
    Response {
        /// HTTP status.
        status: u16,
        /// Headers; `None` if they are no longer known. Then advice such as `Retry-After` is lost.
        headers: Option<&'a HeaderMap>,
    },
    /// The work is done.
    Succeeded,
    /// The server rejected the request, and did no work for it.
    Rejected {
        /// Time after which the server advises to send again.
        retry_after: Option<Duration>,
    },
    /// There was no response, for this reason. A [refused](Missing::Refused) connection means that the server did not receive the request.
    NoResponse(Missing),
    /// The request cannot succeed: it is invalid, or an error that a retry would not change occurred.
    Fatal,
}

/// Result that a strategy can use. The crate implements it for the results of `http` and, with the feature `reqwest`, of reqwest. For
/// others, pass a function to [`Throttle::run_with`](crate::Throttle::run_with).
#[diagnostic::on_unimplemented(
    message = "a throttle cannot read results of type `{Self}`",
    note = "for reqwest 0.13, enable the feature `reqwest` of tailback-http; for other types, use `Throttle::run_with`"
)]
pub trait Classify {
    /// Returns what a strategy learns from the result.
    fn classify(&self) -> Seen<'_>;
}

impl<T: Classify, E: Classify> Classify for Result<T, E> {
    fn classify(&self) -> Seen<'_> {
        match self {
            Ok(response) => response.classify(),
            Err(error) => error.classify(),
        }
    }
}

impl<B> Classify for http::Response<B> {
    fn classify(&self) -> Seen<'_> {
        Seen::Response { status: self.status().as_u16(), headers: Some(self.headers()) }
    }
}

#[cfg(feature = "reqwest")]
impl Classify for reqwest::Response {
    fn classify(&self) -> Seen<'_> {
        Seen::Response { status: self.status().as_u16(), headers: Some(self.headers()) }
    }
}

/// An error made by `error_for_status` has no headers, so its advice is lost. Call `error_for_status` on the result of
/// [`Throttle::run`](crate::Throttle::run), not inside.
#[cfg(feature = "reqwest")]
impl Classify for reqwest::Error {
    fn classify(&self) -> Seen<'_> {
        if let Some(status) = self.status() {
            Seen::Response { status: status.as_u16(), headers: None }
        } else if self.is_connect() {
            Seen::NoResponse(Missing::Refused)
        } else if self.is_timeout() {
            Seen::NoResponse(Missing::Timeout)
        } else if self.is_builder() || self.is_redirect() {
            Seen::Fatal
        } else if self.is_body() || self.is_decode() {
            Seen::NoResponse(Missing::Unreadable)
        } else {
            Seen::NoResponse(Missing::Closed)
        }
    }
}

/// An error of another middleware is final.
#[cfg(feature = "reqwest-middleware")]
impl Classify for reqwest_middleware::Error {
    fn classify(&self) -> Seen<'_> {
        match self {
            Self::Reqwest(error) => error.classify(),
            Self::Middleware(_) => Seen::Fatal,
        }
    }
}

impl Classify for std::convert::Infallible {
    fn classify(&self) -> Seen<'_> {
        match *self {}
    }
}

const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");

impl Seen<'_> {
    /// Returns the outcome for a strategy whose answers are parsed by `parser`. The body of a response is not looked at.
    pub(crate) fn outcome(&self, parser: &ResponseParser) -> Outcome {
        match *self {
            Self::Response { status: code, headers: None } => {
                let plain = Outcome::plain(Status::from_http(code, None));
                Outcome { facts: parser.parse_status(code), ..plain }
            }
            Self::Response { status: code, headers: Some(headers) } => {
                let grpc = headers.get(GRPC_STATUS).and_then(|status| status.to_str().ok());
                let parsed = parser.parse(code, &HttpHeaders(code, headers), b"", server_clock(headers));
                Outcome {
                    facts: parsed.facts,
                    outer_advice: parsed.outer_advice,
                    quota: parsed.quota,
                    ..Outcome::advised(Status::from_http(code, grpc), parsed.advice)
                }
            }
            Self::Succeeded => Outcome::plain(Status::Succeeded),
            Self::Rejected { retry_after } => {
                let advice = retry_after.map_or(Advice::None, Advice::After);
                Outcome::advised(Status::Rejected, advice)
            }
            Self::NoResponse(missing) => {
                let failure = if missing == Missing::Timeout { Failure::Timeout } else { Failure::Transport };
                let plain = Outcome::plain(Status::Failed(failure));
                Outcome { facts: Facts::missing(missing), ..plain }
            }
            Self::Fatal => Outcome::plain(Status::Failed(Failure::Fatal)),
        }
    }
}
