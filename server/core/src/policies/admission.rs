//! The interface of policies that serve requests, and the outcomes of requests that have reached the server.

use std::fmt;
use std::time::Duration;

use vocabulary::Instant;

use crate::policies::capacity::Capacity;
use crate::request::{Request, RequestId, Verdict};
use crate::script::ReplyId;
use crate::service::ServiceModel;

/// A policy that serves requests itself, behind the stages of a [stack](crate::policies::Stages), with all resources that requests hold.
/// The stack calls it in the same way as the server calls the stack.
pub(crate) trait Admission: fmt::Debug + Send {
    fn arrive(&mut self, at: Instant, request: &Request, service: &ServiceModel) -> Arrived;

    /// Handles a request that reaches a server without stages and must not be served, for the reason in the verdict. By default that takes
    /// no time.
    fn refuse(
        &mut self,
        _at: Instant,
        _request: &Request,
        verdict: Verdict,
        _service: &ServiceModel,
    ) -> Arrived {
        Arrived::Done { verdict, advice: None }
    }

    fn cancel(&mut self, at: Instant, id: RequestId, service: &ServiceModel) -> Option<Released>;

    /// Processes the event that is due at [`Load::next`]. At most one request ends per call. The seed keys draws.
    fn advance(&mut self, seed: u64, service: &ServiceModel) -> Option<Released>;

    /// Returns the current load. Only the calls above change it.
    fn load(&self) -> Load;

    fn capacity(&self) -> Capacity {
        Capacity::Slots
    }

    /// Returns how much of `capacity` is free, as a carrier sense reads it at a server without stages.
    fn free(&self, capacity: u32) -> u32 {
        capacity.saturating_sub(self.load().busy)
    }

    fn take_crashes(&mut self) -> u64 {
        0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) busy: u32,
    pub(crate) in_service: u32,
    /// Instant of the next event; [`Instant::FAR_FUTURE`] if there is none.
    pub(crate) next: Instant,
}

impl Load {
    pub(crate) const NONE: Self = Self { busy: 0, in_service: 0, next: Instant::FAR_FUTURE };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Released {
    pub(crate) id: RequestId,
    pub(crate) verdict: Verdict,
    /// Wait that the policy itself advises; if `None`, the server's `retry_after` applies.
    pub(crate) advice: Option<Duration>,
    pub(crate) held: Duration,
    /// Busy resources just before the end, its own included.
    pub(crate) busy: u32,
    pub(crate) reply: Option<ReplyId>,
}

impl Released {
    pub(crate) fn at_once(id: RequestId, verdict: Verdict, busy: u32) -> Self {
        Self { id, verdict, advice: None, held: Duration::ZERO, busy, reply: None }
    }
}

/// Outcome of an arrival, as far as it is settled at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrived {
    /// The verdict is settled; the response comes later.
    Admitted(Verdict),
    /// All is settled, and takes no time.
    Done {
        verdict: Verdict,
        advice: Option<Duration>,
    },
    Scripted {
        verdict: Verdict,
        reply: ReplyId,
    },
    Open,
}
