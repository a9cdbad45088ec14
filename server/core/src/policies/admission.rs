//! What becomes of a request that has reached the server: the policy in force decides.

use std::fmt;
use std::time::Duration;

use vocabulary::Instant;

use crate::request::{Request, RequestId, Verdict};
use crate::service::ServiceModel;

/// A policy in force, with everything that requests hold of it.
///
/// The server calls [`advance`](Self::advance) at every instant that [`next`](Self::next) names, before anything else that
/// happens then. A request that is not [`Arrived::Done`] at its arrival is released once: by `advance`, or by
/// [`cancel`](Self::cancel). Ids are used again after that.
pub(crate) trait Admission: fmt::Debug + Send {
    /// A request reaches the server.
    fn arrive(&mut self, at: Instant, request: &Request, service: &ServiceModel) -> Arrived;

    /// A request reaches the server that must not be served, for the reason in the verdict; a policy that is full may have
    /// another. Unless a policy says otherwise that takes no time.
    fn refuse(
        &mut self,
        _at: Instant,
        request: &Request,
        verdict: Verdict,
        _service: &ServiceModel,
    ) -> Arrived {
        Arrived::Done(Released::at_once(request.id, verdict, self.busy()))
    }

    /// Takes back what a request holds, if it holds anything.
    fn cancel(&mut self, at: Instant, id: RequestId) -> Option<Released>;

    /// When something happens next.
    fn next(&self) -> Option<Instant>;

    /// Does what is due at [`next`](Self::next); at most one request is done with at a time. The seed keys draws.
    fn advance(&mut self, seed: u64) -> Option<Released>;

    /// What is busy: slots, places, descriptors.
    fn busy(&self) -> u32;

    /// Requests in service.
    fn in_service(&self) -> u32;

    /// How much there is of what can be busy at this instant.
    fn capacity(&self, at: Instant, service: &ServiceModel) -> u32;

    /// What a carrier sense reads at this instant: how much is free.
    fn free(&self, at: Instant, service: &ServiceModel) -> u32 {
        self.capacity(at, service).saturating_sub(self.busy())
    }

    /// Breakdowns since the last call.
    fn take_crashes(&mut self) -> u64 {
        0
    }
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
}

impl Released {
    /// It held nothing.
    pub(crate) fn at_once(id: RequestId, verdict: Verdict, busy: u32) -> Self {
        Self { id, verdict, advice: None, held: Duration::ZERO, busy }
    }
}

/// What is known of a request when it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrived {
    /// The verdict, though the answer comes later.
    Decided(Verdict),
    /// All: it takes no time.
    Done(Released),
    /// Nothing yet.
    Open,
}
