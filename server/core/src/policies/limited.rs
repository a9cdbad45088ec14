//! Admission by a law about rates: whoever it lets pass is served at once, however many are.

use std::fmt::Debug;

use vocabulary::Instant;

use crate::policies::admission::{Admission, Arrived, Capacity, Load, Released};
use crate::policies::holding::Holding;
use crate::policies::law::{Law, Ruling};
use crate::request::{Request, RequestId, Verdict};
use crate::service::ServiceModel;

/// What every request costs.
const COST: u32 = 1;

/// A law in force.
#[derive(Debug)]
pub(crate) struct Limited<L: Law> {
    law: L,
    state: L::State,
    holding: Holding,
    /// By request id: when a rejected one would be accepted.
    free_at: Vec<Option<Instant>>,
}

impl<L: Law> Limited<L> {
    pub(crate) fn new(law: L) -> Self {
        Self { state: law.fresh(), law, holding: Holding::default(), free_at: Vec::new() }
    }

    fn note(&mut self, id: RequestId, free_at: Option<Instant>) {
        let index = id.0 as usize;
        if self.free_at.len() <= index {
            self.free_at.resize(index + 1, None);
        }
        self.free_at[index] = free_at;
    }

    /// Rejections wait for their answer, and what is left of the exact wait then is the advice.
    fn advised(&self, at: Instant, released: Released) -> Released {
        let free_at = self.free_at.get(released.id.0 as usize).copied().flatten();
        let advice =
            free_at.filter(|_| released.verdict == Verdict::Rejected).map(|free_at| free_at.since(at));
        Released { advice, ..released }
    }
}

impl<L: Law + Debug> Admission for Limited<L> {
    fn arrive(&mut self, at: Instant, request: &Request, service: &ServiceModel) -> Arrived {
        let (verdict, free_at) = match self.law.ask(&mut self.state, at, COST) {
            Ruling::Pass => {
                self.law.charge(&mut self.state, at, COST);
                (Verdict::Accepted, None)
            }
            Ruling::Reject(wait) => (Verdict::Rejected, wait.map(|wait| at + wait)),
        };
        self.note(request.id, free_at);
        match self.holding.take(at, request, verdict, false, service) {
            Arrived::Done { verdict, .. } => {
                Arrived::Done { verdict, advice: free_at.map(|free_at| free_at.since(at)) }
            }
            other => other,
        }
    }

    /// It is not served, and the law does not count it.
    fn refuse(
        &mut self,
        at: Instant,
        request: &Request,
        verdict: Verdict,
        service: &ServiceModel,
    ) -> Arrived {
        self.note(request.id, None);
        self.holding.take(at, request, verdict, false, service)
    }

    fn cancel(&mut self, at: Instant, id: RequestId) -> Option<Released> {
        self.holding.cancel(at, id)
    }

    fn advance(&mut self, _seed: u64) -> Option<Released> {
        let at = self.holding.load().next?;
        let released = self.holding.advance()?;
        Some(self.advised(at, released))
    }

    fn load(&self) -> Load {
        self.holding.load()
    }

    fn capacity(&self) -> Capacity {
        Capacity::Unbounded
    }
}
