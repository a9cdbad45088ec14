//! What becomes of a request that has reached the server: the policy in force decides.

use std::fmt;
use std::time::Duration;

use vocabulary::Instant;

use crate::policies::capacity::Capacity;
use crate::request::{Request, RequestId, Verdict};
use crate::script::ReplyId;
use crate::service::ServiceModel;

/// A policy that serves requests itself, behind the stages of a [stack](crate::policies::Stages), with everything that requests hold of
/// it. The stack calls it as the server calls the stack.
pub(crate) trait Admission: fmt::Debug + Send {
    /// A request reaches it.
    fn arrive(&mut self, at: Instant, request: &Request, service: &ServiceModel) -> Arrived;

    /// A request reaches a server without stages that must not be served, for the reason in the verdict. Unless a policy says otherwise
    /// that takes no time.
    fn refuse(
        &mut self,
        _at: Instant,
        _request: &Request,
        verdict: Verdict,
        _service: &ServiceModel,
    ) -> Arrived {
        Arrived::Done { verdict, advice: None }
    }

    /// Takes back what a request holds, if it holds anything.
    fn cancel(&mut self, at: Instant, id: RequestId, service: &ServiceModel) -> Option<Released>;

    /// Does what is due at [`Load::next`]; at most one request is done with at a time. The seed keys draws.
    fn advance(&mut self, seed: u64, service: &ServiceModel) -> Option<Released>;

    /// What it carries. Only the calls above change it.
    fn load(&self) -> Load;

    /// How much there is of what can be busy.
    fn capacity(&self) -> Capacity {
        Capacity::Slots
    }

    /// What a carrier sense reads at a server without stages when there is so much in all: how much is free.
    fn free(&self, capacity: u32) -> u32 {
        capacity.saturating_sub(self.load().busy)
    }

    /// Breakdowns since the last call.
    fn take_crashes(&mut self) -> u64 {
        0
    }
}

/// What a policy carries between two calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// What is busy: slots, places, descriptors.
    pub(crate) busy: u32,
    /// Requests in service.
    pub(crate) in_service: u32,
    /// When something happens next; [`Instant::FAR_FUTURE`] if nothing does.
    pub(crate) next: Instant,
}

impl Load {
    /// Nothing is carried, and nothing happens.
    pub(crate) const NONE: Self = Self { busy: 0, in_service: 0, next: Instant::FAR_FUTURE };
}

/// A request that is done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Released {
    pub(crate) id: RequestId,
    pub(crate) verdict: Verdict,
    /// When the policy itself advises to come back; where it says nothing, the server's `retry_after` holds.
    pub(crate) advice: Option<Duration>,
    /// How long it held what it held.
    pub(crate) held: Duration,
    /// What was busy until then, its own included.
    pub(crate) busy: u32,
    /// What a script has for it.
    pub(crate) reply: Option<ReplyId>,
}

impl Released {
    /// It held nothing.
    pub(crate) fn at_once(id: RequestId, verdict: Verdict, busy: u32) -> Self {
        Self { id, verdict, advice: None, held: Duration::ZERO, busy, reply: None }
    }
}

/// What is known of a request when it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrived {
    /// The verdict, though the answer comes later.
    Decided(Verdict),
    /// All: it takes no time.
    Done {
        /// What becomes of it.
        verdict: Verdict,
        /// See [`Released::advice`].
        advice: Option<Duration>,
    },
    /// All, and what is answered in words: it takes no time either.
    Scripted {
        /// How it counts.
        verdict: Verdict,
        /// What is answered.
        reply: ReplyId,
    },
    /// Nothing yet.
    Open,
}
