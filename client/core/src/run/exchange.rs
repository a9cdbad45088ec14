//! Messages between a driver and the run.

use std::time::Duration;

use tailback::{Failure, Outcome, Status};
use vocabulary::{AdvertisedLimits, Instant};

use crate::cause::Cause;

/// Key of an attempt between [`Output::Send`] and [`Input::Ended`]. `slot` is small and dense, so drivers may index by
/// it. It is used again once the attempt has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptKey {
    pub slot: u32,
    /// Number within the run. It is used again only if the attempt was the latest and ended [deferred], because then it
    /// does not count.
    ///
    /// [deferred]: tailback::Status::Deferred
    pub serial: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// An attempt that was to start only if enough was free has started, and counts from now on. A driver that does not
    /// observe starts leaves this out. Then the attempt counts once it has ended otherwise than [deferred].
    ///
    /// [deferred]: tailback::Status::Deferred
    Started(AttemptKey),
    Ended(Completion),
    /// Send nothing more, and wait for the attempts in flight.
    Stop,
    /// Withdraw the attempts in flight, too, and end.
    Abort,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    pub attempt: AttemptKey,
    /// Instant at which the request really went out; in virtual time, the instant at which it was due.
    pub sent_at: Instant,
    pub outcome: Outcome,
    pub server: Option<ServerSeen>,
    /// Wait that the answer itself advises. The harness judges by it, whatever the strategy reads.
    pub advised_wait: Option<Duration>,
    pub cause: Option<Cause>,
    /// True if an intermediary between the client and the recognised server answered.
    pub by_gateway: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerSeen {
    pub busy: u32,
    pub cap: Option<u32>,
    /// Time that the attempt had to take, as calculated by the server. `None` if not reported, as in virtual time,
    /// where no other time is possible.
    pub took: Option<Duration>,
    /// State of the limits of its policies for the request; empty if none can be reported.
    pub limits: AdvertisedLimits,
    /// Verdict on the attempt, whatever the status means; `None` from earlier versions.
    pub verdict: Option<ServerVerdict>,
}

/// Verdict of a mockserver on an attempt. The harness counts by it; strategies receive only what a client of production
/// would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerVerdict {
    Accepted,
    Rejected,
    Failed,
}

impl ServerVerdict {
    /// Returns how an attempt counts that ended with `status` for the client. An accepted attempt that the client takes
    /// for a rejection has failed, because its result is lost.
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
    Send(Launched),
    /// Withdraw this attempt; no end of it is expected.
    Cancel(AttemptKey),
    /// Call again at this instant, or before with an input. Nothing is due sooner, and the event due then may be
    /// cancelled meanwhile.
    WaitUntil(Instant),
    /// Call again with an input.
    Idle,
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launched {
    pub attempt: AttemptKey,
    pub client: u32,
    pub op: u64,
    /// Ordinal of the attempt within its op, from 1.
    pub ordinal: u32,
    /// Instant at which it should be sent. The driver's lag counts from here.
    pub due: Instant,
    /// Minimum number of free slots at the server when it looks. With fewer it does not start the attempt, which then
    /// ends deferred. At 0 it starts anyway, and so does a server without this check.
    pub least_free: u32,
}
