//! Messages between a driver and the run.

use std::time::Duration;

use tailback::{Failure, Outcome, Status};
use vocabulary::{AdvertisedLimits, Instant};

use crate::cause::Cause;

/// Identifies an attempt from [`Output::Send`] to [`Input::AttemptEnd`]. `slot` is small and dense, so drivers may use it as
/// an index. The slot is used again once the attempt has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptKey {
    pub slot: u32,
    /// Number of the attempt within the run. It is used again only if the latest attempt ended [deferred], because a
    /// deferred attempt does not count.
    ///
    /// [deferred]: tailback::Status::Deferred
    pub serial: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The server has started an attempt that it starts only with enough free capacity. The attempt counts from now on.
    /// Drivers that do not observe starts omit this input. Then the attempt counts once it has ended otherwise than
    /// [deferred].
    ///
    /// [deferred]: tailback::Status::Deferred
    Started(AttemptKey),
    AttemptEnd(Completion),
    /// Send no more attempts, and wait for the attempts in flight.
    Stop,
    /// Send no more attempts, withdraw the attempts in flight, and end.
    Abort,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    pub attempt: AttemptKey,
    /// Instant at which the request was sent in fact; in virtual time, the instant at which it was due.
    pub sent_at: Instant,
    pub outcome: Outcome,
    pub server: Option<ServerSeen>,
    /// Wait that the answer advises. The harness compares retries with it, whether or not the strategy uses it.
    pub advised_wait: Option<Duration>,
    pub cause: Option<Cause>,
    /// True if an intermediary between the client and the recognised server answered.
    pub by_gateway: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerSeen {
    pub busy: u32,
    pub cap: Option<u32>,
    /// Time that the attempt had to take (request's arrival until its answer was due), as calculated by the server.
    /// `None` if not reported. It is never reported in virtual time, where no other time is possible.
    pub took: Option<Duration>,
    /// State of the policies' limits for this request; empty if no policy reports one.
    pub limits: AdvertisedLimits,
    /// The server's verdict on the attempt, which may differ from the status; `None` from earlier versions of the
    /// server.
    pub verdict: Option<ServerVerdict>,
}

/// Verdict of a mockserver on an attempt. The harness counts attempts by this verdict. Strategies never receive it,
/// because a client in production would not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerVerdict {
    Accepted,
    Rejected,
    Failed,
}

impl ServerVerdict {
    /// Returns the status under which an attempt is counted that ended with `status` for the client. An accepted
    /// attempt counts as failed if the client considers it rejected, because its result is lost.
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
    /// Withdraw this attempt. Its end need not be reported.
    Cancel(AttemptKey),
    /// Call again at this instant, or earlier with an input. Nothing is due sooner. The event due at this instant may
    /// be cancelled before then.
    WaitUntil(Instant),
    /// Nothing is scheduled. Call again with the next input.
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
    /// Instant at which the attempt should be sent. The driver's send lag is measured from here.
    pub due: Instant,
    /// Minimum number of free slots for the server to start the attempt. If fewer are free, the server does not start
    /// it, and the attempt ends deferred. With 0, or at a server without this check, the attempt always starts.
    pub min_free: u32,
}
