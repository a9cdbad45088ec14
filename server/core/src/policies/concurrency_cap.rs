//! Admission by a cap on what is busy: whoever comes while all slots are busy is turned away at once.
//!
//! Source: seed 000. A rejection takes a little time itself and may hold a slot meanwhile, even above the cap.

use std::time::Duration;

use vocabulary::{Configurable, Instant, Parameter};

use crate::policies::admission::{Admission, Arrived, Load, Released};
use crate::policies::policy_config::PolicyConfig;
use crate::request::{Request, RequestId, Verdict};
use crate::service::ServiceModel;
use crate::timeline::Timeline;

/// `concurrency-cap` has no parameters: the cap and its times are the server's own settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct CapConfig;

impl Configurable for CapConfig {
    const NAME: &'static str = "concurrency-cap";
    const SUMMARY: &'static str = "whoever comes while all slots are busy is rejected";
    const RULE: &'static str = "accept while fewer than `max_busy` slots are busy (later as many as `caps` says); a \
                                request holds its slot for `service_time`; a rejection takes `reject_time`, and holds a \
                                slot, too, if `rejects_occupy`";
    const SOURCE: &'static str = "seed 000 (Sync Musings, Improve on exponential backoff)";
    const PARAMETERS: &'static [Parameter<Self>] = &[];
}

impl PolicyConfig for CapConfig {
    fn build(&self) -> Box<dyn Admission> {
        Box::new(ConcurrencyCap::default())
    }

    fn has_cap(&self) -> bool {
        true
    }

    fn bounds_concurrency(&self) -> bool {
        true
    }

    fn is_plannable(&self) -> bool {
        true
    }

    fn heeds_rejects_occupy(&self) -> bool {
        true
    }
}

/// Slots and who holds them.
#[derive(Debug, Default)]
struct ConcurrencyCap {
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

impl Admission for ConcurrencyCap {
    fn arrive(&mut self, at: Instant, request: &Request, service: &ServiceModel) -> Arrived {
        let is_full = self.busy >= service.slots(at);
        let verdict = if is_full { Verdict::Rejected } else { Verdict::Accepted };
        self.take(at, request, verdict, service)
    }

    /// Takes its time and perhaps a slot like any rejection, even if a slot is free.
    fn refuse(
        &mut self,
        at: Instant,
        request: &Request,
        verdict: Verdict,
        service: &ServiceModel,
    ) -> Arrived {
        let is_full = self.busy >= service.slots(at);
        self.take(at, request, if is_full { Verdict::Rejected } else { verdict }, service)
    }

    fn cancel(&mut self, at: Instant, id: RequestId) -> Option<Released> {
        let released = self.release(at, id)?;
        self.stale += 1;
        self.forget_stale_ends();
        Some(released)
    }

    fn advance(&mut self, _seed: u64) -> Option<Released> {
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

    fn load(&self) -> Load {
        let next = match (self.services.next(), self.rejections.next()) {
            (Some(service), Some(rejection)) => Some(service.min(rejection)),
            (service, rejection) => service.or(rejection),
        };
        Load { busy: self.busy, in_service: self.in_service, next: next.map(|(at, _)| at) }
    }
}

impl ConcurrencyCap {
    /// A request that was decided about begins to take its time.
    fn take(&mut self, at: Instant, request: &Request, verdict: Verdict, service: &ServiceModel) -> Arrived {
        let accepted = verdict == Verdict::Accepted;
        let takes = if accepted { service.service_time(request) } else { service.reject_time(request) };
        let id = request.id;
        if takes.is_zero() {
            return Arrived::Done { verdict, advice: None };
        }
        let occupies = accepted || service.rejects_occupy;
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

    fn release(&mut self, at: Instant, id: RequestId) -> Option<Released> {
        let holder = self.holders.get_mut(id.0 as usize)?.take()?;
        let busy = self.busy;
        self.busy -= u32::from(holder.occupies);
        self.in_service -= u32::from(holder.verdict == Verdict::Accepted);
        let held = if holder.occupies { at.since(holder.since) } else { Duration::ZERO };
        Some(Released { id, verdict: holder.verdict, advice: None, held, busy, reply: None })
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
