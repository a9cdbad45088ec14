//! Admission by a cap on what is busy: whoever comes while all slots are busy is turned away at once.
//!
//! Source: seed 000. A rejection takes a little time itself and may hold a slot meanwhile, even above the cap.

use std::time::Duration;

use vocabulary::Instant;

use crate::admission::{Arrived, Released};
use crate::config::Config;
use crate::request::{Request, RequestId, Verdict};
use crate::timeline::Timeline;

/// Slots and who holds them.
#[derive(Debug, Default)]
pub(crate) struct ConcurrencyCap {
    busy: u32,
    in_service: u32,
    /// Ends of service; apart from ends of rejections, so that constant times keep both in order.
    services: Timeline<RequestId>,
    /// Ends of rejections.
    rejections: Timeline<RequestId>,
    scheduled: u64,
    /// By request id; `None` when it holds nothing.
    holders: Vec<Option<Holder>>,
    /// Scheduled ends of requests that were cancelled; mostly there are none to look for.
    stale: usize,
}

/// A request between admission and answer.
#[derive(Clone, Copy, Debug)]
struct Holder {
    verdict: Verdict,
    since: Instant,
    occupies: bool,
    /// Which scheduled end is its own: ids are used again.
    order: u64,
}

impl ConcurrencyCap {
    /// Decides about a request that reaches admission; with `refusal` it is not served even if there is a slot.
    pub(crate) fn arrive(
        &mut self,
        at: Instant,
        request: &Request,
        refusal: Option<Verdict>,
        config: &Config,
    ) -> Arrived {
        let verdict = match refusal {
            _ if self.busy >= config.slots(at) => Verdict::Rejected,
            Some(refusal) => refusal,
            None => Verdict::Accepted,
        };
        let accepted = verdict == Verdict::Accepted;
        let takes = if accepted { request.service_time(config) } else { request.reject_time(config) };
        let id = request.id;
        if takes.is_zero() {
            let busy = self.busy + u32::from(accepted);
            return Arrived::Done(Released { id, verdict, held: takes, busy });
        }
        let occupies = accepted || config.rejects_occupy;
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
        Arrived::Decided(verdict)
    }

    /// Takes back what a request holds, if it holds anything.
    pub(crate) fn cancel(&mut self, at: Instant, id: RequestId) -> Option<Released> {
        let released = self.release(at, id)?;
        self.stale += 1;
        self.forget_stale_ends();
        Some(released)
    }

    /// When the next request is done.
    pub(crate) fn next(&self) -> Option<Instant> {
        let next = match (self.services.next(), self.rejections.next()) {
            (Some(service), Some(rejection)) => Some(service.min(rejection)),
            (one, other) => one.or(other),
        };
        next.map(|(at, _)| at)
    }

    /// Finishes the request that is due at [`next`](Self::next).
    pub(crate) fn finish_next(&mut self) -> Option<Released> {
        let rejection_first = match (self.services.next(), self.rejections.next()) {
            (Some(service), Some(rejection)) => rejection < service,
            (service, _) => service.is_none(),
        };
        let ends = if rejection_first { &mut self.rejections } else { &mut self.services };
        let ((at, _), id) = ends.pop()?;
        let released = self.release(at, id);
        if self.stale > 0 {
            self.forget_stale_ends();
        }
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
        for ends in [&mut self.services, &mut self.rejections] {
            while ends.peek().is_some_and(|((_, order), id)| !alive(order, id)) {
                ends.pop();
                self.stale -= 1;
            }
            if ends.len() > 2 * holders.len() {
                let before = ends.len();
                ends.retain(|(_, order), id| alive(order, id));
                self.stale -= before - ends.len();
            }
        }
    }
}
