//! Admission by a cap on what is busy: whoever comes while all slots are busy is turned away at once.
//!
//! Source: seed 000. A rejection takes a little time itself and may hold a slot meanwhile, even above the cap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use vocabulary::Instant;

use crate::config::Config;
use crate::request::{Request, RequestId, Verdict};

/// Slots and who holds them.
#[derive(Debug, Default)]
pub(crate) struct ConcurrencyCap {
    busy: u32,
    in_service: u32,
    /// Ends of service and of rejections, by instant and then by order of scheduling.
    ends: BinaryHeap<Reverse<(Instant, u64, RequestId)>>,
    scheduled: u64,
    /// By request id; `None` when it holds nothing.
    holders: Vec<Option<Holder>>,
}

/// A request between admission and answer.
#[derive(Clone, Copy, Debug)]
struct Holder {
    verdict: Verdict,
    since: Instant,
    occupies: bool,
    /// Which entry in `ends` is its own: ids are used again.
    order: u64,
}

/// A request that is done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Released {
    pub(crate) id: RequestId,
    pub(crate) verdict: Verdict,
    /// How long it held a slot.
    pub(crate) held: Duration,
    /// Slots busy until then, its own included.
    pub(crate) busy: u32,
}

impl ConcurrencyCap {
    /// Decides about a request that reaches admission. What takes no time is released at once.
    pub(crate) fn arrive(
        &mut self,
        at: Instant,
        request: &Request,
        config: &Config,
    ) -> (Verdict, Option<Released>) {
        let verdict = if self.busy < config.max_busy { Verdict::Accepted } else { Verdict::Rejected };
        let takes = match verdict {
            Verdict::Accepted => request.service_time(config),
            Verdict::Rejected | Verdict::Conflict => request.reject_time(config),
        };
        let id = request.id;
        if takes.is_zero() {
            let busy = self.busy + u32::from(verdict == Verdict::Accepted);
            return (verdict, Some(Released { id, verdict, held: takes, busy }));
        }
        let occupies = verdict == Verdict::Accepted || config.rejects_occupy;
        self.busy += u32::from(occupies);
        self.in_service += u32::from(verdict == Verdict::Accepted);
        let index = id.0 as usize;
        if self.holders.len() <= index {
            self.holders.resize(index + 1, None);
        }
        self.holders[index] = Some(Holder { verdict, since: at, occupies, order: self.scheduled });
        self.ends.push(Reverse((at + takes, self.scheduled, id)));
        self.scheduled += 1;
        (verdict, None)
    }

    /// Takes back what a request holds, if it holds anything.
    pub(crate) fn cancel(&mut self, at: Instant, id: RequestId) -> Option<Released> {
        let released = self.release(at, id);
        self.forget_stale_ends();
        released
    }

    /// When the next request is done.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.ends.peek().map(|Reverse((at, ..))| *at)
    }

    /// Finishes the request that is due at [`next`](Self::next).
    pub(crate) fn finish_next(&mut self) -> Option<Released> {
        let Reverse((at, _, id)) = self.ends.pop()?;
        let released = self.release(at, id);
        self.forget_stale_ends();
        released
    }

    /// Slots busy, rejections that hold one included.
    pub(crate) fn busy(&self) -> u32 {
        self.busy
    }

    /// Requests in service.
    pub(crate) fn in_service(&self) -> u32 {
        self.in_service
    }

    fn release(&mut self, at: Instant, id: RequestId) -> Option<Released> {
        let holder = self.holders.get_mut(id.0 as usize)?.take()?;
        let busy = self.busy;
        self.busy -= u32::from(holder.occupies);
        self.in_service -= u32::from(holder.verdict == Verdict::Accepted);
        let held = if holder.occupies { at.since(holder.since) } else { Duration::ZERO };
        Some(Released { id, verdict: holder.verdict, held, busy })
    }

    /// Drops the ends of cancelled requests: from the front, so that `next` always means somebody, and all when
    /// they are the most, so that clients who come and go leave nothing behind.
    fn forget_stale_ends(&mut self) {
        let holders = &self.holders;
        let alive =
            |order: u64, id: RequestId| holders[id.0 as usize].is_some_and(|holder| holder.order == order);
        while self.ends.peek().is_some_and(|Reverse((_, order, id))| !alive(*order, *id)) {
            self.ends.pop();
        }
        if self.ends.len() > 2 * self.holders.len() {
            self.ends.retain(|Reverse((_, order, id))| alive(*order, *id));
        }
    }
}
