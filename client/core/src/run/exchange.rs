//! What a driver and the run tell each other.

use std::time::Duration;

use tailback::{Failure, Outcome, Status};
use vocabulary::{Instant, LimitsTold};

use crate::cause::Cause;

/// Names an attempt between [`Output::Send`] and [`Input::Ended`]. `slot` is small and dense: drivers may index
/// by it; it is used again once the attempt has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptKey {
    /// Index, used again.
    pub slot: u32,
    /// Number within the run; used again only when the attempt, the latest, ended [deferred] and so was none.
    ///
    /// [deferred]: tailback::Status::Deferred
    pub serial: u64,
}

/// What a driver tells the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// An attempt that was to start only if enough was free has started: from now on it counts. A driver that does not
    /// hear of it leaves it out; then the attempt counts once it has ended otherwise than [deferred].
    ///
    /// [deferred]: tailback::Status::Deferred
    Started(AttemptKey),
    /// An attempt ended.
    Ended(Completion),
    /// Send nothing more; wait for what is in flight.
    Stop,
    /// Withdraw what is in flight, too, and end.
    Abort,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Which one.
    pub attempt: AttemptKey,
    /// When the request really went out; in virtual time, when it was due.
    pub sent_at: Instant,
    /// How it ended, and the server's advice.
    pub outcome: Outcome,
    /// What the answer told of the server.
    pub server: Option<ServerSeen>,
    /// How long not to come again, as the answer says by itself: by this the harness judges, whatever the strategy reads.
    pub told: Option<Duration>,
    /// What it came to on the wire, where that is known.
    pub cause: Option<Cause>,
    /// Whether the answer came from somebody between the client and the server that was recognised.
    pub by_gateway: bool,
}

/// What an answer tells of a mockserver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerSeen {
    /// Slots busy.
    pub busy: u32,
    /// Its cap, if it has one.
    pub cap: Option<u32>,
    /// How long the attempt had to take, as the server reckons; `None` when it does not tell, as in virtual time, where
    /// nothing else can be.
    pub took: Option<Duration>,
    /// Where the limits of its policies stand for the request; empty where none can be told.
    pub limits: LimitsTold,
    /// What it made of the attempt, whatever the status says; `None` from earlier versions.
    pub verdict: Option<ServerVerdict>,
}

/// What a mockserver made of an attempt. The harness counts by it; strategies know only what a client of production would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerVerdict {
    /// It was served.
    Accepted,
    /// It was turned away.
    Rejected,
    /// It went wrong.
    Failed,
}

impl ServerVerdict {
    /// How an attempt counts that ended so for the client. What was served, and is none of use to a client that takes it for a rejection,
    /// has gone wrong on the way.
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

/// What a driver is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this attempt now.
    Send(Launched),
    /// Withdraw this attempt; nothing more is expected of it.
    Cancel(AttemptKey),
    /// Come back at this instant, or with an input before. Nothing is due sooner; what was to be due then may have been called
    /// off meanwhile.
    WaitUntil(Instant),
    /// Come back with an input.
    Idle,
    /// The run is over.
    Done,
}

/// An attempt to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launched {
    /// Its key, to be given back.
    pub attempt: AttemptKey,
    /// Which client it belongs to, from 0.
    pub client: u32,
    /// The op's number, from 0.
    pub op: u64,
    /// Which attempt of the op, from 1.
    pub ordinal: u32,
    /// When it should have been sent: the driver's lag is counted from here.
    pub due: Instant,
    /// Unless so much is free at the server when it looks, it does not start the attempt, which then ends deferred. 0 starts
    /// anyway; so does a server that cannot be asked.
    pub least_free: u32,
}
