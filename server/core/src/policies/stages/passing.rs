//! How far a request is on its way through the stages of a stack.

use vocabulary::Instant;

use crate::details::Details;
use crate::policies::common::Common;
use crate::policies::gate::{Asked, Taken};
use crate::policies::key::Key;
use crate::request::Request;
use crate::standing::Standing;

/// A request between its arrival and its end; used again with the request's id.
#[derive(Debug, Default)]
pub(super) struct Passing {
    request: Option<Request>,
    /// By stage; empty when it said nothing of itself.
    faces: Vec<Face>,
    /// By stage: what was taken there.
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

/// What a stage sees in a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    key: Key,
    cost: u32,
    /// What it turns out to have cost.
    used: Option<u32>,
}

impl Face {
    pub(super) fn of(details: &Details, common: &Common) -> Self {
        let cost = common.cost.of(Some(details));
        Self { key: common.key.of(details), cost, used: common.refund.of(Some(details), cost) }
    }
}

impl Passing {
    /// A request that is on its way says this of itself.
    pub(super) fn introduce(&mut self, faces: Vec<Face>) {
        self.faces = faces;
    }

    /// It reaches the first of so many stages.
    pub(super) fn begin(&mut self, request: Request, stages: usize) {
        self.taken.clear();
        self.taken.resize(stages, None);
        *self = Self {
            request: Some(request),
            faces: std::mem::take(&mut self.faces),
            taken: std::mem::take(&mut self.taken),
            ..Self::default()
        };
    }

    /// It is done with; what it said of itself is forgotten.
    pub(super) fn end(&mut self) -> Option<Request> {
        self.faces.clear();
        self.passed = 0;
        self.request.take()
    }

    /// The request, while it is on its way.
    pub(super) fn request(&self) -> Option<Request> {
        self.request
    }

    /// As a stage sees it.
    pub(super) fn asked(&self, stage: usize, common: &Common) -> Option<Asked> {
        let face = self.faces.get(stage);
        let (key, cost) =
            face.map_or_else(|| (Key::default(), common.cost.of(None)), |face| (face.key, face.cost));
        Some(Asked { request: self.request?, key, cost })
    }

    /// What it turns out to have cost at a stage, where that is said.
    pub(super) fn used(&self, stage: usize, common: &Common) -> Option<u32> {
        match self.faces.get(stage) {
            Some(face) => face.used,
            None => common.refund.of(None, common.cost.of(None)),
        }
    }
}
