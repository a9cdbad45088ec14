//! Requests in the time between the server's decision on them and their answer.

use std::time::Duration;

use vocabulary::Instant;

use crate::policies::{Arrived, Released};
use crate::request::store;
use crate::timeline::Timeline;
use crate::{RequestId, ServerDecision};

#[derive(Debug, Default)]
pub(crate) struct Holding {
    pub(crate) busy: u32,
    pub(crate) in_service: u32,
    /// Scheduled ends of requests in service. The ends of rejections have a timeline of their own. If service times and reject times are
    /// constant, new ends are therefore always added at the end of a timeline.
    services: Timeline<RequestId>,
    rejections: Timeline<RequestId>,
    scheduled: u64,
    /// State of each request, by request id. `None` if no request with this id is between its decision and its answer.
    holders: Vec<Option<Holder>>,
    /// Number of scheduled ends that belong to cancelled requests. It is usually 0. While it is 0, the timelines are not searched for such
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
    /// Starts the time between the decision on a request and its response; `takes` is the length of this time. An accepted request counts
    /// as busy during this time. A rejected request counts as busy only with the setting `rejects_occupy`.
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
        let order = self.scheduled;
        self.scheduled += 1;
        store(&mut self.holders, id.0 as usize, Some(Holder { verdict, since: at, occupies, order }));
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
        Some(Released { held, ..Released::at_once(id, holder.verdict, busy) })
    }

    /// Drops scheduled ends of cancelled requests. At the front of a timeline, such ends are dropped at once. The front is therefore always
    /// the end of a request that was not cancelled. The others are dropped only when they make up most of a timeline, which keeps their
    /// number bounded.
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
