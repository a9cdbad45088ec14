//! Requests in the time between the server's decision on them and their answer.

use std::time::Duration;

use vocabulary::Instant;

use crate::policies::admission::{Arrived, Released};
use crate::request::{RequestId, ServerDecision};
use crate::timeline::Timeline;

#[derive(Debug, Default)]
pub(crate) struct Holding {
    busy: u32,
    in_service: u32,
    /// Scheduled ends of requests in service. The ends of rejections are in another timeline. With constant times, both timelines therefore
    /// stay in order.
    services: Timeline<RequestId>,
    rejections: Timeline<RequestId>,
    scheduled: u64,
    /// State of each request, by request id. `None` if the request holds nothing.
    holders: Vec<Option<Holder>>,
    /// Number of scheduled ends that belong to cancelled requests. Usually the number is 0, and the timelines need not be searched for such
    /// ends.
    stale: usize,
}

#[derive(Clone, Copy, Debug)]
struct Holder {
    verdict: ServerDecision,
    since: Instant,
    occupies: bool,
    /// Number that identifies the scheduled end of this request. The request id is not enough, because ids are reused.
    order: u64,
}

impl Holding {
    /// Starts the time `takes` from the decision on a request to its response. With `rejects_occupy`, a rejected request counts as busy
    /// during this time, too.
    #[inline]
    pub(crate) fn take(
        &mut self,
        at: Instant,
        id: RequestId,
        verdict: ServerDecision,
        rejects_occupy: bool,
        takes: Duration,
    ) -> Arrived {
        let accepted = verdict == ServerDecision::Accepted;
        if takes.is_zero() {
            return Arrived::Done { verdict, advice: None };
        }
        let occupies = accepted || rejects_occupy;
        self.busy += u32::from(occupies);
        self.in_service += u32::from(accepted);
        let index = id.0 as usize;
        if self.holders.len() <= index {
            self.holders.resize(index + 1, None);
        }
        let order = self.scheduled;
        self.scheduled += 1;
        self.holders[index] = Some(Holder { verdict, since: at, occupies, order });
        let ends = if accepted { &mut self.services } else { &mut self.rejections };
        ends.push(at + takes, order, id);
        Arrived::Admitted(verdict)
    }

    pub(crate) fn cancel(&mut self, at: Instant, id: RequestId) -> Option<Released> {
        let released = self.release(at, id)?;
        self.stale += 1;
        self.forget_stale_ends();
        Some(released)
    }

    #[inline]
    pub(crate) fn advance(&mut self) -> Option<Released> {
        let rejection_first = self.rejections.next() < self.services.next();
        let ends = if rejection_first { &mut self.rejections } else { &mut self.services };
        let ((at, _), id) = ends.pop()?;
        let released = self.release(at, id);
        if self.stale > 0 {
            self.forget_stale_ends();
        }
        released
    }

    #[inline]
    pub(crate) fn busy(&self) -> u32 {
        self.busy
    }

    #[inline]
    pub(crate) fn in_service(&self) -> u32 {
        self.in_service
    }

    #[inline]
    pub(crate) fn next(&self) -> Instant {
        self.services.next().0.min(self.rejections.next().0)
    }

    #[inline]
    fn release(&mut self, at: Instant, id: RequestId) -> Option<Released> {
        let holder = self.holders.get_mut(id.0 as usize)?.take()?;
        let busy = self.busy;
        self.busy -= u32::from(holder.occupies);
        self.in_service -= u32::from(holder.verdict == ServerDecision::Accepted);
        let held = if holder.occupies { at.since(holder.since) } else { Duration::ZERO };
        Some(Released { id, verdict: holder.verdict, advice: None, held, busy, reply: None })
    }

    /// Drops scheduled ends of cancelled requests. Ends at the front are dropped at once, so that `next` is always the end of a live
    /// request. All other ends of cancelled requests are dropped when they are the majority, so that they do not pile up.
    fn forget_stale_ends(&mut self) {
        let holders = &self.holders;
        let alive =
            |order: u64, id: RequestId| holders[id.0 as usize].is_some_and(|holder| holder.order == order);
        for ends in [&mut self.services, &mut self.rejections] {
            while ends.peek().is_some_and(|((_, order), id)| !alive(order, *id)) {
                ends.pop();
                self.stale -= 1;
            }
            if ends.len() > 2 * holders.len() {
                let before = ends.len();
                ends.retain(|(_, order), id| alive(order, *id));
                self.stale -= before - ends.len();
            }
        }
    }
}
