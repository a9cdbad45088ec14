//! What a server that is nothing but a cap remembers of a request.

use vocabulary::Instant;

use crate::request::{Request, RequestId, Step, Verdict};

/// A request between arrival and answer, by its id; or nobody.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<T> {
    /// What is scheduled for it: ids are used again. 0 when there is nobody.
    pub(super) order: u64,
    /// When it was admitted.
    pub(super) since: Instant,
    /// What became of it, while it takes its time.
    pub(super) verdict: Option<Verdict>,
    /// What it asks for.
    pub(super) step: Step,
    /// What it brought, to be given back.
    pub(super) token: T,
    seed: u64,
    op: u64,
    attempt: u32,
}

impl<T: Copy> Place<T> {
    /// Nobody's; the token is anybody's.
    pub(super) fn free(token: T) -> Self {
        Self {
            order: 0,
            since: Instant::ORIGIN,
            verdict: None,
            step: Step::Work,
            token,
            seed: 0,
            op: 0,
            attempt: 0,
        }
    }

    /// Of a request on its way to admission.
    #[inline]
    pub(super) fn coming(order: u64, request: &Request, token: T) -> Self {
        let Request { seed, op, attempt, step, .. } = *request;
        Self { order, since: Instant::ORIGIN, verdict: None, step, token, seed, op, attempt }
    }

    /// Whether there is nobody.
    pub(super) fn is_free(&self) -> bool {
        self.order == 0
    }

    /// Nobody is here any more.
    #[inline]
    pub(super) fn vacate(&mut self) {
        (self.order, self.verdict) = (0, None);
    }

    /// The request whose place it is.
    #[inline]
    pub(super) fn request(&self, id: RequestId) -> Request {
        let Self { seed, op, attempt, step, .. } = *self;
        Request { id, run: None, seed, op, attempt, step }
    }
}
