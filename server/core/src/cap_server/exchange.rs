//! What a plain cap is asked, and what it answers.

use vocabulary::Instant;

use crate::request::{Request, RequestId, Step, Verdict};

/// A request to a plain cap: see [`Request`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapRequest {
    /// Its name, free at this moment.
    pub id: RequestId,
    /// Which attempt of the op.
    pub attempt: u32,
    /// The op's number.
    pub op: u64,
    /// What it asks for.
    pub step: Step,
}

/// An answer of a plain cap: see [`Answer`](crate::Answer).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapAnswer<T> {
    /// To what.
    pub request: CapRequest,
    /// What the request brought.
    pub token: T,
    /// What the answer says.
    pub verdict: Verdict,
    /// When it is due.
    pub at: Instant,
    /// Slots busy until then, its own included.
    pub busy: u32,
    /// The cap just then.
    pub cap: u32,
    /// The object's version just then, the answer's own write included.
    pub version: u64,
}

impl CapRequest {
    /// As other servers have it.
    #[inline]
    pub(super) fn keyed(self, seed: u64) -> Request {
        let Self { id, op, attempt, step } = self;
        Request { id, run: None, seed, op, attempt, step }
    }
}
