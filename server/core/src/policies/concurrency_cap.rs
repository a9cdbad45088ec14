//! Admission by a cap on what is busy: whoever comes while all slots are busy is turned away at once.
//!
//! Source: seed 000. A rejection takes a little time itself and may hold a slot meanwhile, even above the cap.

use vocabulary::{Configurable, Instant, Parameter};

use crate::policies::admission::{Admission, Arrived, Load, Released};
use crate::policies::holding::Holding;
use crate::policies::policy_config::PolicyConfig;
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

/// Slots, and who holds them.
#[derive(Debug, Default)]
struct ConcurrencyCap {
    holding: Holding,
}

impl Admission for ConcurrencyCap {
    fn arrive(&mut self, at: Instant, request: &Request, service: &ServiceModel) -> Arrived {
        let verdict = if self.is_full(at, service) { Verdict::Rejected } else { Verdict::Accepted };
        self.holding.take(at, request, verdict, service.rejects_occupy, service)
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
        self.holding.take(at, request, verdict, service.rejects_occupy, service)
    }

    fn cancel(&mut self, at: Instant, id: RequestId) -> Option<Released> {
        self.holding.cancel(at, id)
    }

    fn advance(&mut self, _seed: u64) -> Option<Released> {
        self.holding.advance()
    }

    fn load(&self) -> Load {
        self.holding.load()
    }
}

impl ConcurrencyCap {
    fn is_full(&self, at: Instant, service: &ServiceModel) -> bool {
        self.holding.busy() >= service.slots(at)
    }
}
