//! Admission by a cap on what is busy: whoever comes while all slots are busy is turned away at once.
//!
//! Source: seed 000. A rejection takes a little time itself and may hold a slot meanwhile, even above the cap.

use vocabulary::{Configurable, Instant, Parameter};

use crate::policies::admission::{Admission, Arrived, Load, Released};
use crate::policies::common::Common;
use crate::policies::concurrency::Concurrency;
use crate::policies::gate::Gate;
use crate::policies::holding::Holding;
use crate::policies::policy_config::{Places, PolicyConfig};
use crate::request::{Request, RequestId, Verdict};
use crate::service::ServiceModel;

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
    fn build(&self) -> Option<Box<dyn Admission>> {
        Some(Box::new(ConcurrencyCap::default()))
    }

    fn gate(&self, common: &Common) -> Option<Box<dyn Gate>> {
        Concurrency::default().gate(common)
    }

    fn has_cap(&self) -> bool {
        true
    }

    fn places(&self) -> Option<Places> {
        Some(Places::Slots)
    }

    fn is_plannable(&self) -> bool {
        true
    }

    fn heeds_rejects_occupy(&self) -> bool {
        true
    }
}

/// Slots, and who holds them.
#[derive(Debug, Default)]
struct ConcurrencyCap {
    holding: Holding,
}

impl Admission for ConcurrencyCap {
    fn arrive(&mut self, at: Instant, request: &Request, service: &ServiceModel) -> Arrived {
        let verdict = if self.is_full(at, service) { Verdict::Rejected } else { Verdict::Accepted };
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
        let verdict = if self.is_full(at, service) { Verdict::Rejected } else { verdict };
        self.take(at, request, verdict, service)
    }

    fn cancel(&mut self, at: Instant, id: RequestId, _service: &ServiceModel) -> Option<Released> {
        self.holding.cancel(at, id)
    }

    fn advance(&mut self, _seed: u64, _service: &ServiceModel) -> Option<Released> {
        self.holding.advance()
    }

    fn load(&self) -> Load {
        self.holding.load()
    }
}

impl ConcurrencyCap {
    #[inline]
    fn take(&mut self, at: Instant, request: &Request, verdict: Verdict, service: &ServiceModel) -> Arrived {
        let accepted = verdict == Verdict::Accepted;
        let takes = if accepted { service.service_time(request) } else { service.reject_time(request) };
        self.holding.take(at, request.id, verdict, service.rejects_occupy, takes)
    }

    fn is_full(&self, at: Instant, service: &ServiceModel) -> bool {
        self.holding.busy() >= service.slots(at)
    }
}
