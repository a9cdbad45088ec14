//! Interface of policies that serve requests, and the outcomes of requests that have reached the server.

use std::fmt;
use std::time::Duration;

use vocabulary::Instant;

use crate::{ReplyId, Request, RequestId, ServerDecision, ServiceModel};

/// Policy that itself serves the requests that have passed the stages of a [stack](crate::policies::Stages). The policy owns all resources
/// that requests hold. The stack calls the methods of the policy at the same events at which the server calls the methods of the stack.
pub(crate) trait Admission: fmt::Debug + Send {
    fn arrive(&mut self, at: Instant, request: &Request, service: &ServiceModel) -> Arrived;

    fn cancel(&mut self, _at: Instant, _id: RequestId, _service: &ServiceModel) -> Option<Released> {
        None
    }

    /// Processes the event that is due at [`Load::next`]. At most one request ends per call. Random draws are keyed by `seed`.
    fn advance(&mut self, _seed: u64, _service: &ServiceModel) -> Option<Released> {
        None
    }

    /// Returns the current load. Only `arrive`, `cancel` and `advance` change the load.
    fn load(&self) -> Load {
        Load { busy: 0, in_service: 0, next: Instant::FAR_FUTURE }
    }

    /// Returns the capacity. If it is unbounded, requests with carrier sense, which start only if capacity is free, always start.
    fn capacity(&self) -> Capacity {
        Capacity::Unbounded
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

/// Capacity of the resource that requests hold, such as slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Capacity {
    Slots,
    Own(u32),
    /// The number of busy resources is not limited, so no request is rejected for lack of resources.
    #[default]
    Unbounded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) busy: u32,
    pub(crate) in_service: u32,
    /// Instant of the next event; [`Instant::FAR_FUTURE`] if no event is scheduled.
    pub(crate) next: Instant,
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
