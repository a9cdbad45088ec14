//! Messages between a driver (real-time or virtual-time) and the run.

use std::time::Duration;

use tailback::{Advice, AttemptKey, Facts, Failure, Outcome, ParsedResponse, Status};
use vocabulary::Instant;
use wire::AdvertisedLimits;

use crate::cause::{Cause, ErrorKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The server has started an attempt that it starts only with enough free capacity. The attempt counts from now on. Drivers that do not
    /// observe starts omit this input. Without this input, the attempt counts as soon as it ends, unless it ends [deferred].
    ///
    /// [deferred]: tailback::Status::Deferred
    Started(AttemptKey),
    /// The driver could not send the attempt yet, because no connection was free. The attempt does not count as sent until
    /// [`Connected`](Self::Connected). If it ends before that, it was never sent.
    Waiting(AttemptKey),
    /// A connection became free for an attempt that had to wait, so the attempt is sent, unless it is no longer
    /// [in flight](super::Run::is_in_flight): the strategy may hold all attempts meanwhile.
    Connected(AttemptKey),
    AttemptEnd(Completion),
    /// Command to send no more attempts and to wait for the attempts in flight.
    Stop,
    /// Command to send no more attempts, to withdraw the attempts in flight, and to end the run.
    Abort,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    pub attempt: AttemptKey,
    /// Instant at which the request was actually sent. In virtual time it is the instant at which the request was due.
    pub sent_at: Instant,
    pub result: AttemptResult,
}

/// Result of an attempt, as the client observed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptResult {
    pub outcome: Outcome,
    pub server: Option<ServerSeen>,
    /// Wait before a retry in experiment time, as advised by the answer. The load generator compares retries with this advice, even if the strategy does not
    /// use it.
    pub advised_wait: Option<Duration>,
    /// HTTP status, or an error if there was no usable answer. `None` if the attempt was withdrawn.
    pub cause: Option<Cause>,
    /// True if the answer came from an intermediary between the client and the recognised server.
    pub by_gateway: bool,
}

impl AttemptResult {
    /// Returns the result of an attempt of which nothing but the status is known.
    #[inline]
    pub fn plain(status: Status) -> Self {
        let outcome = Outcome::plain(status);
        Self { outcome, server: None, advised_wait: None, cause: None, by_gateway: false }
    }

    /// Returns the result of an attempt that was answered with the HTTP status `code`, which the client considers as `status`.
    #[inline]
    pub fn answered(status: Status, code: u16, response: &ParsedResponse) -> Self {
        let ParsedResponse { facts, advice, outer_advice, advertised, quota, .. } = *response;
        let advised_wait = match advertised {
            Advice::After(wait) if status != Status::Succeeded => Some(wait),
            _ => None,
        };
        let outcome = Outcome { facts, outer_advice, quota, ..Outcome::advised(status, advice) };
        Self { outcome, cause: Some(Cause::Status(code)), advised_wait, ..Self::plain(status) }
    }

    /// Returns the result of an attempt that ended without a complete answer.
    pub fn failed(kind: ErrorKind) -> Self {
        let failure = if kind == ErrorKind::Timeout { Failure::Timeout } else { Failure::Transport };
        let plain = Self::plain(Status::Failed(failure));
        let outcome = Outcome { facts: Facts::missing(kind.missing()), ..plain.outcome };
        Self { outcome, cause: Some(Cause::Error(kind)), ..plain }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerSeen {
    pub busy: u32,
    pub cap: Option<u32>,
    /// Duration of the attempt from the request's arrival until its answer was due, as calculated by the server. `None` if the server did
    /// not report it. In virtual time it is never reported, because attempts take exactly that long.
    pub took: Option<Duration>,
    /// State of the limits that the server's policies apply to this request. Empty if no policy reports a limit.
    pub limits: AdvertisedLimits,
    /// The server's verdict on the attempt, which may differ from the status; `None` from older versions of the server.
    pub verdict: Option<ServerVerdict>,
}

/// Verdict of a mockserver on an attempt. The load generator counts attempts by this verdict. Strategies never receive
/// it, because a client in production would not receive it either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerVerdict {
    Accepted,
    Rejected,
    Failed,
}

impl ServerVerdict {
    /// Returns the status under which an attempt is counted if it ended with `status` for the client. An accepted attempt that the client
    /// considers rejected counts as failed, because its result is lost.
    pub(crate) fn counted(self, status: Status) -> Status {
        match (self, status) {
            (Self::Rejected, _) => Status::Rejected,
            (Self::Accepted | Self::Failed, Status::Rejected) | (Self::Failed, Status::Succeeded) => {
                Status::Failed(Failure::Server)
            }
            (_, status) => status,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    Send(SentAttempt),
    /// The driver must withdraw this attempt. It need not report the attempt's end.
    Cancel(AttemptKey),
    /// The driver must call again at this instant, or as soon as it has an input. No event is due earlier. The event that is due at this
    /// instant may still be cancelled.
    WaitUntil(Instant),
    /// No event is scheduled. The driver calls again with its next input.
    Idle,
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentAttempt {
    pub attempt: AttemptKey,
    pub client: u32,
    pub op: u64,
    /// Ordinal of the attempt within its op, from 1.
    pub ordinal: u32,
    /// Instant at which the attempt should be sent. The driver's send lag is measured from this instant.
    pub due: Instant,
    /// Minimum number of free slots with which the server starts the attempt. If fewer slots are free, the attempt is not started and ends
    /// deferred. The attempt always starts if this number is 0 or if the server does not check it.
    pub min_free: u32,
}
