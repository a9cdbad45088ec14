//! State of a request at the server.

use std::sync::Arc;

use vocabulary::Instant;

use crate::agenda::NONE;
use crate::policies::{Charge, Face, Stage, StageRequest};
use crate::{Answer, AnswerFacts, Request, RequestFields, RequestId, ServerDecision, Step};

/// State of a request from its arrival to its answer, and the answer. The memory is reused together with the request's id.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) request: Request,
    pub(crate) answer: Answer,
    pub(crate) place: Place,
    /// Order of the request's scheduled event; [`NONE`] if it has none.
    pub(crate) event: u32,
    /// Number of resets of the counts before the request arrived.
    pub(crate) epoch: u64,
    /// True if the server admitted the request without a decision on it. The decision is then counted when the request is released.
    pub(crate) is_open: bool,
    /// Whether the request counts as busy while it is [held](Place::Held).
    pub(crate) occupies: bool,
    /// Instant since which the request is [held](Place::Held).
    pub(crate) since: Instant,
    /// Number of stages that the request has passed.
    pub(crate) passed: usize,
    pub(crate) rejection: Option<Rejection>,
    rare: Option<Box<Rare>>,
}

/// Place of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nowhere: it was answered or cancelled.
    Gone,
    /// On the network to the server.
    Coming,
    /// Delayed by a stage, until the instant in its [`wait`](Rare::wait).
    Waiting,
    /// In the queue of the stage after those that it has passed.
    Queued,
    /// Between the server's decision on it and its answer.
    Held,
    /// At a policy that serves requests itself.
    Served,
    /// Its answer is on the network to the client.
    Going,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rejection {
    /// Stage that rejected the request. `None` if the server rejected it before any stage: then no stage decides on it or records it.
    pub(crate) stage: Option<usize>,
    pub(crate) free_at: Option<Instant>,
    /// Whether the rejected request holds places until its end.
    pub(crate) occupies: bool,
}

/// State that requests have only at some servers.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    /// HTTP properties of a request on its way to admission.
    pub(crate) details: Option<Arc<RequestFields>>,
    /// Key and cost of the request at each stage; empty for a request without HTTP details.
    faces: Vec<Face>,
    /// Charge that each stage made for the request. `None` if the stage made no charge that may be refunded.
    taken: Vec<Option<Charge>>,
    pub(crate) wait: Option<(Instant, u64)>,
}

impl Slot {
    pub(crate) fn new(id: RequestId) -> Self {
        Self {
            request: Request { id, run: None, seed: 0, op: 0, attempt: 0, step: Step::Work },
            answer: Answer {
                id,
                verdict: ServerDecision::Deferred,
                advice: None,
                at: Instant::ORIGIN,
                busy: 0,
                cap: None,
                reply: None,
                version: 0,
                extras: None,
            },
            place: Place::Gone,
            event: NONE,
            epoch: 0,
            is_open: false,
            occupies: false,
            since: Instant::ORIGIN,
            passed: 0,
            rejection: None,
            rare: None,
        }
    }

    #[inline]
    pub(crate) fn begin(&mut self, request: &Request, epoch: u64) {
        self.request = *request;
        self.place = Place::Coming;
        self.event = NONE;
        self.epoch = epoch;
        self.is_open = false;
        self.leave_stages();
    }

    /// Forgets the way through the stages.
    #[inline]
    pub(crate) fn leave_stages(&mut self) {
        self.passed = 0;
        self.rejection = None;
        // Fast path: most requests have neither.
        if self.rare.is_some() || self.answer.extras.is_some() {
            self.forget();
        }
    }

    #[inline(never)]
    fn forget(&mut self) {
        if let Some(rare) = &mut self.rare {
            (rare.details, rare.wait) = (None, None);
            rare.faces.clear();
            rare.taken.clear();
        }
        if let Some(facts) = self.answer.extras.as_mut().and_then(|extras| extras.facts.as_mut()) {
            facts.limit_statuses.clear();
            facts.decided_at = Instant::ORIGIN;
        }
    }

    #[inline]
    pub(crate) fn end(&mut self, place: Place) {
        (self.place, self.event) = (place, NONE);
    }

    #[inline]
    pub(crate) fn is_here(&self) -> bool {
        self.place != Place::Gone
    }

    pub(crate) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    #[inline]
    pub(crate) fn take_details(&mut self) -> Option<Arc<RequestFields>> {
        self.rare.as_mut()?.details.take()
    }

    /// Returns the facts of the answer. They are filled in while the request passes the server.
    pub(crate) fn facts(&mut self) -> &mut AnswerFacts {
        self.answer.extras.get_or_insert_default().facts.get_or_insert_default()
    }

    pub(crate) fn introduce(&mut self, faces: &[Face]) {
        self.rare().faces.extend_from_slice(faces);
    }

    /// Records the charge that a stage made.
    pub(crate) fn charge(&mut self, index: usize, taken: Charge) {
        crate::request::store(&mut self.rare().taken, index, Some(taken));
    }

    pub(crate) fn taken(&mut self, index: usize) -> Option<&mut Option<Charge>> {
        self.rare.as_mut()?.taken.get_mut(index)
    }

    #[inline]
    fn face<'a>(&'a self, index: usize, stage: &'a Stage) -> &'a Face {
        let own = self.rare.as_ref().and_then(|rare| rare.faces.get(index));
        own.unwrap_or(&stage.plain)
    }

    #[inline]
    pub(crate) fn asked(&self, index: usize, stage: &Stage) -> StageRequest<'_> {
        let Face { key, cost, .. } = *self.face(index, stage);
        StageRequest { request: &self.request, key, cost }
    }

    pub(crate) fn used(&self, index: usize, stage: &Stage) -> Option<u32> {
        self.face(index, stage).used
    }
}
