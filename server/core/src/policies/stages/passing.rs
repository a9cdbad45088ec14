//! Progress of one request through the stages of the policy stack, with the charges made on its way.

use vocabulary::Instant;

use super::stage::Face;
use crate::policies::common::{Charged, Later};
use crate::policies::{Charge, Common, Stage, StageRequest};
use crate::{LimitStatus, Request};

/// State of a request between its arrival and its end. The memory of the state is reused together with the request's id.
#[derive(Debug, Default)]
pub(super) struct Passing {
    pub(super) request: Option<Request>,
    /// Key and cost of the request at each stage; empty for a request without HTTP details.
    faces: Vec<Face>,
    /// Charge that each stage made for the request. `None` if the stage made no charge that may be refunded.
    pub(super) taken: Vec<Option<Charge>>,
    pub(super) passed: usize,
    pub(super) wait: Option<(Instant, u64)>,
    pub(super) queued: Option<usize>,
    pub(super) rejection: Option<Rejection>,
    /// Instant at which the request was admitted or rejected. `limit_statuses` holds the status of the stages' limits for the request at this
    /// instant.
    pub(super) decided_at: Instant,
    pub(super) limit_statuses: Vec<Option<LimitStatus>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Rejection {
    pub(super) stage: usize,
    pub(super) free_at: Option<Instant>,
    /// Whether the rejected request holds places until its end.
    pub(super) occupies: bool,
}

impl Passing {
    pub(super) fn introduce(&mut self, faces: &[Face]) {
        self.faces.clear();
        self.faces.extend_from_slice(faces);
    }

    #[inline]
    pub(super) fn begin(&mut self, request: Request) {
        self.request = Some(request);
        self.taken.clear();
        self.passed = 0;
        self.wait = None;
        self.queued = None;
        self.rejection = None;
        self.limit_statuses.clear();
    }

    #[inline]
    pub(super) fn end(&mut self) {
        self.faces.clear();
        self.passed = 0;
        self.request = None;
    }

    pub(super) fn forget(&mut self) {
        self.end();
        self.rejection = None;
        self.limit_statuses.clear();
    }

    pub(super) fn taken(&self, index: usize) -> Option<Charge> {
        self.taken.get(index).copied().flatten()
    }

    #[inline]
    pub(super) fn asked(&self, index: usize, stage: &Stage) -> Option<StageRequest<'_>> {
        let face = self.faces.get(index).unwrap_or(&stage.plain);
        Some(StageRequest { request: self.request.as_ref()?, key: face.key, cost: face.cost })
    }

    pub(super) fn used(&self, index: usize, stage: &Stage) -> Option<u32> {
        self.faces.get(index).unwrap_or(&stage.plain).used
    }

    pub(super) fn is_charged_with_answer(&self, index: usize, stage: &Stage) -> bool {
        let Common { charged, later, .. } = stage.common;
        let has_passed = match self.rejection {
            None => true,
            Some(rejection) => index < rejection.stage && later == Later::Keep,
        };
        charged == Charged::Answer && has_passed
    }
}
