//! What a server that is nothing but a cap remembers of a request.

use vocabulary::Instant;

use super::exchange::CapRequest;
use crate::request::{RequestId, Step, Verdict};

/// A request between arrival and answer, by its id; or nobody. A line of the processor's cache, with a token of 16 bytes: there may be
/// many, and each is looked at three times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<T> {
    /// What is scheduled for it: ids are used again. 0 when there is nobody.
    pub(super) order: u64,
    /// When it was admitted.
    pub(super) since: Instant,
    /// What it brought, to be given back.
    pub(super) token: T,
    op: u64,
    step: Step,
    attempt: u32,
    /// What became of it, while it takes its time.
    pub(super) verdict: Option<Verdict>,
}

impl<T: Copy> Place<T> {
    /// Nobody's; the token is anybody's.
    pub(super) fn free(token: T) -> Self {
        Self { order: 0, since: Instant::ORIGIN, token, op: 0, step: Step::Work, attempt: 0, verdict: None }
    }

    /// Of a request on its way to admission.
    #[inline]
    pub(super) fn coming(order: u64, request: CapRequest, token: T) -> Self {
        let CapRequest { op, attempt, step, .. } = request;
        Self { order, since: Instant::ORIGIN, token, op, step, attempt, verdict: None }
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
    pub(super) fn request(&self, id: RequestId) -> CapRequest {
        let Self { op, attempt, step, .. } = *self;
        CapRequest { id, attempt, op, step }
    }
}
