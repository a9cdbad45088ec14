//! State of a request at the server.

use std::sync::Arc;

use vocabulary::Instant;

use crate::agenda::NONE;
use crate::policies::{Charge, Face, Stage, StageRequest};
use crate::{Answer, AnswerFacts, Key, Request, RequestFields};

/// State of a request from its arrival to its answer, and the answer. The memory is reused together with the request's id.
#[derive(Debug, Default)]
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
    /// HTTP properties of a request on its way to admission.
    pub(crate) details: Option<Arc<RequestFields>>,
    /// Client of the request, if early retries are tracked.
    pub(crate) client: Option<Key>,
    /// Key and cost of the request at each stage; empty for a request without HTTP details.
    pub(crate) faces: Vec<Face>,
    /// Charge that each stage made for the request. `None` if the stage made no charge that may be refunded.
    pub(crate) taken: Vec<Option<Charge>>,
    /// End of the delay of a request that is [delayed](Place::Waiting), and its number among all delays.
    pub(crate) wait: (Instant, u64),
}

/// Place of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nowhere: it was answered or cancelled.
    #[default]
    Gone,
    /// On the network to the server.
    Coming,
    /// Delayed by a stage, until the instant in [`Slot::wait`].
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

impl Slot {
    #[inline]
    pub(crate) fn begin(&mut self, request: &Request, epoch: u64) {
        self.request = *request;
        self.answer.id = request.id;
        self.place = Place::Coming;
        self.event = NONE;
        self.epoch = epoch;
        self.is_open = false;
        self.client = None;
        self.leave_stages();
    }

    /// Forgets the way through the stages.
    #[inline]
    pub(crate) fn leave_stages(&mut self) {
        self.passed = 0;
        self.rejection = None;
        self.faces.clear();
        self.taken.clear();
        if let Some(facts) = self.answer.extras.as_mut().and_then(|extras| extras.facts.as_mut()) {
            facts.limit_statuses.clear();
            facts.decided_at = Instant::ORIGIN;
        }
    }

    #[inline]
    pub(crate) fn end(&mut self, place: Place) {
        (self.place, self.event) = (place, NONE);
    }

    /// Returns the facts of the answer. They are filled in while the request passes the server.
    pub(crate) fn facts(&mut self) -> &mut AnswerFacts {
        self.answer.extras.get_or_insert_default().facts.get_or_insert_default()
    }

    #[inline]
    fn face<'a>(&'a self, index: usize, stage: &'a Stage) -> &'a Face {
        self.faces.get(index).unwrap_or(&stage.plain)
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
