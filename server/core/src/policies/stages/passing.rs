//! How far a request is on its way through the stages of a stack.

use vocabulary::Instant;

use super::stage::{Face, Stage};
use crate::policies::common::{Charged, Common, Later};
use crate::policies::gate::{Asked, Taken};
use crate::request::Request;
use crate::standing::Standing;

/// A request between its arrival and its end; used again with the request's id.
#[derive(Debug, Default)]
pub(super) struct Passing {
    request: Option<Request>,
    /// By stage; empty when it said nothing of itself.
    faces: Vec<Face>,
    /// By stage: what was taken there, as far as anything was that may come back.
    pub(super) taken: Vec<Option<Taken>>,
    /// Stages that it has passed.
    pub(super) passed: usize,
    /// Its entry in the list of those who go on after a wait.
    pub(super) wait: Option<(Instant, u64)>,
    /// The stage in whose queue it is.
    pub(super) queued: Option<usize>,
    /// Who turned it away, and when it would have passed.
    pub(super) rejection: Option<Rejection>,
    /// When it was decided about, and where the stages stood for it then.
    pub(super) decided_at: Instant,
    pub(super) standings: Vec<Option<Standing>>,
}

/// A stage turned a request away.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rejection {
    pub(super) stage: usize,
    /// When it would pass.
    pub(super) free_at: Option<Instant>,
    /// Whether it holds places until its end.
    pub(super) occupies: bool,
}

impl Passing {
    /// A request that is on its way says this of itself.
    pub(super) fn introduce(&mut self, faces: &[Face]) {
        self.faces.clear();
        self.faces.extend_from_slice(faces);
    }

    /// It reaches the first of the stages.
    #[inline]
    pub(super) fn begin(&mut self, request: Request) {
        self.request = Some(request);
        self.taken.clear();
        self.passed = 0;
        self.wait = None;
        self.queued = None;
        self.rejection = None;
        self.standings.clear();
    }

    /// It is done with; what it said of itself is forgotten.
    #[inline]
    pub(super) fn end(&mut self) {
        self.faces.clear();
        self.passed = 0;
        self.request = None;
    }

    /// Nothing of an earlier request with its id is left.
    pub(super) fn forget(&mut self) {
        self.end();
        self.rejection = None;
        self.standings.clear();
    }

    /// So much was taken at the stage of this index.
    pub(super) fn keep(&mut self, index: usize, taken: Taken) {
        if self.taken.len() <= index {
            self.taken.resize(index + 1, None);
        }
        self.taken[index] = Some(taken);
    }

    /// What was taken at the stage of this index.
    pub(super) fn taken(&self, index: usize) -> Option<Taken> {
        self.taken.get(index).copied().flatten()
    }

    /// The request, while it is on its way.
    pub(super) fn request(&self) -> Option<&Request> {
        self.request.as_ref()
    }

    /// As the stage of this index sees it.
    #[inline]
    pub(super) fn asked(&self, index: usize, stage: &Stage) -> Option<Asked<'_>> {
        let face = self.faces.get(index).unwrap_or(&stage.plain);
        Some(Asked { request: self.request.as_ref()?, key: face.key, cost: face.cost })
    }

    /// What it turns out to have cost at a stage, where that is said.
    pub(super) fn used(&self, index: usize, stage: &Stage) -> Option<u32> {
        self.faces.get(index).unwrap_or(&stage.plain).used
    }

    /// Whether a stage charges it, now that it is decided about, only when it is answered.
    pub(super) fn is_charged_with_answer(&self, index: usize, stage: &Stage) -> bool {
        let Common { charged, later, .. } = stage.common;
        let has_passed = match self.rejection {
            None => true,
            Some(rejection) => index < rejection.stage && later == Later::Keep,
        };
        charged == Charged::Answer && has_passed
    }
}
