//! Interface of policies that serve requests, and the outcomes of requests that have reached the server.

use std::fmt;
use std::time::Duration;

use vocabulary::Instant;

use crate::policies::capacity::Capacity;
use crate::request::{Request, RequestId, ServerDecision};
use crate::script::ReplyId;
use crate::service::ServiceModel;

/// Policy that itself serves the requests that have passed the stages of a [stack](crate::policies::Stages). The policy owns all resources
/// that requests hold. The stack calls the methods of the policy at the same events at which the server calls the methods of the stack.
pub(crate) trait Admission: fmt::Debug + Send {
    fn arrive(&mut self, at: Instant, request: &Request, service: &ServiceModel) -> Arrived;

    /// Handles a request that must not be served; `verdict` is the reason. The stack calls this method only if it has no stages. By
    /// default, the request ends at once.
    fn refuse(
        &mut self,
        _at: Instant,
        _request: &Request,
        verdict: ServerDecision,
        _service: &ServiceModel,
    ) -> Arrived {
        Arrived::Done { verdict, advice: None }
    }

    fn cancel(&mut self, at: Instant, id: RequestId, service: &ServiceModel) -> Option<Released>;

    /// Processes the event that is due at [`Load::next`]. At most one request ends per call. Random draws are keyed by `seed`.
    fn advance(&mut self, seed: u64, service: &ServiceModel) -> Option<Released>;

    /// Returns the current load. Only `arrive`, `refuse`, `cancel` and `advance` change the load.
    fn load(&self) -> Load;

    fn capacity(&self) -> Capacity {
        Capacity::Slots
    }

    /// Returns the number of free resources, such as slots. `capacity` is the total number of resources. Some requests start only if enough
    /// resources are free (carrier sense). If the server has no stages, this number of free resources decides about their start.
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
    /// Instant of the next event; [`Instant::FAR_FUTURE`] if no event is scheduled.
    pub(crate) next: Instant,
}

impl Load {
    pub(crate) const NONE: Self = Self { busy: 0, in_service: 0, next: Instant::FAR_FUTURE };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Released {
    pub(crate) id: RequestId,
    pub(crate) verdict: ServerDecision,
    /// Wait that the policy itself advises to the client. If the wait is `None`, the server's `retry_after` applies.
    pub(crate) advice: Option<Duration>,
    pub(crate) held: Duration,
    /// Number of busy resources just before the request ended, including the request's own resources.
    pub(crate) busy: u32,
    pub(crate) reply: Option<ReplyId>,
}

impl Released {
    pub(crate) fn at_once(id: RequestId, verdict: ServerDecision, busy: u32) -> Self {
        Self { id, verdict, advice: None, held: Duration::ZERO, busy, reply: None }
    }
}

/// Outcome of a request, as far as it is known when the request arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrived {
    /// The decision on the request is known, but the response is sent later.
    Admitted(ServerDecision),
    /// The request ended when it arrived, because its handling takes no time.
    Done {
        verdict: ServerDecision,
        advice: Option<Duration>,
    },
    Scripted {
        verdict: ServerDecision,
        reply: ReplyId,
    },
    Open,
}
